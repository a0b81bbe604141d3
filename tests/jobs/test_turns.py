"""Whoever runs for long lets newcomers go first, and is graded all the same."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from sqlalchemy import update

from grader.errors import Killed
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.queue import Tracker
from grader.jobs.worker import MEDIAN_OF, TURN_LEAST, TURN_MEDIANS, TURN_MOST, TurnLengths
from grader.judge.report import Report
from grader.store.engine import Database
from grader.store.records import State, Submission
from grader.store.tables import JobRow
from tests.jobs.classroom import full_marks, hand_in, states, until

Make = Callable[..., EmbeddedEngine]


@pytest.fixture
def quick_seconds() -> float:
    return 0.05


def test_a_long_run_lets_newcomers_go_first(database: Database, engine: Make) -> None:
    """With one slot, an endless first try is put behind the one that came later, and then begun anew."""
    begun: list[str] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        begun.append(submission.id)
        while begun == ["long"] and not tracker.cancel.cancelled:
            time.sleep(0.01)
        tracker.cancel.check()
        return full_marks(submission, tracker)

    one = engine(grade)
    one.run({"cpu": 1})
    hand_in(database, one, "long")
    until(lambda: begun == ["long"], "the long one runs")
    hand_in(database, one, "short")
    until(lambda: set(states(database).values()) == {State.DONE}, "both are graded")

    assert begun == ["long", "short", "long"]


def test_a_long_run_is_left_alone_when_nobody_new_waits(database: Database, engine: Make) -> None:
    """What was overtaken itself overtakes nobody: two long ones do not chase each other for ever."""
    begun: list[str] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        begun.append(submission.id)
        end = time.monotonic() + (60.0 if len(begun) < 3 else 1.5)
        while time.monotonic() < end and not tracker.cancel.cancelled:
            time.sleep(0.01)
        tracker.cancel.check()
        return full_marks(submission, tracker)

    one = engine(grade)
    one.run({"cpu": 1})
    for id in ("first", "second", "third"):
        hand_in(database, one, id)
    until(lambda: set(states(database).values()) == {State.DONE}, "all are graded")

    assert begun[:3] == ["first", "second", "third"]
    assert sorted(begun[3:]) == ["first", "second"]


def test_what_was_killed_waits_behind_those_who_wait(database: Database, engine: Make) -> None:
    """It stops everybody else while it runs alone, so nobody who waits already has to wait for that."""
    begun: list[str] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        begun.append(f"{submission.id}{' alone' * tracker.alone}")
        if submission.id == "killer" and not tracker.alone:
            raise Killed("by the kernel")
        return full_marks(submission, tracker)

    one = engine(grade)
    for place, id in enumerate(("killer", "first", "second", "third")):
        hand_in(database, one, id, priority=place)
    one.run({"cpu": 1})
    until(lambda: set(states(database).values()) == {State.DONE}, "all are graded")

    assert begun == ["killer", "first", "second", "third", "killer alone"]


def test_whoever_has_waited_to_be_alone_looks_again_who_is_next(database: Database, engine: Make) -> None:
    """Of four slots one is alone; when it lets a newcomer go first, the other three do not take up the same job."""
    begun: list[str] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        begun.append(submission.id)
        while begun == ["killer"]:
            time.sleep(0.01)
            tracker.cancel.check()
        return full_marks(submission, tracker)

    many = engine(grade)
    hand_in(database, many, "killer")
    with database.write() as session:
        session.execute(update(JobRow).values(kills=1))
    many.run({"cpu": 4})
    until(lambda: begun == ["killer"], "the killer runs alone")
    hand_in(database, many, "newcomer")
    until(lambda: set(states(database).values()) == {State.DONE}, "both are graded")

    assert begun == ["killer", "newcomer", "killer"]


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
    [([0.2], TURN_MEDIANS * 0.2), ([0.2, 0.2, 9.0], TURN_MEDIANS * 0.2), ([0.01], TURN_LEAST), ([60.0], TURN_MOST)],
    ids=["one", "an odd one", "very quick", "very slow"],
)
def test_a_turn_follows_what_others_took(seconds: list[float], turn: float) -> None:
    """Three times the median of the last ones, within bounds."""
    assert taken(*seconds).seconds("softmax", 1) == pytest.approx(turn)


def test_old_gradings_are_forgotten() -> None:
    """A machine that became slower is seen as such after a few gradings."""
    assert taken(*[0.2] * 20, *[0.5] * MEDIAN_OF).seconds("softmax", 1) == pytest.approx(TURN_MEDIANS * 0.5)


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
