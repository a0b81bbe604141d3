"""Misconceptions of simulated students, each number counted once more by another program."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

from grader.rules.misconceptions import CheckedAttempt, Misconception, Stuck, misconceptions


def attempt(person: str, at: int, *causes: str, exercise: str = "sdpa") -> CheckedAttempt:
    return CheckedAttempt(f"{person}{at}", person, exercise, at, frozenset(causes))


def test_an_episode_lasts_from_the_first_to_the_last_naming() -> None:
    """A free attempt in the middle mends nothing; who has no later free one is stuck since the first naming."""
    found = misconceptions([
        attempt("ada", 1, "scale"), attempt("ada", 2), attempt("ada", 3, "scale"), attempt("ada", 4),
        attempt("ben", 5, "scale"), attempt("ben", 6, "scale", "mask"),
        attempt("cleo", 7, "scale"), attempt("cleo", 8), attempt("dan", 9),
    ])  # fmt: skip

    assert found == [
        Misconception("sdpa", "scale", 3, 5, 2, Fraction(2), (Stuck("ben", 5, "ben6"),)),  # after 3 and 1 attempts
        Misconception("sdpa", "mask", 1, 1, 0, None, (Stuck("ben", 6, "ben6"),)),
    ]


def test_a_week_counts_what_was_named_in_it_and_knows_what_came_later() -> None:
    """The first instant belongs to it, the last one does not; a mending after it is one."""
    own = [attempt("ada", 10, "scale"), attempt("ada", 19, "scale"), attempt("ada", 20, "scale"), attempt("ada", 30)]
    found = misconceptions(own, within=(10, 20))

    assert [(one.students, one.attempts, one.mended, one.took) for one in found] == [(1, 2, 1, Fraction(3))]
    assert misconceptions(own, within=(21, 40)) == []


@pytest.mark.parametrize("seed", range(20))
def test_each_number_is_what_a_plain_count_gives(seed: int) -> None:
    """Thirty students with histories drawn at random, counted by walking through each history."""
    draw = random.Random(seed)
    histories = {
        (f"s{number:02}", exercise): [
            frozenset(cause for cause in "abc" if draw.random() < 0.4) for _ in range(draw.randrange(6))
        ]
        for number in range(30)
        for exercise in ("one", "two")
    }
    attempts = [
        CheckedAttempt(f"{person}-{exercise}-{place}", person, exercise, 100 * place, causes)
        for (person, exercise), own in histories.items()
        for place, causes in enumerate(own)
    ]
    draw.shuffle(keys := list(histories))
    attempts = [one for key in keys for one in attempts if (one.person, one.exercise) == key]
    found = {(one.exercise, one.cause): one for one in misconceptions(attempts)}

    students, namings = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    stuck, took = {}, {}
    for (person, exercise), own in histories.items():
        for cause in "abc":
            begun = ended = None
            for place, causes in enumerate(own):
                if cause in causes:
                    namings[exercise, cause] += 1
                    begun = place if begun is None else begun
                    ended = None
                elif begun is not None and ended is None:
                    ended = place
            if begun is not None:
                students[exercise, cause] += 1
                if ended is None:
                    stuck.setdefault((exercise, cause), set()).add((person, 100 * begun))
                else:
                    took.setdefault((exercise, cause), []).append(ended - begun)
    assert {key: one.students for key, one in found.items()} == students
    assert {key: one.attempts for key, one in found.items()} == namings
    assert {key: {(each.person, each.since) for each in one.stuck} for key, one in found.items() if one.stuck} == stuck
    assert {key: one.mended for key, one in found.items() if one.mended} == {key: len(one) for key, one in took.items()}
    for key, numbers in took.items():
        ordered, half = sorted(numbers), len(numbers) // 2
        middle = ordered[half] if len(numbers) % 2 else Fraction(ordered[half - 1] + ordered[half], 2)
        assert found[key].took == middle
