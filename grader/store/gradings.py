"""The results of grading; one of a submission's is the current one.

The verdict is written once and never changed. What is found after it, its cause above all, is added to it once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Self

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from grader.judge.report import Report
from grader.store import standings, turns
from grader.store.engine import server_time
from grader.store.records import GradingId, Reason, State, SubmissionId, UserId
from grader.store.tables import ChangeRow, DiagnosisRow, GradingRow, LocationRow, SubmissionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What a submission was graded with.

    Attributes:
        exercise: hash over what decides a score in the exercise's files.
        grader: hash over the code that grades; empty if nobody noted it.
        torch: version of PyTorch.
    """

    exercise: str
    grader: str
    torch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """One result, to be stored.

    Attributes:
        body: the report as JSON, made before the transaction, which others wait for.
        created: seconds since the epoch; a database with a clock of its own stores its own time.
        try_number: which try of its job gave it.
    """

    report: Report
    body: str
    versions: Versions
    created: float
    reason: Reason = Reason.HAND_IN
    try_number: int = 1

    @classmethod
    def of(cls, report: Report, versions: Versions, created: float) -> Self:
        """Return a grading of a first try."""
        return cls(report=report, body=report.to_json(), versions=versions, created=created)


def store(session: Session, id: SubmissionId, grading: Grading) -> GradingId:
    """Store a result as the current one of a submission, and bring the caches up to date; return its id."""
    turns.of_owner(session, id)
    grading = replace(grading, created=server_time(session, lambda: grading.created))
    added = add(session, id, grading)
    make_current(session, id, added, grading.created)
    return added


def add(session: Session, id: SubmissionId, grading: Grading, *, change: int | None = None) -> GradingId:
    """Store a result beside the current one, as that of a change where it belongs to one; return its id."""
    report, versions = grading.report, grading.versions
    row = GradingRow(
        submission_id=id, reason=grading.reason.value, status=report.status.value, score=report.score,
        flag=report.flag.value, incident=report.incident, created=grading.created, try_number=grading.try_number,
        exercise_version=versions.exercise, grader_version=versions.grader, torch_version=versions.torch,
        seed=report.seed, device=report.device, change_id=change, report=grading.body,
    )  # fmt: skip
    session.add(row)
    session.flush()
    _name_causes(session, row.id, report)
    return GradingId(row.id)


def make_current(session: Session, id: SubmissionId, grading: GradingId, now: float) -> None:
    """Let a result of a submission count from now on, and bring the caches up to date."""
    incident = session.scalars(select(GradingRow.incident).where(GradingRow.id == grading)).one()
    state = State.BROKEN if incident else State.DONE
    first_end = func.coalesce(SubmissionRow.finished, now)  # a regrade is not how long the student waited
    owner = session.execute(
        update(SubmissionRow)
        .where(SubmissionRow.id == id)
        .values(state=state.value, finished=first_end, current_grading=grading)
        .returning(SubmissionRow.user_id, SubmissionRow.exercise)
        .execution_options(synchronize_session=False)
    ).one()
    standings.refresh(session, UserId(owner[0]), owner[1])


def before_and_after(session: Session, id: SubmissionId, change: int) -> tuple[str, str] | None:
    """Return the report on a submission that counted before a change, and that of the change, as JSON.

    None if the submission is not among what was graded for the change. What an applied change left as it was, as the
    better of the two, never counted.
    """
    row = GradingRow
    new = session.execute(select(row.id, row.report).where(row.submission_id == id, row.change_id == change)).first()
    if new is None:
        return None
    query = select(row.report, row.change_id, ChangeRow.state, ChangeRow.seen)
    query = query.outerjoin(ChangeRow, ChangeRow.id == row.change_id).where(row.submission_id == id, row.id < new[0])
    for old, made_for, state, seen in session.execute(query.order_by(row.id.desc())):
        if made_for is None or (state == "applied" and id in replaced_by(json.loads(seen))):
            return old, new[1]
    return None


def replaced_by(seen: Any) -> set[str]:
    """Return the attempts whose results a change replaced when it was applied, by what it showed then."""
    return {one["attempt"] for one in (seen or {}).get("attempts", ())}


def complete(session: Session, id: GradingId, report: Report, body: str, *, submission: SubmissionId) -> None:
    """Add to a result what was found after its verdict; nothing if it was deleted meanwhile.

    Args:
        report: the same verdict, with all that was found.
        body: the report as JSON.
        submission: the grading's; where that was deleted, its id may be another one's by now.
    """
    row = GradingRow
    owner = turns.of_owner(session, submission)
    if owner is None:
        return
    same = row.id == id, row.submission_id == submission, row.score == report.score, row.status == report.status.value
    found = session.scalar(
        update(row).where(*same).values(report=body).returning(row.id).execution_options(synchronize_session=False)
    )
    if found is None:
        return
    _name_causes(session, id, report)
    exercise = session.execute(select(SubmissionRow.exercise).where(SubmissionRow.id == submission)).scalar_one()
    standings.refresh(session, owner, exercise)


def versions_of(session: Session, id: SubmissionId) -> Versions | None:
    """Return what the current grading of a submission was made with; None if there is none."""
    row = GradingRow
    found = session.execute(
        select(row.exercise_version, row.grader_version, row.torch_version)
        .join(SubmissionRow, SubmissionRow.current_grading == row.id)
        .where(SubmissionRow.id == id)
    ).one_or_none()
    return None if found is None else Versions(exercise=found[0], grader=found[1], torch=found[2])


def _name_causes(session: Session, id: int, report: Report) -> None:
    found = {one.mistake[:100]: one.title[:200] for one in report.diagnosis}
    session.add_all(DiagnosisRow(grading_id=id, mistake=mistake, title=title) for mistake, title in found.items())
    if report.location:
        session.add(LocationRow(grading_id=id, title=report.location.title[:200]))
    session.flush()
