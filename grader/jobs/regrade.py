"""Grades a submission once more, with the files and the seed that its score came from."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from grader.box.run import Box
from grader.errors import AuthorError, GraderFault
from grader.exercise import kept
from grader.exercise.catalog import Catalog, Exercise
from grader.jobs import archive
from grader.jobs.grading import SharedBox, versions_of
from grader.judge.grade import grade
from grader.judge.report import Report
from grader.store import gradings, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Reason, Submission, SubmissionId

NOT_SIGNED = (
    "are not signed with this installation's secret, so their code is not run: they were kept elsewhere or before this "
    "version, or somebody has changed them; use the present ones with --newest, or sign what is there with "
    "`attention-gym migrate --trust-files` if nobody else could write to the database"
)


class CannotRegrade(GraderFault):
    """A submission cannot be graded once more, or the result cannot be stored; the text says why."""


@dataclass(frozen=True, slots=True)
class Regraded:
    """A former result beside a new one.

    Attributes:
        id: the submission's.
        before, after: the reports.
        made_with, now: what they were made with.
        files: the grading files of the new one, as `kept.pack` gives them.
    """

    id: SubmissionId
    before: Report
    after: Report
    made_with: Versions
    now: Versions
    files: bytes

    @property
    def same(self) -> bool:
        """Whether every digit is as it was: the score, and the verdict and points of each check."""
        return _digits(self.before) == _digits(self.after)

    @property
    def differences(self) -> tuple[str, ...]:
        """What was another version, and what came out otherwise, in words."""
        named = (("grading files", "exercise"), ("grader", "grader"), ("torch", "torch"))
        pairs = [(what, getattr(self.made_with, name) or "unknown", getattr(self.now, name)) for what, name in named]
        before, after = _digits(self.before), _digits(self.after)
        pairs += [(name, before.get(name, "none"), after.get(name, "none")) for name in {**before, **after}]
        return tuple(f"{what}: {was}, now {now}" for what, was, now in pairs if was != now)


def regrade(
    database: Database, box: Box, id: SubmissionId, *, secret: bytes | None, newest: Catalog | None = None
) -> Regraded:
    """Grade a submission once more, by default with the grading files of its current result.

    Args:
        secret: of the installation; files that it has not signed are not run.
        newest: the exercises as they are now, where those are to grade it.

    Raises:
        CannotRegrade: there is no such submission, it has no result, or its grading files were not kept, are damaged,
            not signed, or not understood by this grader.
    """
    submission, before, made_with = _graded(database, id)
    former = (submission.exercise, made_with.exercise, secret)
    with _exercise(database, *former) if newest is None else _present(newest, submission.exercise) as exercise:
        # Files of their time keep their version, also where this grader hashes them to another one.
        now = versions_of(exercise) if newest else replace(versions_of(exercise), exercise=made_with.exercise)
        files = kept.pack(exercise)
        after = grade(exercise, submission.raw, seed=before.seed, box=SharedBox(box))
    return Regraded(id, before, after, made_with, now, files)


def keep(database: Database, found: Regraded, secret: bytes | None) -> None:
    """Store the new result as the current one, and its grading files, signed; the former stays among the gradings.

    Raises:
        CannotRegrade: a fault of the grader is in the new result, or the submission was deleted meanwhile.
    """
    if found.after.incident:
        raise CannotRegrade(f"the grader failed during this grading ({found.after.incident}), so nothing was stored")
    grading = replace(Grading.of(found.after, found.now, time.time()), reason=Reason.REGRADE)
    with database.write() as session:
        if submissions.owner(session, found.id) is None:
            raise CannotRegrade(f"submission {found.id} was deleted meanwhile, so nothing was stored")
        archive.add(session, found.after.exercise, found.now.exercise, found.files, secret=secret)
        gradings.store(session, found.id, grading)


def _graded(database: Database, id: SubmissionId) -> tuple[Submission, Report, Versions]:
    with database.read() as session:
        try:
            submission = submissions.get(session, id)
        except ValueError as fault:
            raise CannotRegrade(f"the stored report of submission {id} is damaged") from fault
        versions = gradings.versions_of(session, id)
    if submission is None:
        raise CannotRegrade(f"there is no submission {id}")
    if submission.report is None or versions is None:
        raise CannotRegrade(f"submission {id} has no result; it is {submission.state}")
    return submission, submission.report, versions


@contextmanager
def _present(newest: Catalog, name: str) -> Iterator[Exercise]:
    if name not in newest:
        raise CannotRegrade(f"there is no exercise {name} any more")
    yield newest[name]


@contextmanager
def _exercise(database: Database, name: str, version: str, secret: bytes | None) -> Iterator[Exercise]:
    """Give an exercise as it was at a version."""
    files = f"the grading files of {name} at version {version or 'unknown'}"
    try:
        with archive.restored(database, name, version, secret) as exercise:
            if exercise is None:
                raise CannotRegrade(f"{files} were not kept; use the present ones with --newest")
            yield exercise
    except archive.NotSigned:
        raise CannotRegrade(f"{files} {NOT_SIGNED}") from None
    except AuthorError as fault:
        raise CannotRegrade(f"{files} cannot be used ({fault}); use the present ones with --newest") from fault


def _digits(report: Report) -> dict[str, str]:
    checks = {check.name: f"{check.status}, {check.earned} of {check.possible} points" for check in report.checks}
    return {"verdict": f"{report.status}, {report.score} points", **checks}
