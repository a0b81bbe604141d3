"""How long a try may hold a worker while newcomers wait."""

from __future__ import annotations

import time

import pytest

from grader.jobs.queue import Tracker
from grader.jobs.turn_lengths import LONGEST, REMEMBERED, SHORTEST, TIMES, TurnLengths
from grader.judge.report import Report
from grader.store.engine import Database
from grader.store.records import State, Submission
from tests.jobs.classroom import full_marks, hand_in, states, until
from tests.jobs.test_turns import Make


def taken(*seconds: float) -> TurnLengths:
    """Return the turns where gradings of `softmax` took so long, and a first try has a second."""
    turns = TurnLengths(1.0)
    for one in seconds:
        turns.note("softmax", one)
    return turns


def test_an_unknown_exercise_has_the_first_turn() -> None:
    """What others took at another exercise says nothing of this one; each further try has twice as long."""
    turns = taken(0.2)

    assert [turns.seconds("copy_task", tries) for tries in (1, 2, 3)] == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("seconds", "turn"),
    [([0.2], TIMES * 0.2), ([0.2, 0.2, 9.0], TIMES * 0.2), ([0.01], SHORTEST), ([60.0], LONGEST)],
    ids=["one", "an odd one", "very quick", "very slow"],
)
def test_a_turn_follows_what_others_took(seconds: list[float], turn: float) -> None:
    """Three times the median of the last ones, within bounds."""
    assert taken(*seconds).seconds("softmax", 1) == pytest.approx(turn)


def test_old_gradings_are_forgotten() -> None:
    """A machine that became slower is seen as such after a few gradings."""
    assert taken(*[0.2] * 20, *[0.5] * REMEMBERED).seconds("softmax", 1) == pytest.approx(TIMES * 0.5)


@pytest.mark.parametrize("quick_seconds", [0.5])
@pytest.mark.parametrize("wrong", [-300.0, 300.0], ids=["late", "early"])
def test_a_clock_that_is_not_the_database_s_changes_no_turn(
    database: Database, engine: Make, wrong: float, quick_seconds: float
) -> None:
    """Claims have the time of the database; a turn is measured by the clock of the process that grades alone."""
    begun: list[str] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        begun.append(submission.id)
        while begun == ["long"] and not tracker.cancel.cancelled:
            time.sleep(0.01)
        tracker.cancel.check()
        return full_marks(submission, tracker)

    one = engine(grade)
    one.run({"cpu": 1})
    (worker,) = one._running
    worker.clock = lambda: time.time() + wrong  # the times of claims stay those of the table
    hand_in(database, one, "long")
    until(lambda: begun == ["long"], "the long one runs")
    assert worker.held is not None
    assert 0.0 <= worker.seconds < 250.0
    hand_in(database, one, "short")
    until(lambda: set(states(database).values()) == {State.DONE}, "both are graded")

    assert begun == ["long", "short", "long"]
