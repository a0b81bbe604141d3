"""What a person's attempts tell about the way that they have come: two of them side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grader.errors import NotAllowed
from grader.service.authorize import NOT_YOURS
from grader.store import submissions
from grader.store.engine import Database
from grader.store.records import Attempt, Submission, SubmissionId, User

FIRST = "There is no attempt before this one that was checked."


@dataclass(frozen=True, slots=True)
class Pair:
    """Two attempts of one person at one exercise, the earlier one first, among their others at it, newest first."""

    before: Submission
    after: Submission
    others: tuple[Attempt, ...]


class Trail:
    """Reads attempts; `read` gives a submission to whoever may see it, and to nobody else."""

    def __init__(self, database: Database, read: Callable[[User, SubmissionId], Submission]) -> None:
        """Read from `database`."""
        self._database, self._read = database, read

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
