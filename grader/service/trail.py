"""What a person's attempts tell about the way that they have come: two of them side by side, what to practise again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grader.errors import NotAllowed
from grader.service.authorize import NOT_YOURS
from grader.store import submissions
from grader.store.engine import Database
from grader.store.records import Attempt, Submission, SubmissionId, User

DAY = 24 * 3600.0
PAUSE = 14 * DAY  # after full marks; twice as long after each repetition
FIRST = "There is no attempt before this one that was checked."


@dataclass(frozen=True, slots=True)
class Pair:
    """Two attempts of one person at one exercise, the earlier one first, among their others at it, newest first."""

    before: Submission
    after: Submission
    others: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class Due:
    """An exercise to practise again: `last` is when it was last solved, `since` from when on it is due."""

    exercise: str
    last: float
    since: float


def due(solved: Mapping[str, Sequence[float]], now: float) -> list[Due]:
    """Return what is due by now, what is due for longest first.

    Args:
        solved: when each exercise got full marks, in the order of time.
        now: seconds since the epoch.
    """
    found = [Due(exercise, times[-1], times[-1] + _pause(times)) for exercise, times in solved.items()]
    return sorted((one for one in found if one.since <= now), key=lambda one: (one.since, one.exercise))


def _pause(times: Sequence[float]) -> float:
    """Return how long after the last time an exercise is due; earlier than it was due is no repetition."""
    pause = PAUSE
    for earlier, later in pairwise(times):
        pause *= 2 if later - earlier >= pause else 1
    return pause


class Trail:
    """Reads attempts.

    Args:
        database: where they are stored.
        read: gives a submission to whoever may see it, and to nobody else.
        clock: gives the seconds since the epoch.
    """

    def __init__(
        self, database: Database, read: Callable[[User, SubmissionId], Submission], *, clock: Callable[[], float]
    ) -> None:
        """Read from `database`."""
        self._database, self._read, self._clock = database, read, clock

    def practice(self, user: User) -> list[Due]:
        """Return what somebody with an account should practise again, what is due for longest first."""
        if user.visitor:
            return []
        with self._database.read() as session:
            return due(submissions.full_marks(session, user.id), self._clock())

    def pair(self, user: User, id: SubmissionId, other: SubmissionId | None = None) -> Pair:
        """Return an attempt beside another one of the same person at the same exercise.

        Args:
            user: who asks.
            id: the attempt.
            other: what it is compared with; the last one before it that was checked, if left out.

        Raises:
            NotAllowed: one of them is another person's, and the one who asks is no instructor; or they are not of one
                person and exercise; or there is none before it.
        """
        found = self._read(user, id)
        with self._database.read() as session:
            others = tuple(submissions.attempts(session, found.user, found.exercise))
        second = self._read(user, other or _previous(found, others))
        if (second.user, second.exercise) != (found.user, found.exercise):
            raise NotAllowed(NOT_YOURS)
        before, after = sorted((found, second), key=lambda one: one.number)
        return Pair(before, after, others)


def _previous(found: Submission, others: tuple[Attempt, ...]) -> SubmissionId:
    earlier = (one.id for one in others if one.number < found.number and one.status is not None)
    previous = next(earlier, None)
    if previous is None:
        raise NotAllowed(FIRST)
    return previous
