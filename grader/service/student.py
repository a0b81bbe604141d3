"""What people have of their own: drafts, two attempts side by side, and what to practise again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grader.errors import NotAllowed
from grader.service.authorize import NOT_YOURS
from grader.service.classes import work
from grader.service.hidden import Seals
from grader.store import coursework, people, submissions, turns
from grader.store.engine import Database, server_time
from grader.store.records import Attempt, Draft, Submission, SubmissionId, User

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


class Drafts:
    """Stores and returns drafts to the exercises of these names, of at most `longest` bytes."""

    def __init__(
        self, database: Database, exercises: Collection[str], *, longest: int, clock: Callable[[], float]
    ) -> None:
        self._database, self._exercises, self._longest, self._clock = database, exercises, longest, clock

    def keep(self, user: User, exercise: str, source: str, base: float = 0.0) -> Draft:
        """Store a draft, and return what is stored now: another text if that one is newer.

        Args:
            base: `saved` of the draft that the text was made from; 0 for none. If somebody else, or the same person on
                another device, has stored a different text since, that text stays.

        Raises:
            NotAllowed: there is no such exercise, the text is too long, the account was deleted, or there is none:
                visitors come without number, so what they type stays in their browser.
        """
        if user.visitor:
            raise NotAllowed("Register to have your drafts kept on the server.")
        if exercise not in self._exercises:
            raise NotAllowed(f"There is no exercise called {exercise[:64]!r}.")
        text = source.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
        if (length := len(text.encode())) > self._longest:
            raise NotAllowed(f"The draft is too long: {length} bytes, where {self._longest} are allowed.")
        with self._database.write() as session:
            turns.of_person(session, user.id)  # who may type on two devices
            stored = people.draft(session, user.id, exercise)
            if stored is not None and stored.saved != base and stored.source != text:
                return stored
            draft = Draft(text, server_time(session, self._clock))
            people.keep_draft(session, user.id, exercise, draft)
        return draft

    def of(self, user: User, exercise: str) -> Draft | None:
        """Return what the person was typing last; None for nothing."""
        with self._database.read() as session:
            return people.draft(session, user.id, exercise)


class Trail:
    """Reads attempts; `read` gives a submission to whoever may see it, and to nobody else."""

    def __init__(
        self, database: Database, read: Callable[[User, SubmissionId], Submission], seals: Seals, *,
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._database, self._read, self._seals, self._clock = database, read, seals, clock

    def practice(self, user: User) -> list[Due]:
        """Return what somebody with an account should practise again, what is due for longest first."""
        if user.visitor:
            return []
        with self._database.read() as session:
            return due(submissions.full_marks(session, user.id), self._clock())

    def pair(self, user: User, id: SubmissionId, other: SubmissionId | None = None) -> Pair:
        """Return an attempt beside an `other` one of the same person at the same exercise.

        Without `other` that is the last one before it that was checked.

        Raises:
            NotAllowed: one of them is another person's, and the one who asks is no instructor; or they are not of one
                person and exercise; or there is none before it.
        """
        first = self._read(user, id)
        with self._database.read() as session:
            if first.user == user.id:
                mine = submissions.attempts(session, first.user, first.exercise)
                others = tuple(self._seals.attempts(session, user.id, mine))
            else:  # staff of one class read nothing of another one
                place = coursework.place_of(session, first.id)
                of_class = (place and place[1]) or 0  # practice is of none
                practice = work.reads_practice(session, user.id, first.user)  # nobody does of those who have left
                found = submissions.attempts(session, first.user, first.exercise, class_id=of_class, practice=practice)
                others = tuple(found)
        if not other:
            checked = (one.id for one in others if one.number < first.number and one.status is not None)
            other = next(checked, None)
        if not other:
            raise NotAllowed(FIRST)
        second = self._read(user, other)
        if (second.user, second.exercise) != (first.user, first.exercise):
            raise NotAllowed(NOT_YOURS)
        before, after = sorted((first, second), key=lambda one: one.number)
        return Pair(before, after, others)


def due(solved: Mapping[str, Sequence[float]], now: float) -> list[Due]:
    """Return what is due by now, what is due for longest first; `solved` says when each exercise got full marks."""
    ever = [Due(exercise, times[-1], times[-1] + _pause(times)) for exercise, times in solved.items()]
    return sorted((one for one in ever if one.since <= now), key=lambda one: (one.since, one.exercise))


def _pause(times: Sequence[float]) -> float:
    """Return how long after the last time an exercise is due; earlier than it was due is no repetition."""
    pause = PAUSE
    for earlier, later in pairwise(times):
        pause *= 2 if later - earlier >= pause else 1
    return pause
