"""Results that a class does not show yet: their owner is told that they were handed in, and the parts that are shown.

As long as any part of a report is hidden, so are its score and whatever follows from that; the visible checks are
shown without points. Causes, pictures and figures are drawn from all checks, and stay away until all are shown.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
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
        hidden = self._of(session, one.user).get(one.id)
        if hidden is None:
            return one
        return replace(one, state=_sealed(one.state), report=None, nth=one.number, part=_part(one.report, hidden))

    def attempts(self, session: Session, user: UserId, all_of: Sequence[Attempt]) -> list[Attempt]:
        """Return somebody's own attempts as they may see them."""
        hidden = self._of(session, user)
        return [_without_result(one) if one.id in hidden else one for one in all_of]

    async def watch(self, user: UserId, id: SubmissionId, seen: AsyncIterator[Watch]) -> AsyncIterator[Watch]:
        """Yield how far somebody's own submission is, without what its run tells; the end is the same for all."""
        with self._database.read() as session:
            hidden = self._of(session, user).get(id)
            found = None if hidden is None else submissions.get(session, id)
        number = 0 if found is None else found.number
        async with aclosing(seen) as watches:  # type: ignore[type-var] # an asynchronous generator
            async for one in watches:
                if hidden is None:
                    yield one
                elif one.state.final:
                    part = _part(one.report, hidden)
                    state = _sealed(one.state)
                    yield Watch(state, elapsed=one.elapsed, exercise=one.exercise, nth=number, part=part)
                    return
                else:
                    yield replace(one, step="", done=0, total=0, curve=())

    def _of(self, session: Session, user: UserId) -> Mapping[str, frozenset[Dimension]]:
        return work.sealed(session, user, server_time(session, self._clock))


def _part(report: Report | None, hidden: frozenset[Dimension]) -> PartialReport | None:
    return None if report is None or hidden == frozenset(Dimension) else report.without(hidden)


def _sealed(state: State) -> State:
    return State.SEALED if state in (State.DONE, State.BROKEN) else state


def _without_result(one: Attempt) -> Attempt:
    return Attempt(one.id, one.exercise, one.number, one.created, _sealed(one.state), None, None, nth=one.number)
