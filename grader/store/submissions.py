"""What was handed in, read and written; what came of it is in `gradings`, its place in a queue in `grader.jobs`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, TextClause, and_, bindparam, case, exists, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.errors import NotAllowed
from grader.judge.report import Flag, Report, Status
from grader.store import standings, turns
from grader.store.people import is_student
from grader.store.records import (
    Attempt,
    ListedAttempt,
    Neighbours,
    State,
    Submission,
    SubmissionId,
    SubmissionOutcome,
    UserId,
    Wanted,
)
from grader.store.tables import (
    FLAGGED,
    OPEN,
    AssignmentRow,
    BestRow,
    DiagnosisRow,
    GradingRow,
    JobRow,
    LocationRow,
    MistakeRow,
    SubmissionRow,
    UserRow,
)

STILL_OPEN = (
    "Your last submission to this exercise has not been graded yet. "
    "Wait for its result, or cancel it, and then submit again."
)
STATE = case(
    (SubmissionRow.state != OPEN, SubmissionRow.state),
    (JobRow.claim.is_not(None), State.RUNNING.value),
    else_=State.QUEUED.value,
)
_LINE = (
    *(SubmissionRow.exercise, SubmissionRow.number, SubmissionRow.nth, SubmissionRow.created, SubmissionRow.id, STATE),
    *(GradingRow.id, GradingRow.status, GradingRow.score, GradingRow.flag),
)
_GRADING = 6  # the place of its grading's id in a line
EXPLAIN_SECONDS = 240.0  # after the verdict: a search waits for others, and for those before it, for less than that
MOST_LISTED = 200


def add(session: Session, submission: Submission) -> Submission:
    """Store a new submission; return it numbered after the person's others on the exercise.

    It is in no queue before `Queue.submit` has put it there, in the same transaction.

    Raises:
        NotAllowed: the person has an unfinished one on this exercise, or their account was deleted.
    """
    turns.of_person(session, submission.user)
    mine = (SubmissionRow.user_id == submission.user, SubmissionRow.exercise == submission.exercise)
    number = (session.scalar(select(func.max(SubmissionRow.number)).where(*mine)) or 0) + 1
    nth = standings.used(session, submission.user, submission.exercise) + 1
    one = submission
    row = SubmissionRow(
        id=one.id, user_id=one.user, exercise=one.exercise, number=number, nth=nth, state=OPEN,
        exercise_version=one.exercise_version, source=one.raw, seed=one.seed, device=one.device, created=one.created,
    )  # fmt: skip
    session.add(row)
    try:
        session.flush()
    except IntegrityError as clash:
        raise NotAllowed(STILL_OPEN) from clash
    return replace(submission, number=number, nth=nth)


def get(session: Session, id: SubmissionId) -> Submission | None:
    """Return a submission with its report."""
    found = session.execute(_one(), {"wanted": id}).one_or_none()
    if found is None:
        return None
    row, state, body = found
    return Submission(
        id=SubmissionId(row.id), user=UserId(row.user_id), exercise=row.exercise, exercise_version=row.exercise_version,
        raw=row.source, seed=row.seed, device=row.device, state=State(state), number=row.number, nth=row.nth,
        created=row.created, finished=row.finished, report=_report(body),
    )  # fmt: skip


def owner(session: Session, id: SubmissionId) -> UserId | None:
    """Return whose submission it is."""
    user = session.scalar(select(SubmissionRow.user_id).where(SubmissionRow.id == id))
    return None if user is None else UserId(user)


def outcome(session: Session, id: SubmissionId) -> SubmissionOutcome:
    """Return what became of a submission so far.

    Raises:
        sqlalchemy.exc.NoResultFound: there is no such submission.
    """
    state, exercise, place, created, finished, body = session.execute(_its_outcome(), {"wanted": id}).one()
    return SubmissionOutcome(State(state), exercise, place, created, finished, _report(body))


def settled(report: Report | None, finished: float | None, now: float) -> Report | None:
    """Return a report as it stands `now`: a search that has not ended long after the verdict was interrupted."""
    if report is None or report.complete or finished is None or now < finished + EXPLAIN_SECONDS:
        return report
    return report.given_up()


def is_of(class_id: int) -> ColumnElement[bool]:
    """Return the condition that a class sees a submission of its student: for an assignment of it, or practice."""
    of_class = select(AssignmentRow.id).where(AssignmentRow.class_id == class_id)
    return or_(SubmissionRow.assignment_id.is_(None), SubmissionRow.assignment_id.in_(of_class))


def unfinished(session: Session, user: UserId, exercise: str) -> SubmissionId | None:
    """Return the one of the person's submissions on the exercise that still waits or runs."""
    found = session.scalar(
        select(SubmissionRow.id).where(
            SubmissionRow.user_id == user, SubmissionRow.exercise == exercise, SubmissionRow.state == OPEN
        )
    )
    return None if found is None else SubmissionId(found)


def open_ones(session: Session, user: UserId) -> list[SubmissionId]:
    """Return the person's unfinished submissions."""
    query = select(SubmissionRow.id).where(SubmissionRow.user_id == user, SubmissionRow.state == OPEN)
    return [SubmissionId(id) for id in session.scalars(query)]


def attempts(
    session: Session, user: UserId, exercise: str | None = None, *, class_id: int | None = None, practice: bool = True,
    most: int = MOST_LISTED,
) -> list[Attempt]:  # fmt: skip
    """Return the person's submissions, all or those that are of a class, newest first; without `practice` no practice.

    There are no more than `most`: a list that nobody reads to its end.
    """
    row = SubmissionRow
    query = _joined(select(*_LINE)).where(row.user_id == user).limit(most)
    if class_id is not None:
        query = query.where(is_of(class_id))
    if not practice:
        query = query.where(row.assignment_id.is_not(None))
    if exercise is None:
        query = query.order_by(row.created.desc(), row.number.desc())
    else:  # numbers count them as they came, and an index holds them in that order
        query = query.where(row.exercise == exercise).order_by(row.number.desc())
    return _attempts(session, session.execute(query).all())


def full_marks(session: Session, user: UserId) -> dict[str, list[float]]:
    """Return when the person handed in what got full marks, by exercise, each in the order of time."""
    row = SubmissionRow
    query = (
        select(row.exercise, row.created)
        .join(GradingRow, GradingRow.id == row.current_grading)
        .where(row.user_id == user, GradingRow.score >= standings.FULL, standings.IS_SHOWN)
        .order_by(row.created)
    )
    times: dict[str, list[float]] = {}
    for exercise, created in session.execute(query):
        times.setdefault(exercise, []).append(created)
    return times


def neighbours(session: Session, class_id: int, one: Submission) -> Neighbours:
    """Return what the person handed in to the exercise just before `one`, and just after it, of what a class sees."""
    row = SubmissionRow
    mine = (row.user_id == one.user, row.exercise == one.exercise, is_of(class_id))
    before = select(row.id).where(*mine, row.number < one.number).order_by(row.number.desc()).limit(1)
    after = select(row.id).where(*mine, row.number > one.number).order_by(row.number).limit(1)
    previous, following = (None if id is None else SubmissionId(id) for id in map(session.scalar, (before, after)))
    count = standings.used(session, one.user, one.exercise)
    if session.scalar(select(row.id).where(*mine, row.state == OPEN)):
        count += 1
    return Neighbours(previous, following, count)


def best_of(session: Session, user: UserId, exercise: str) -> SubmissionId | None:
    """Return the submission that somebody's best score on an exercise comes from."""
    row, best = SubmissionRow, BestRow
    query = (
        select(row.id)
        .join(best, and_(best.user_id == row.user_id, best.exercise == row.exercise, best.reached == row.created))
        .where(row.user_id == user, row.exercise == exercise)
        .order_by(row.number)
        .limit(1)
    )
    id = session.scalar(query)
    return None if id is None else SubmissionId(id)


def listed(session: Session, class_id: int, wanted: Wanted, *, most: int) -> list[ListedAttempt]:
    """Return at most `most` of the submissions of a class's present students that are wanted, newest first."""
    row = SubmissionRow
    query = _joined(select(UserRow.id, UserRow.name, *_LINE)).join(UserRow, UserRow.id == row.user_id).limit(most)
    conditions = _conditions(wanted)
    if wanted.flags:  # there are few, and an index has them by the time of the report
        query = query.where(is_student(row.user_id, class_id), *conditions).order_by(GradingRow.created.desc())
    else:  # from the people to their submissions, and never through everybody's; of rows, only those that are listed
        order = (row.created.desc(), row.number.desc())
        students = select(UserRow.id).where(is_student(UserRow.id, class_id))
        ids = select(row.id).where(row.user_id.in_(students), *conditions).order_by(*order).limit(most)
        query = query.where(row.id.in_(ids.subquery().select())).order_by(*order)
    people, lines = [], []
    for user, name, *line in session.execute(query.where(is_of(class_id))):
        people.append((UserId(user), name))
        lines.append(line)
    return [ListedAttempt(one, *who) for one, who in zip(_attempts(session, lines), people, strict=True)]


def _conditions(wanted: Wanted) -> list[ColumnElement[bool] | TextClause]:
    row, named = SubmissionRow, DiagnosisRow
    found: list[ColumnElement[bool] | TextClause] = []
    if wanted.student is not None:
        found.append(row.user_id == wanted.student)
    if wanted.exercise:
        found.append(row.exercise == wanted.exercise)
    if wanted.mistake:  # first by a cache: most people never made it
        made = select(MistakeRow.user_id).where(MistakeRow.mistake == wanted.mistake)
        found.append(row.user_id.in_(made))
        found.append(exists().where(named.grading_id == row.current_grading, named.mistake == wanted.mistake))
    if wanted.flags:
        found += [FLAGGED, GradingRow.flag.in_(wanted.flags)]
    return found


@cache
def _one() -> Select[Any]:
    """Return the query for one submission; to build it takes as long as to run it, so it is kept."""
    return _joined(select(SubmissionRow, STATE, GradingRow.report)).where(SubmissionRow.id == bindparam("wanted"))


@cache
def _its_outcome() -> Select[Any]:
    row = SubmissionRow
    wanted = select(STATE, row.exercise, row.nth, row.created, row.finished, GradingRow.report)
    return _joined(wanted).where(row.id == bindparam("wanted"))


def _joined(query: Select[Any]) -> Select[Any]:
    """Add the current grading of each submission, and its job, where there is one."""
    return (
        query.select_from(SubmissionRow)
        .outerjoin(GradingRow, GradingRow.id == SubmissionRow.current_grading)
        .outerjoin(JobRow, JobRow.submission_id == SubmissionRow.id)
    )


def _attempts(session: Session, lines: Sequence[Sequence[Any]]) -> list[Attempt]:
    """Return lines with what their gradings name as the cause."""
    gradings = [line[_GRADING] for line in lines if line[_GRADING] is not None]
    named, place = DiagnosisRow, LocationRow
    causes = select(named.grading_id, named.title).where(named.grading_id.in_(gradings)).order_by(named.mistake)
    mistakes, begins = defaultdict[int, tuple[str, ...]](tuple), dict[int, str]()
    for grading, title in session.execute(causes):
        mistakes[grading] += (title,)
    for grading, title in session.execute(select(place.grading_id, place.title).where(place.grading_id.in_(gradings))):
        begins[grading] = title
    found = []
    for exercise, number, nth, created, id, state, grading, status, score, flag in lines:
        one = Attempt(
            id=SubmissionId(id), exercise=exercise, number=number, nth=nth, created=created, state=State(state),
            status=None if status is None else Status(status), score=score, flag=Flag(flag or ""),
            mistakes=mistakes.get(grading, ()), begins=begins.get(grading, ""),
        )  # fmt: skip
        found.append(one)
    return found


def _report(body: str | None) -> Report | None:
    return None if body is None else Report.from_json(body)
