"""Results that a class does not show yet: their owner is told that they were handed in, and the parts that are shown.

As long as any part of a report is hidden, so are its score and whatever follows from that, also whether it used up an
attempt: later ones are numbered as they came. The visible checks are shown without points. Causes, pictures and figures
are drawn from all checks, and stay away until all are shown.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from grader.judge.report import Dimension, PartialReport, Report
from grader.service.classes import work
from grader.store import submissions
from grader.store.engine import Database, Session, server_time
from grader.store.records import Attempt, State, Submission, SubmissionId, UserId, Watch


class Seals:
    """Puts a state, and what is shown of a report, in place of each result that its owner is not to see now."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database, self._clock = database, clock

    def submission(self, session: Session, one: Submission) -> Submission:
        """Return somebody's own submission as they may see it."""
        sealed = self._of(session, one.user)
        hidden = sealed.get(one.id)
        if hidden is None:
            is_after = one.nth and _is_after(session, sealed, one.user, exercise=one.exercise, number=one.number)
            return replace(one, nth=one.number) if is_after else one
        return replace(one, state=_sealed(one.state), report=None, nth=one.number, part=_part(one.report, hidden))

    def attempts(self, session: Session, user: UserId, all_of: Sequence[Attempt]) -> list[Attempt]:
        """Return somebody's own attempts as they may see them."""
        hidden = self._of(session, user)
        found, after_hidden = [], set[str]()  # exercises
        for one in sorted(all_of, key=lambda each: each.number):
            if one.id in hidden:
                after_hidden.add(one.exercise)
                found.append(_without_result(one))
            else:
                found.append(replace(one, nth=one.number) if one.nth and one.exercise in after_hidden else one)
        by_id = {one.id: one for one in found}
        return [by_id[one.id] for one in all_of]

    async def watch(self, user: UserId, id: SubmissionId, seen: AsyncIterator[Watch]) -> AsyncIterator[Watch]:
        """Yield how far somebody's own submission is, without what its run tells; the end is the same for all."""
        with self._database.read() as session:
            sealed = self._of(session, user)
            hidden, found = sealed.get(id), submissions.get(session, id) if sealed else None
            number = 0 if found is None else found.number
            is_after = found is not None and _is_after(session, sealed, user, exercise=found.exercise, number=number)
        async with aclosing(seen) as watches:  # type: ignore[type-var] # an asynchronous generator
            async for one in watches:
                if hidden is None:
                    yield replace(one, nth=number) if one.nth and is_after else one
                elif one.state.final:
                    part = _part(one.report, hidden)
                    state = _sealed(one.state)
                    yield Watch(state, elapsed=one.elapsed, exercise=one.exercise, nth=number, part=part)
                    return
                else:
                    yield replace(one, step="", done=0, total=0, curve=())

    def _of(self, session: Session, user: UserId) -> Mapping[str, frozenset[Dimension]]:
        return work.sealed(session, user, server_time(session, self._clock))


def _is_after(session: Session, sealed: Collection[str], user: UserId, *, exercise: str, number: int) -> bool:
    """Return whether an attempt comes after a hidden one; which one it is then tells whether that used up any."""
    if not sealed:
        return False
    mine = submissions.attempts(session, user, exercise)
    return any(one.id in sealed and one.number < number for one in mine)


def _part(report: Report | None, hidden: frozenset[Dimension]) -> PartialReport | None:
    return None if report is None or hidden == frozenset(Dimension) else report.without(hidden)


def _sealed(state: State) -> State:
    return State.SEALED if state in (State.DONE, State.BROKEN) else state


def _without_result(one: Attempt) -> Attempt:
    return Attempt(one.id, one.exercise, one.number, one.created, _sealed(one.state), None, None, nth=one.number)
