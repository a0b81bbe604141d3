"""What a class misunderstands: which causes were named, to how many, since when, and who has got over them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from grader.rules.values import Person


@dataclass(frozen=True, slots=True)
class CheckedAttempt:
    """A graded attempt: the instant of its hand-in, and the causes that its report names."""

    id: str
    person: Person
    exercise: str
    at: int
    causes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Stuck:
    """Whose latest attempt names a cause, since which instant they have it, and that attempt."""

    person: Person
    since: int
    attempt: str


@dataclass(frozen=True, slots=True)
class Misconception:
    """A cause at an exercise.

    An episode of somebody lasts from the first to the last attempt that names it, and is mended where a later one is
    free of it.

    Attributes:
        students: how many it was named to.
        attempts: in how many attempts it was named.
        mended: how many have mended it.
        took: after how many attempts they had, counted from the first naming; the median of those.
        stuck: all others, those who have it for longest first.
    """

    exercise: str
    cause: str
    students: int
    attempts: int
    mended: int
    took: Fraction | None
    stuck: tuple[Stuck, ...]


def misconceptions(attempts: Iterable[CheckedAttempt], within: tuple[int, int] | None = None) -> list[Misconception]:
    """Return what was misunderstood, at each exercise what most students did first.

    Args:
        attempts: of each person at each exercise in the order of the hand-ins.
        within: two instants; only episodes with a naming from the first up to before the second, and such namings, are
            counted. Whether they were mended is decided by all attempts.
    """
    of_each: defaultdict[tuple[str, Person], list[CheckedAttempt]] = defaultdict(list)
    for one in attempts:
        of_each[one.exercise, one.person].append(one)
    episodes: defaultdict[tuple[str, str], list[_Episode]] = defaultdict(list)
    for (exercise, _), own in of_each.items():
        for cause in {cause for one in own for cause in one.causes}:
            named = [place for place, one in enumerate(own) if cause in one.causes]
            counted = sum(within is None or within[0] <= own[place].at < within[1] for place in named)
            if counted:
                episodes[exercise, cause].append(_Episode(own, named, counted))
    found = [_of(exercise, cause, every) for (exercise, cause), every in episodes.items()]
    return sorted(found, key=lambda one: (one.exercise, -one.students, -one.attempts, one.cause))


@dataclass(frozen=True, slots=True)
class _Episode:
    own: Sequence[CheckedAttempt]
    named: Sequence[int]  # the places of the attempts that name the cause
    counted: int

    @property
    def is_mended(self) -> bool:
        return self.named[-1] < len(self.own) - 1


def _of(exercise: str, cause: str, episodes: Collection[_Episode]) -> Misconception:
    took = [one.named[-1] + 1 - one.named[0] for one in episodes if one.is_mended]
    stuck = [
        Stuck(one.own[0].person, one.own[one.named[0]].at, one.own[one.named[-1]].id)
        for one in episodes
        if not one.is_mended
    ]
    stuck.sort(key=lambda one: (one.since, one.person))
    middle = Fraction(median(took)) if took else None
    attempts = sum(one.counted for one in episodes)
    return Misconception(exercise, cause, len(episodes), attempts, len(took), middle, tuple(stuck))
