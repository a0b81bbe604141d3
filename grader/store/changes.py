"""Regrades of a class's attempts: what is to be graded once more, the new results beside the old, and their end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from grader.rules.values import Person, Result
from grader.store.classes import PERSON
from grader.store.coursework import result_of
from grader.store.records import GradingId, Reason, State, SubmissionId, UserId
from grader.store.tables import (
    OPEN,
    AssignmentRow,
    ChangeRow,
    GivenVersionRow,
    GradingRow,
    NoticeRow,
    SubmissionRow,
    UserRow,
)

OURS = "ours"  # what became of a grading that a fault of ours ended, in a word
FIRST_VERSION = "1"  # of an exercise whose results are given


class ChangeState(StrEnum):
    """Where a change is on its way."""

    OPEN = "open"
    APPLIED = "applied"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """A result of a submission: what it is to the rules, its score, and in a word what became of it."""

    result: Result
    score: Fraction | None
    word: str


@dataclass(frozen=True, slots=True)
class RegradedAttempt:
    """An attempt with its current result, and the new one of a change; `raw` is what was handed in.

    `is_given` says that its result was given, as our own grading notes it: whoever hands in may type what they like.
    """

    id: SubmissionId
    user: UserId
    person: Person
    exercise: str
    before: AttemptResult
    raw: bytes = field(repr=False)
    is_given: bool
    device: str = "cpu"
    grading: GradingId | None = None
    after: AttemptResult | None = None

    @property
    def is_failed(self) -> bool:
        """Whether its new grading, which was none before, was ended by a fault of ours."""
        return not self.is_given and self.after is not None and self.after.word == OURS


@dataclass(frozen=True, slots=True)
class Change:
    """A regrade that was made; `seen` is what its preview showed, and when it was applied what it changed."""

    id: int
    key: str
    exercise: str
    keep: str
    reason: str
    made: float
    state: ChangeState
    seen: Any


def add(
    session: Session, class_id: int, key: str, *, exercise: str, keep: str, reason: str, by: UserId | None, now: float
) -> int:
    """Store a change that is open, and return its id."""
    row = ChangeRow(
        class_id=class_id, key=key, exercise=exercise, keep=keep, reason=reason, by=by, made=now,
        state=ChangeState.OPEN.value, seen="null",
    )  # fmt: skip
    session.add(row)
    session.flush()
    return row.id


def note_preview(session: Session, id: int, seen: Any) -> None:
    """Keep what the preview of a change showed."""
    session.get_one(ChangeRow, id).seen = json.dumps(seen)
    session.flush()


def find(session: Session, class_id: int, key: str) -> Change | None:
    """Return a class's change of that key."""
    row = session.scalar(select(ChangeRow).where(ChangeRow.class_id == class_id, ChangeRow.key == key))
    if row is None:
        return None
    return _change(row)


def every(session: Session, class_id: int) -> list[Change]:
    """Return the changes of a class, the latest first."""
    rows = session.scalars(select(ChangeRow).where(ChangeRow.class_id == class_id).order_by(ChangeRow.id.desc()))
    return list(map(_change, rows))


def open_one(session: Session, class_id: int, exercise: str) -> str | None:
    """Return the key of the class's open change at an exercise."""
    row = ChangeRow
    mine = (row.class_id == class_id, row.exercise == exercise, row.state == ChangeState.OPEN.value)
    return session.scalar(select(row.key).where(*mine))


def end(session: Session, id: int, state: ChangeState, now: float) -> None:
    """Let a change be applied or cancelled."""
    row = session.get_one(ChangeRow, id)
    row.state, row.ended = state.value, now
    session.flush()


def attempts(session: Session, class_id: int, exercise: str) -> list[RegradedAttempt]:
    """Return the class's attempts at an exercise that have a result, in the order of the hand-ins; no practice."""
    row, grading = SubmissionRow, GradingRow
    columns = (row.id, row.user_id, PERSON, row.exercise, row.device, row.source, grading.reason)
    query = (
        select(*columns, row.state, grading.status, grading.score, grading.incident)
        .join(AssignmentRow, AssignmentRow.id == row.assignment_id)
        .join(UserRow, UserRow.id == row.user_id)
        .join(grading, grading.id == row.current_grading)
        .where(AssignmentRow.class_id == class_id, row.exercise == exercise)
        .where(row.state.not_in((OPEN, State.CANCELLED.value)))
        .order_by(row.created, row.number)
    )
    return [
        RegradedAttempt(
            SubmissionId(id), UserId(user), person, name, _outcome(*result), raw, reason == Reason.GIVEN, device
        )
        for id, user, person, name, device, raw, reason, *result in map(tuple[Any, ...], session.execute(query))
    ]


def results(session: Session, change: Change, class_id: int) -> list[RegradedAttempt]:
    """Return the attempts of a change with its new results."""
    row = GradingRow
    query = select(row.submission_id, row.id, row.status, row.score, row.incident).where(row.change_id == change.id)
    new = {
        id: (GradingId(grading), _outcome(State.DONE.value, *result))
        for id, grading, *result in map(tuple[Any, ...], session.execute(query))
    }
    return [
        replace(one, grading=new[one.id][0], after=new[one.id][1])
        for one in attempts(session, class_id, change.exercise)
        if one.id in new
    ]


def notify(session: Session, change: int, texts: Mapping[UserId, str], now: float) -> None:
    """Have people told what a change did to them, the next time that they come."""
    session.add_all(NoticeRow(user_id=user, change_id=change, at=now, text=text) for user, text in texts.items())
    session.flush()


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person is told of a change: when it happened, in seconds since the epoch, and what; and its attempts."""

    id: int
    at: float
    text: str
    change: str
    attempts: tuple[SubmissionId, ...]


def unread(session: Session, user: UserId, class_id: int) -> list[Notice]:
    """Return what somebody was not told yet of a class, the latest first."""
    row, grading = NoticeRow, GradingRow
    query = select(row.id, row.at, row.text, ChangeRow.key, ChangeRow.id).join(ChangeRow, ChangeRow.id == row.change_id)
    query = query.where(row.user_id == user, row.read.is_(None), ChangeRow.class_id == class_id)
    theirs = select(grading.submission_id).join(SubmissionRow, SubmissionRow.current_grading == grading.id)
    found = []
    for id, at, said, key, change in session.execute(query.order_by(row.id.desc())):
        mine = theirs.where(SubmissionRow.user_id == user, grading.change_id == change).order_by(SubmissionRow.number)
        found.append(Notice(id, at, said, key, tuple(map(SubmissionId, session.scalars(mine)))))
    return found


def note_read(session: Session, user: UserId, ids: Sequence[int], now: float) -> None:
    """Note that somebody has read what they were told."""
    row = NoticeRow
    session.execute(update(row).where(row.user_id == user, row.id.in_(ids), row.read.is_(None)).values(read=now))


def version_of(session: Session, exercise: str) -> str:
    """Return the version by which given results of an exercise count now."""
    return session.scalar(select(GivenVersionRow.version).where(GivenVersionRow.exercise == exercise)) or FIRST_VERSION


def set_version(session: Session, exercise: str, version: str) -> None:
    """Let given results of an exercise count by another version from now on."""
    session.merge(GivenVersionRow(exercise=exercise, version=version))
    session.flush()


def cancel_given(session: Session, id: SubmissionId, now: float) -> None:
    """Let a submission be cancelled that was in no queue."""
    row = session.get_one(SubmissionRow, id)
    row.state, row.finished, row.nth = State.CANCELLED.value, now, 0
    session.flush()


def _change(row: ChangeRow) -> Change:
    state, seen = ChangeState(row.state), json.loads(row.seen)
    return Change(row.id, row.key, row.exercise, row.keep, row.reason, row.made, state, seen)


def _outcome(state: str, status: str | None, score: float | None, incident: str | None) -> AttemptResult:
    result, points = result_of(state, status, score, incident)
    return AttemptResult(result, points, OURS if incident else status or "")
