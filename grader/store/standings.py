"""The caches of the gradings, and what is read from them: best scores, leaderboards, grades, common mistakes.

The caches hold nothing that the gradings do not say: which attempt each was, best scores, their sums, and how often
each mistake was named. `refresh` brings one person's lines of one exercise up to date, and `rebuild` all of them, by
the same statements. Who was earlier is decided by the hand-in, never by the queue. Whatever reads them touches no
submission.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Executable,
    ScalarSelect,
    Select,
    SQLColumnExpression,
    Subquery,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from grader.judge.report import Status
from grader.rules.values import Show
from grader.store import people
from grader.store.records import BoardName, Role, Standing, State, User, UserId
from grader.store.tables import (
    OPEN,
    AssignmentRow,
    Base,
    BestRow,
    DiagnosisRow,
    GradingRow,
    MembershipRow,
    MistakeRow,
    SessionRow,
    SubmissionRow,
    TotalRow,
    UserRow,
)

FULL = 100.0
FREE = frozenset({Status.REJECTED, Status.UNGRADABLE})  # these use up no attempt
Filter = tuple[ColumnElement[bool], ...]
_Line = tuple[int, str, float, int, float, int, str]  # user, name, score, attempts, reached, solved, board name
# No rows of the session's: what is given beside an insert of these would count as rows to be inserted.
_BESTS, _MISTAKES, _TOTALS = (Base.metadata.tables[name] for name in ("bests", "mistakes", "totals"))


# Results that are never hidden from their owners; the others are no part of best scores and boards of exercises.
OPEN_RESULT = and_(AssignmentRow.show == Show.AT_ONCE.value, AssignmentRow.show_checks == "{}")
IS_SHOWN = or_(
    SubmissionRow.assignment_id.is_(None), SubmissionRow.assignment_id.in_(select(AssignmentRow.id).where(OPEN_RESULT))
)


@dataclass(frozen=True, slots=True)
class Grade:
    """A student's best score on an exercise, and how many attempts they have used on it in all."""

    score: float
    attempts: int


@dataclass(frozen=True, slots=True)
class Student:
    """A student with what they have reached.

    Attributes:
        user: the person.
        grades: by exercise, those with a counted attempt only.
        active: when they last signed in or handed something in; None for never since they registered.
    """

    user: User
    grades: Mapping[str, Grade]
    active: float | None


@dataclass(frozen=True, slots=True)
class CommonMistake:
    """A mistake on an exercise: how many students made it, and in how many attempts."""

    exercise: str
    mistake: str
    title: str
    students: int
    times: int


def best(session: Session, user: UserId) -> dict[str, float]:
    """Return a person's best score on each exercise they have an attempt on."""
    query = select(BestRow.exercise, BestRow.score).where(BestRow.user_id == user)
    return {row.exercise: row.score for row in session.execute(query)}


def used(session: Session, user: UserId, exercise: str) -> int:
    """Return how many attempts of a person at an exercise count."""
    row = SubmissionRow
    mine = (row.user_id == user, row.exercise == exercise, row.state != OPEN)
    return session.scalar(select(func.max(row.nth)).where(*mine)) or 0


def leaderboard(session: Session, class_id: int, exercise: str | None = None) -> list[Standing]:
    """Return the students of a class in order: score, then fewer attempts, then earlier; equal ones share a rank.

    Those who have left the boards are not among them.
    """
    if exercise is None:
        query = _standings(class_id, TotalRow, TotalRow.solved)
    else:
        is_solved = case((BestRow.score >= FULL, 1), else_=0)
        query = _standings(class_id, BestRow, is_solved).where(BestRow.exercise == exercise)
    board: list[Standing] = []
    rank, last = 0, None
    for place, (user, name, score, attempts, reached, solved, shown) in enumerate(session.execute(query), 1):
        rank, last = rank if (score, attempts, reached) == last else place, (score, attempts, reached)
        shown_as = BoardName(shown)
        board.append(Standing(rank, UserId(user), name, score, attempts, reached, solved=solved, shown=shown_as))
    return board


def _standings(class_id: int, row: type[BestRow | TotalRow], solved: SQLColumnExpression[int]) -> Select[*_Line]:
    """Select the students in order; columns and no objects, of which five hundred would take ten times as long."""
    return (
        select(row.user_id, UserRow.name, row.score, row.attempts, row.reached, solved, MembershipRow.board)
        .join(UserRow, UserRow.id == row.user_id)
        .join(MembershipRow, and_(MembershipRow.user_id == row.user_id, people.student_here(class_id)))
        .where(MembershipRow.board != BoardName.NONE.value)
        .order_by(row.score.desc(), row.attempts, row.reached, row.user_id)
    )


def students(session: Session, class_id: int) -> list[Student]:
    """Return every student of a class by name, those too who have not handed anything in."""
    # One look into an index for each student: grouping would read an entry for each submission there is.
    last = (_last(SubmissionRow.user_id, SubmissionRow.created), _last(SessionRow.user_id, SessionRow.created))
    rows = session.execute(select(UserRow.id, UserRow.name, *last).where(people.is_student(UserRow.id, class_id)))
    grades: dict[int, dict[str, Grade]] = {}
    for user, exercise, score, attempts in session.execute(
        select(BestRow.user_id, BestRow.exercise, BestRow.score, BestRow.used)
    ):
        grades.setdefault(user, {})[exercise] = Grade(score, attempts)
    found = [
        Student(User(UserId(id), name, Role.STUDENT), grades.get(id, {}), max(filter(None, moments), default=None))
        for id, name, *moments in rows
    ]
    return sorted(found, key=lambda one: (one.user.name.casefold(), one.user.id))


def _last(owner: InstrumentedAttribute[int], moment: InstrumentedAttribute[float]) -> ScalarSelect[float]:
    return select(func.max(moment)).where(owner == UserRow.id).scalar_subquery()


def common_mistakes(session: Session, class_id: int) -> list[CommonMistake]:
    """Return the mistakes that students of a class made, on each exercise those of most students first."""
    row = MistakeRow
    query = (
        select(row.exercise, row.mistake, func.max(row.title), func.count(), func.sum(row.times))
        .where(people.is_student(row.user_id, class_id))
        .group_by(row.exercise, row.mistake)
        .order_by(row.exercise, func.count().desc(), func.sum(row.times).desc(), row.mistake)
    )
    return [CommonMistake(*line) for line in session.execute(query)]


def refresh(session: Session, user: UserId, exercise: str) -> None:
    """Bring what is cached of a person on an exercise up to date, in the transaction that changed the gradings.

    That transaction has the person's turn: two of their results may arrive at once, and the second must see the first.
    """
    for statement in _refreshing():
        session.execute(statement, {"person": user, "at": exercise})


def rebuild(session: Session) -> None:
    """Make every cache anew from the gradings."""
    if session.get_bind().dialect.name == "postgresql":
        # Whoever refreshes meanwhile waits, instead of storing a line that is stored below as well.
        session.execute(text("LOCK TABLE bests, mistakes, totals IN SHARE ROW EXCLUSIVE MODE"))
    for statement in (delete(_BESTS), delete(_MISTAKES), delete(_TOTALS), *_filling((), ())):
        session.execute(statement)


@cache
def _refreshing() -> tuple[Executable, ...]:
    """Return the statements of a refresh, in order; to build them takes as long as to run them, so they are kept."""
    person: BindParameter[int] = bindparam("person")
    at: BindParameter[str] = bindparam("at")
    mine = (SubmissionRow.user_id == person, SubmissionRow.exercise == at)
    return (
        delete(_BESTS).where(BestRow.user_id == person, BestRow.exercise == at),
        delete(_MISTAKES).where(MistakeRow.user_id == person, MistakeRow.exercise == at),
        delete(_TOTALS).where(TotalRow.user_id == person),
        *_filling(mine, (BestRow.user_id == person,)),
    )


def _filling(submissions: Filter, bests: Filter) -> tuple[Executable, ...]:
    now = _places(submissions)
    return (
        update(SubmissionRow)
        .values(nth=now.c.nth)
        .where(SubmissionRow.id == now.c.id, SubmissionRow.nth != now.c.nth)
        .execution_options(synchronize_session=False),
        insert(_BESTS).from_select(["user_id", "exercise", "score", "attempts", "reached", "used"], _best(submissions)),
        insert(_TOTALS).from_select(["user_id", "score", "attempts", "reached", "solved"], _sums(bests)),
        insert(_MISTAKES).from_select(["user_id", "exercise", "mistake", "title", "times"], _mistakes(submissions)),
    )


def _places(which: Filter) -> Subquery:
    """Give which of its person's attempts at the exercise each submission is, with the ids.

    That is 0 for one that uses up no attempt; one that is not finished is the next attempt. `which` takes people and
    exercises, whole: what was earlier is counted.
    """
    row, now = SubmissionRow, GradingRow
    counts = case((and_(now.status.not_in(sorted(FREE)), now.incident == ""), 1), else_=0)
    before = func.sum(counts).over(partition_by=(row.user_id, row.exercise), order_by=row.number, rows=(None, -1))
    ended = row.state.in_((State.CANCELLED.value, State.BROKEN.value))
    none = or_(ended, now.status.in_(sorted(FREE)), now.incident != "")
    place = case((none, 0), else_=func.coalesce(before, 0) + 1).label("nth")
    query = select(row.id, place).select_from(row).outerjoin(now, now.id == row.current_grading)
    return query.where(*which).subquery()


def _best(submissions: Filter) -> Select[Any]:
    """Select the best of each person on each exercise, the earliest of equal ones, and the attempts up to it.

    Where a fault of ours kept a report from being whole, what was earned counts, and no attempt is used.
    """
    row, grading = SubmissionRow, GradingRow
    used = case((grading.incident == "", 1), else_=0)
    each = (row.user_id, row.exercise)
    counted = (
        select(
            *each,
            grading.score,
            func.sum(used).over(partition_by=each, order_by=row.number, rows=(None, 0)).label("attempts"),
            row.created.label("reached"),
            func.sum(used).over(partition_by=each).label("used"),
            func.row_number().over(partition_by=each, order_by=(grading.score.desc(), row.number)).label("place"),
        )
        .join(grading, grading.id == row.current_grading)
        .where(grading.status.not_in(sorted(FREE)), IS_SHOWN, *submissions)
        .subquery()
    )
    line = counted.c
    return select(line.user_id, line.exercise, line.score, line.attempts, line.reached, line.used).where(
        line.place == 1
    )


def _sums(bests: Filter) -> Select[Any]:
    row = BestRow
    solved = func.sum(case((row.score >= FULL, 1), else_=0))
    return (
        select(row.user_id, _rounded(func.sum(row.score)), func.sum(row.attempts), func.max(row.reached), solved)
        .where(*bests)
        .group_by(row.user_id)
    )


def _mistakes(submissions: Filter) -> Select[Any]:
    """Select in how many graded attempts each mistake was named, with its latest title; of results that are open."""
    row, named = SubmissionRow, DiagnosisRow
    each = (row.user_id, row.exercise, named.mistake)
    lines = (
        select(
            *each,
            named.title,
            func.count().over(partition_by=each).label("times"),
            func.row_number().over(partition_by=each, order_by=row.number.desc()).label("place"),
        )
        .join(named, named.grading_id == row.current_grading)
        .where(row.state == State.DONE.value, IS_SHOWN, *submissions)
        .subquery()
    )
    line = lines.c
    return select(line.user_id, line.exercise, line.mistake, line.title, line.times).where(line.place == 1)


def _rounded(value: ColumnElement[Any]) -> ColumnElement[Any]:
    """Round a sum of scores to their two decimals: floats add up with dust behind them."""
    return func.round(value * 100) / 100
