"""Grades a submission once more, with the files and the seed that its score came from."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, replace

from grader.box.run import Box
from grader.errors import GraderFault
from grader.exercise.catalog import Catalog
from grader.jobs import archive
from grader.jobs.grading import versions_of
from grader.judge.grade import grade
from grader.judge.report import Report
from grader.store import gradings, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Reason, State, SubmissionId


class CannotRegrade(GraderFault):
    """A submission cannot be graded once more; the text says why."""


@dataclass(frozen=True, slots=True)
class Regraded:
    """A former result beside a new one.

    Attributes:
        before, after: the reports.
        made_with, now: what they were made with.
    """

    before: Report
    after: Report
    made_with: Versions
    now: Versions

    @property
    def same(self) -> bool:
        """Whether every digit is as it was: the score, and the verdict and points of each check."""
        return _digits(self.before) == _digits(self.after)

    @property
    def differences(self) -> tuple[str, ...]:
        """What was another version, in words."""
        named = (("grading files", "exercise"), ("grader", "grader"), ("torch", "torch"))
        pairs = ((what, getattr(self.made_with, name), getattr(self.now, name)) for what, name in named)
        return tuple(f"{what} {was or 'unknown'}, now {now}" for what, was, now in pairs if was != now)


def regrade(database: Database, catalog: Catalog, box: Box, id: SubmissionId, *, newest: bool = False) -> Regraded:
    """Grade a submission once more, by default with the grading files of its current result.

    Args:
        database, catalog, box: where it is stored, the exercises as they are now, and what runs it.
        id: the submission's.
        newest: take the exercise as it is now.

    Raises:
        CannotRegrade: there is no such submission, it has no result, or its grading files were not kept.
    """
    with database.read() as session:
        submission = submissions.get(session, id)
        versions = gradings.versions_of(session, id)
    if submission is None:
        raise CannotRegrade(f"there is no submission {id}")
    if submission.report is None or versions is None:
        raise CannotRegrade(f"submission {id} has no result; it is {submission.state}")
    name, wanted = submission.exercise, versions.exercise
    if newest and name not in catalog:
        raise CannotRegrade(f"there is no exercise {name} any more")
    with nullcontext(catalog[name]) if newest else archive.restored(database, name, wanted) as exercise:
        if exercise is None:
            raise CannotRegrade(
                f"the grading files of {name} at version {wanted} were not kept; use the present ones with --newest"
            )
        report = grade(exercise, submission.raw, seed=submission.report.seed, box=box)
        return Regraded(submission.report, report, versions, versions_of(exercise))


def keep(database: Database, id: SubmissionId, found: Regraded) -> None:
    """Store the new result as the current one; the former stays among the submission's gradings."""
    grading = replace(Grading.of(found.after, found.now, time.time()), reason=Reason.REGRADE)
    with database.write() as session:
        gradings.store(session, id, grading, state=State.BROKEN if found.after.incident else State.DONE)


def _digits(report: Report) -> tuple[object, ...]:
    checks = tuple((check.name, check.status, check.earned) for check in report.checks)
    return report.status, report.score, checks
