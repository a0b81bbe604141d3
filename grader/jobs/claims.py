"""The way of a job through the submission table: taken, put back, finished, each by one guarded statement.

A statement names the state it expects and, from the first try on, the token of the claim. Whoever comes too late
changes nothing and is told so.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import CursorResult, Update, func, select, tuple_, update
from sqlalchemy.orm import Session

from grader.judge.report import Report
from grader.store import boards, roster
from grader.store.records import State, SubmissionId, UserId
from grader.store.submissions import UNFINISHED
from grader.store.tables import ReportRow, SubmissionRow

QUEUED, RUNNING = State.QUEUED.value, State.RUNNING.value


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job has waited since when; how many go before it, and whether a try of it had to let others go first."""

    created: float
    ahead: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """One try of one job; `token` tells it from every other try.

    Attributes:
        tries: how often the job was taken, this time included.
        faults: how many tries ended by a fault of ours.
        kills: how many ended because what ran the job was killed: its grading process, or all of the service.
    """

    id: SubmissionId
    exercise: str
    seed: int
    device: str
    token: str
    tries: int
    faults: int
    kills: int
    started: float


def hand_over(session: Session, id: SubmissionId, *, queue: str, priority: int) -> None:
    """Put a stored submission into a queue."""
    _change(session, _row(id, QUEUED).values(queue=queue, priority=priority))


def next_was_killed(session: Session, queue: str, *, now: float) -> bool:
    """Return whether a try of the job that is next in a queue was killed; such a job is to be graded alone."""
    row = SubmissionRow
    waiting = select(row.kills).where(row.state == QUEUED, row.queue == queue, row.ready <= now)
    return bool(session.scalar(waiting.order_by(row.priority, row.id).limit(1)))


def take(
    session: Session, queue: str, *, worker: str, token: str, now: float, killed: bool | None = None
) -> Claim | None:
    """Take the next job of a queue; None if none is ready.

    Args:
        killed: only one that was killed before, or only one that never was; None for either.
    """
    row = SubmissionRow
    kind = () if killed is None else ((row.kills > 0) == killed,)
    first = (
        select(row.id)
        .where(row.state == QUEUED, row.queue == queue, row.ready <= now, *kind)
        .order_by(row.priority, row.id)
        .limit(1)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    found = session.execute(
        update(row)
        .where(row.id == first, row.state == QUEUED)
        .values(state=RUNNING, worker=worker, claim=token, started=now, tries=row.tries + 1)
        .returning(row.id, row.exercise, row.seed, row.device, row.tries, row.faults, row.kills)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if found is None:
        return None
    id, exercise, seed, device, tries, faults, kills = found
    return Claim(
        SubmissionId(id), exercise, seed, device, token=token, tries=tries, faults=faults, kills=kills, started=now
    )


def finish(session: Session, claim: Claim, report: Report, *, body: str, state: State, now: float) -> bool:
    """Store the verdict of a try; False, and nothing stored, if the job is no longer in its hands.

    `body` is the report as JSON, made before the transaction, which others wait for.
    """
    row = SubmissionRow
    held = session.execute(
        _held(claim).values(state=state.value, finished=now, worker=None).returning(row.user_id, row.exercise)
    ).one_or_none()
    if held is None:
        return False
    session.add(
        ReportRow(
            submission_id=claim.id,
            attempt=claim.tries,
            status=report.status.value,
            score=report.score,
            created=now,
            body=body,
            flag=report.flag.value,
        )
    )
    session.flush()
    if state is State.DONE or report.checks:
        boards.count(session, UserId(held[0]), held[1], report=report, now=now)
    if state is State.DONE:
        roster.note(session, UserId(held[0]), held[1], diagnosis=report.diagnosis)
    return True


def put_back(session: Session, claim: Claim, *, ready: float) -> bool:
    """Queue a try that ended in a fault of ours again, not to be taken before `ready`."""
    values = {"state": QUEUED, "worker": None, "claim": None, "ready": ready, "faults": SubmissionRow.faults + 1}
    return _change(session, _held(claim).values(**values)) == 1


def put_back_killed(session: Session, claim: Claim, *, priority: int) -> bool:
    """Queue a try again whose sandbox was killed; the next one is made alone, so it waits behind those who wait now."""
    kills = SubmissionRow.kills + 1
    values = {"state": QUEUED, "worker": None, "claim": None, "priority": priority, "kills": kills}
    return _change(session, _held(claim).values(**values)) == 1


def step_back(session: Session, claim: Claim, *, priority: int) -> bool:
    """Queue a try that others overtook again, behind them."""
    return _change(session, _held(claim).values(state=QUEUED, worker=None, claim=None, priority=priority)) == 1


def cancel(session: Session, id: SubmissionId, *, now: float) -> bool:
    """Cancel an unfinished job; a try under way keeps running but finds its claim gone."""
    open_row = update(SubmissionRow).where(SubmissionRow.id == id, SubmissionRow.state.in_(UNFINISHED))
    return _change(session, open_row.values(state=State.CANCELLED.value, finished=now, worker=None, claim=None)) == 1


def release(session: Session, worker: str, *, keep: Collection[str] = (), forgive: bool = False) -> int:
    """Queue again what a worker holds, but for the claims in `keep`.

    With `forgive` these tries are not counted: whoever hands a job back by itself was not killed by it. Without it they
    were killed, one and all; which of them was the reason shows when each is graded alone.
    """
    row = SubmissionRow
    held = update(row).where(row.state == RUNNING, row.worker == worker, row.claim.not_in(keep))
    counts = {"tries": row.tries - int(forgive), "kills": row.kills + int(not forgive)}
    return _change(session, held.values(state=QUEUED, worker=None, claim=None, **counts))


def adopt(session: Session) -> int:
    """Hand over what was stored but never reached a queue."""
    row = SubmissionRow
    lost = update(row).where(row.state == QUEUED, row.queue.is_(None))
    return _change(session, lost.values(queue=row.device, priority=row.created * 1000))


def requeue_unserved(session: Session, served: Collection[str]) -> int:
    """Move what waits in a queue that is no longer served to the CPU's: a GPU may be gone after a restart."""
    row = SubmissionRow
    stray = update(row).where(row.state == QUEUED, row.queue.is_not(None), row.queue.not_in(served))
    return _change(session, stray.values(queue="cpu"))


def holders(session: Session) -> dict[str, set[str]]:
    """Return the claims that each worker holds."""
    row = SubmissionRow
    held: dict[str, set[str]] = {}
    for worker, token in session.execute(select(row.worker, row.claim).where(row.state == RUNNING)):
        held.setdefault(worker or "", set()).add(token or "")
    return held


def depth(session: Session, *, ready: float | None = None) -> dict[str, int]:
    """Count the waiting jobs of each queue; with `ready`, only those that may be taken at that time."""
    row = SubmissionRow
    query = select(row.queue, func.count()).where(row.state == QUEUED, row.queue.is_not(None)).group_by(row.queue)
    if ready is not None:
        query = query.where(row.ready <= ready)
    return {str(queue): count for queue, count in session.execute(query)}


def newcomers(session: Session) -> set[str]:
    """Return the queues in which a job waits that was never taken."""
    row = SubmissionRow
    return {
        str(queue) for queue in session.scalars(select(row.queue).distinct().where(row.state == QUEUED, row.tries == 0))
    }


def place(session: Session, id: SubmissionId) -> Place | None:
    """Return where a job stands in its queue; None if it does not wait."""
    row = SubmissionRow
    again = row.tries > row.faults + row.kills
    mine = session.execute(
        select(row.queue, row.priority, row.created, again).where(row.id == id, row.state == QUEUED)
    ).one_or_none()
    if mine is None:
        return None
    queue, priority, created, tried = mine
    earlier = tuple_(row.priority, row.id) < tuple_(priority, id)
    ahead = session.scalar(select(func.count()).where(row.state == QUEUED, row.queue == queue, earlier))
    return Place(created, ahead or 0, bool(tried))


def _row(id: SubmissionId, state: str) -> Update:
    return update(SubmissionRow).where(SubmissionRow.id == id, SubmissionRow.state == state)


def _held(claim: Claim) -> Update:
    held = _row(claim.id, RUNNING).where(SubmissionRow.claim == claim.token)
    return held.execution_options(synchronize_session=False)


def _change(session: Session, statement: Update) -> int:
    done = session.execute(statement.execution_options(synchronize_session=False))
    return cast(CursorResult[Any], done).rowcount
