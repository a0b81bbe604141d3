"""Results that a class does not show yet: whatever their owner asks for says only that they were handed in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from grader.service.classes import work
from grader.store.engine import Database, Session, server_time
from grader.store.records import Attempt, State, Submission, SubmissionId, UserId, Watch


class Seals:
    """Puts a state in place of each result that its owner is not to see now."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database, self._clock = database, clock

    def submission(self, session: Session, one: Submission) -> Submission:
        """Return somebody's own submission as they may see it."""
        return replace(one, state=_sealed(one.state), report=None, nth=one.number) if self._hides(session, one) else one

    def attempts(self, session: Session, user: UserId, all_of: Sequence[Attempt]) -> list[Attempt]:
        """Return somebody's own attempts as they may see them."""
        hidden = self._of(session, user)
        return [_without_result(one) if one.id in hidden else one for one in all_of]

    async def watch(self, user: UserId, id: SubmissionId, seen: AsyncIterator[Watch]) -> AsyncIterator[Watch]:
        """Yield how far somebody's own submission is, without what its run tells; the end is the same for all."""
        with self._database.read() as session:
            hidden = id in self._of(session, user)
        async with aclosing(seen) as watches:  # type: ignore[type-var] # an asynchronous generator
            async for one in watches:
                if not hidden:
                    yield one
                elif one.state.final:
                    yield Watch(_sealed(one.state), elapsed=one.elapsed, exercise=one.exercise)
                    return
                else:
                    yield replace(one, step="", done=0, total=0, curve=())

    def _hides(self, session: Session, one: Submission) -> bool:
        return one.id in self._of(session, one.user)

    def _of(self, session: Session, user: UserId) -> frozenset[str]:
        return work.sealed(session, user, server_time(session, self._clock))


def _sealed(state: State) -> State:
    return State.SEALED if state in (State.DONE, State.BROKEN) else state


def _without_result(one: Attempt) -> Attempt:
    return Attempt(one.id, one.exercise, one.number, one.created, _sealed(one.state), None, None, nth=one.number)
