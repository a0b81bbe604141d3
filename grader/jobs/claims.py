"""The way of a job through its table: taken, put back, finished, each by one guarded statement.

A statement names the claim that it expects. Whoever comes too late changes nothing and is told so. A job is a row as
long as its submission is open; its end and the verdict are one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, cast

from sqlalchemy import (
    Boolean,
    ColumnElement,
    CursorResult,
    Delete,
    Update,
    and_,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.orm import Session

from grader.jobs import shares
from grader.jobs.queue import Claim
from grader.store import gradings, turns
from grader.store.engine import server_time
from grader.store.gradings import Grading
from grader.store.people import in_class
from grader.store.records import GradingId, Reason, State, SubmissionId, UserId
from grader.store.tables import OPEN, JobRow, SubmissionRow

WAITING = JobRow.claim.is_(None)
_FIRST = (JobRow.priority, JobRow.submission_id)  # the order of those of one payer
# No job of the same person is in a worker's hands in the same queue; those of changes do not count, for which nobody
# waits. As text: put together from columns, these two cost milliseconds of each start of a grading.
_NOTHING_ELSE_RUNS: ColumnElement[bool] = literal_column(
    "NOT EXISTS (SELECT 1 FROM jobs AS other JOIN submissions AS theirs ON theirs.id = other.submission_id"
    " JOIN submissions AS mine ON mine.id = jobs.submission_id"
    " WHERE other.claim IS NOT NULL AND other.change_id IS NULL AND other.queue = jobs.queue"
    " AND theirs.user_id = mine.user_id)",
    Boolean,
)
_ONLY_TAKER = text(
    "SELECT pg_try_advisory_xact_lock(hashtext('grader: ' || user_id || ' on ' || :queue))"
    " FROM submissions WHERE id = :id"
)
LONGEST_PAUSE_SECONDS = 60.0  # nobody has to wait for longer: a time that is further ahead is of a clock set back since


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """Where a job has waited since when; about how many go before it, and whether a try had to let others go first."""

    created: float
    ahead: int
    again: bool = False


class LostTry(Enum):
    """Why tries came to no end: what that adds to the counts of a job's tries and of its kills."""

    HANDED_BACK = (-1, 0)  # by the worker itself, which was not killed by it
    KILLED = (0, 1)  # with the process; which of its jobs was the reason shows when each is graded alone
    VANISHED = (0, 0)  # the machine is not heard of any more; nobody knows why


LostClaims = tuple[str, set[str], LostTry]  # whose, which, and why; as `release` takes them


def enqueue(
    session: Session, id: SubmissionId, *, queue: str, priority: int, ready: float, payer: str = "",
    change: int | None = None,
) -> None:  # fmt: skip
    """Put a stored submission into a queue; it is not taken before `ready`.

    Without a payer its owner is charged; nobody is for what is graded once more for a `change`.
    """
    owner = select(SubmissionRow.user_id).where(SubmissionRow.id == id)
    if change is not None:
        payer = shares.REGRADES
    session.execute(
        insert(JobRow).values(
            submission_id=id,
            reason=(Reason.HAND_IN if change is None else Reason.REGRADE).value,
            queue=queue,
            priority=priority,
            ready=ready,
            tries=0,
            faults=0,
            kills=0,
            payer=payer or shares.member(UserId(session.scalars(owner).one())),
            change_id=change,
        )
    )


def next_was_killed(session: Session, queue: str, *, now: float, one_each: bool = False) -> bool:
    """Return whether a try of the job that is next in a queue was killed; such a job is to be graded alone."""
    killed = select(JobRow.submission_id).where(WAITING, JobRow.queue == queue, JobRow.kills > 0)
    if session.scalar(killed.limit(1)) is None:  # which is nearly always so, and quickly asked
        return False
    ready = _ready(queue, now, one_each)
    first = shares.in_turn(session, ready, now)[:1]
    waiting = select(JobRow.kills).where(*ready, JobRow.payer.in_(first))
    return bool(session.scalar(waiting.order_by(*_FIRST).limit(1)))


def take(
    session: Session,
    queue: str,
    *,
    worker: str,
    token: str,
    now: float,
    killed: bool | None = None,
    one_each: bool = False,
    regrades: int = 1,
) -> Claim | None:  # fmt: skip
    """Take the next job of a queue, of the payer whose turn it is; None if none is ready.

    Args:
        killed: only one that was killed before, or only one that never was; None for either.
        one_each: none of a person who has a job of this queue in a worker's hands.
        regrades: how many jobs of changes the worker's process may have in hand at once.
    """
    job, ready = JobRow, _ready(queue, now, one_each)
    if killed is not None:
        ready = (*ready, (job.kills > 0) == killed)
    for payer in shares.in_turn(session, ready, now):
        if payer == shares.REGRADES and _regrading(session, worker, queue) >= regrades:
            continue
        theirs = select(job.submission_id).where(*ready, job.payer == payer).order_by(*_FIRST).limit(1)
        first = session.scalar(theirs.with_for_update(skip_locked=True))
        if first is None or (one_each and not _is_only_taker(session, first, queue)):
            continue  # another worker takes it, or another one of that person, at this moment
        still = and_(job.submission_id == first, _NOTHING_ELSE_RUNS) if one_each else job.submission_id == first
        if claim := _claimed(session, still, worker=worker, token=token, now=now):
            return claim
    return None


def _regrading(session: Session, worker: str, queue: str) -> int:
    mine = (JobRow.worker == worker, JobRow.queue == queue, JobRow.change_id.is_not(None))
    return session.scalar(select(func.count()).select_from(JobRow).where(*mine)) or 0


def _claimed(session: Session, which: ColumnElement[bool], *, worker: str, token: str, now: float) -> Claim | None:
    row, job = SubmissionRow, JobRow
    taken = session.execute(
        update(job)
        .where(which, WAITING)
        .values(worker=worker, claim=token, started=now, tries=job.tries + 1)
        .returning(job.submission_id, job.reason, job.tries, job.faults, job.kills, job.payer, job.change_id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if taken is None:
        return None
    id, reason, tries, faults, kills, payer, change = taken
    about = select(row.exercise, row.seed, row.device, in_class(row.user_id)).where(row.id == id)
    exercise, seed, device, inside = session.execute(about).one()
    return Claim(
        SubmissionId(id), Reason(reason), exercise, seed, device,
        token=token, tries=tries, faults=faults, kills=kills, started=now, payer=payer, outside=not inside,
        change=change,
    )  # fmt: skip


def finish(session: Session, claim: Claim, grading: Grading) -> GradingId | None:
    """Store the verdict of a try; None, and nothing stored, if the job is no longer in its hands.

    That of a change's job stands beside the current one.
    """
    if turns.of_owner(session, claim.id) is None or _count(session, delete(JobRow).where(*_held(claim))) != 1:
        return None
    if claim.change is not None:
        created = server_time(session, lambda: grading.created)
        return gradings.add(session, claim.id, replace(grading, created=created), change=claim.change)
    return gradings.store(session, claim.id, grading)


def put_back(session: Session, claim: Claim, **changed: Any) -> bool:
    """Queue what a try held again, its row changed as said: `ready` and `faults`, or `priority` and `kills`."""
    return _count(session, update(JobRow).where(*_held(claim)).values(worker=None, claim=None, **changed)) == 1


def cancel(session: Session, id: SubmissionId, *, now: float) -> bool:
    """Cancel an open submission; a try under way is charged for, ends in a moment and finds its claim gone."""
    turns.of_owner(session, id)  # as `finish` does, so that neither waits for the other in the middle
    still_open = update(SubmissionRow).where(SubmissionRow.id == id, SubmissionRow.state == OPEN)
    if _count(session, still_open.values(state=State.CANCELLED.value, nth=0, finished=now)) != 1:
        return False
    gone = delete(JobRow).where(JobRow.submission_id == id).returning(JobRow.payer, JobRow.claim, JobRow.started)
    for payer, claim, started in session.execute(gone.execution_options(synchronize_session=False)).all():
        if claim is not None and started is not None:
            shares.charge(session, payer, max(0.0, now - started), now)
    return True


def cancel_change(session: Session, change: int) -> list[SubmissionId]:
    """Take the jobs of a change out of their queues; return those of which a try is under way, which finds it gone."""
    gone = delete(JobRow).where(JobRow.change_id == change).returning(JobRow.submission_id, JobRow.claim)
    found = session.execute(gone.execution_options(synchronize_session=False)).all()
    return [SubmissionId(id) for id, claim in found if claim is not None]


def waiting_of(session: Session, change: int) -> int:
    """Return how many jobs of a change wait or run."""
    return session.scalar(select(func.count()).select_from(JobRow).where(JobRow.change_id == change)) or 0


def release(session: Session, worker: str, tokens: Collection[str], loss: LostTry) -> list[SubmissionId]:
    """Queue again what a worker holds by these claims; return what that was."""
    tries, kills = loss.value
    held = update(JobRow).where(JobRow.worker == worker, JobRow.claim.in_(tokens))
    counts = {"tries": JobRow.tries + tries, "kills": JobRow.kills + kills}
    freed = held.values(worker=None, claim=None, **counts).returning(JobRow.submission_id)
    return [SubmissionId(id) for id in session.scalars(freed.execution_options(synchronize_session=False))]


def adopt(session: Session) -> list[SubmissionId]:
    """Put every open submission that has no job into its queue; return which those were."""
    row = SubmissionRow
    lost = session.execute(
        select(row.id, row.device, row.created)
        .outerjoin(JobRow, JobRow.submission_id == row.id)
        .where(row.state == OPEN, JobRow.submission_id.is_(None))
    ).all()
    for id, device, created in lost:
        enqueue(session, SubmissionId(id), queue=device, priority=round(created * 1000), ready=created)
    return [SubmissionId(id) for id, *_ in lost]


def requeue_unserved(session: Session, served: Collection[str]) -> int:
    """Move what waits in a queue that is no longer served to the CPU's: a GPU may be gone after a restart."""
    stray = update(JobRow).where(WAITING, JobRow.queue.not_in(served))
    return _count(session, stray.values(queue="cpu"))


def holders(session: Session) -> dict[str, set[str]]:
    """Return the claims that each worker holds."""
    held: dict[str, set[str]] = {}
    for worker, token in session.execute(select(JobRow.worker, JobRow.claim).where(JobRow.claim.is_not(None))):
        held.setdefault(worker or "", set()).add(token or "")
    return held


def held_and_waiting(session: Session) -> tuple[dict[str, set[str]], dict[str, int]]:
    """Return what `holders` and `depth` do, by one statement; the keeper of each process asks all the time."""
    job, held, waiting = JobRow, dict[str, set[str]](), Counter[str]()
    query = select(job.queue, job.worker, job.claim, func.count()).group_by(job.queue, job.worker, job.claim)
    for queue, worker, token, number in session.execute(query):
        if token is None:
            waiting[queue] += number
        else:
            held.setdefault(worker or "", set()).add(token)
    return held, waiting


def depth(session: Session, *, ready: float | None = None, one_each: bool = False) -> dict[str, int]:
    """Count the waiting jobs of each queue; with `ready`, only those that may be taken at that time, as in `take`."""
    query = select(JobRow.queue, func.count()).where(WAITING).group_by(JobRow.queue)
    if ready is not None:
        query = query.where(_may_be_taken(ready))
    if one_each:
        query = query.where(_NOTHING_ELSE_RUNS)
    return {queue: count for queue, count in session.execute(query)}  # noqa: C416 - a row is no pair to mypy


def newcomers(session: Session, *, members: bool = False) -> set[str]:
    """Return the queues in which a job waits that was never taken; with `members`, one of somebody in the class."""
    query = select(JobRow.queue).distinct().where(WAITING, JobRow.tries == 0, JobRow.change_id.is_(None))
    if members:
        query = query.join(SubmissionRow, SubmissionRow.id == JobRow.submission_id)
        query = query.where(in_class(SubmissionRow.user_id))
    return set(session.scalars(query))


def place(session: Session, id: SubmissionId, *, now: float) -> QueuePosition | None:
    """Return where a submission stands in its queue, as if all runs took equally long; None if it does not wait.

    One that waits to be graded once more for a change has its result.
    """
    job = JobRow
    again = job.tries > job.faults + job.kills
    mine = session.execute(
        select(job.queue, job.payer, job.priority, SubmissionRow.created, again)
        .join(SubmissionRow, SubmissionRow.id == job.submission_id)
        .where(job.submission_id == id, WAITING, job.change_id.is_(None))
    ).one_or_none()
    if mine is None:
        return None
    queue, payer, priority, created, tried = mine
    waiting = (WAITING, job.queue == queue)
    earlier = tuple_(job.priority, job.submission_id) < tuple_(priority, id)
    own = session.scalar(select(func.count()).where(*waiting, job.payer == payer, earlier)) or 0
    counts = session.execute(select(job.payer, func.count()).where(*waiting).group_by(job.payer)).all()
    turns_of = {one: number for number, one in enumerate(shares.in_turn(session, waiting, now))}
    mine_at = turns_of.get(payer, 0)
    before = {one: n for one, n in counts if one not in (payer, shares.REGRADES)}
    others = sum(min(n, own + (turns_of.get(one, 0) < mine_at)) for one, n in before.items())
    return QueuePosition(created, own + others, bool(tried))


def _ready(queue: str, now: float, one_each: bool) -> tuple[ColumnElement[bool], ...]:
    ready = (WAITING, JobRow.queue == queue, _may_be_taken(now))
    return (*ready, _NOTHING_ELSE_RUNS) if one_each else ready


def _is_only_taker(session: Session, id: str, queue: str) -> bool:
    """Keep other machines, which see that nothing of the person runs yet, from taking another job of theirs."""
    return bool(session.scalar(_ONLY_TAKER, {"id": id, "queue": queue}))


def _may_be_taken(now: float) -> ColumnElement[bool]:
    return or_(JobRow.ready <= now, JobRow.ready > now + LONGEST_PAUSE_SECONDS)


def _held(claim: Claim) -> tuple[ColumnElement[bool], ...]:
    return JobRow.submission_id == claim.id, JobRow.claim == claim.token


def _count(session: Session, statement: Update | Delete) -> int:
    """Carry out a statement; return how many rows it changed."""
    done = session.execute(statement.execution_options(synchronize_session=False))
    return cast(CursorResult[Any], done).rowcount
