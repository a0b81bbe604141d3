"""The run panel says in one sentence what is happening."""

from dataclasses import replace

import pytest

from grader.judge.report import CheckResult, Dimension, Status, Verdict
from grader.pages.run_status import idle_view, not_taken_view, watch_view
from grader.store.records import State, Watch
from tests.pages.samples import accepted_report, ended_report, failed_report

CASES = [
    (Watch(State.QUEUED, ahead=2), "queued", "In line: 2 ahead of you"),
    (Watch(State.QUEUED), "queued", "In line: you are next"),
    (Watch(State.QUEUED, ahead=2, eta=3), "queued", "In line: 2 ahead of you, about 3 s"),
    (Watch(State.QUEUED, ahead=90, eta=150), "queued", "In line: 90 ahead of you, about 2 min"),
    (Watch(State.RUNNING, step="very large logits"), "running", "Checking: very large logits"),
    (Watch(State.RUNNING), "running", "Starting your code"),
    (Watch(State.CANCELLED), "cancelled", "Cancelled. Nothing was counted."),
    (Watch(State.DONE, report=accepted_report()), "passed", "Done: all 1 check passed"),
    (Watch(State.DONE, report=failed_report()), "failed", "Done: 2 of 3 checks passed"),
    (Watch(State.DONE, report=ended_report(Status.MEMORY, "")), "failed", "Your code ran out of memory"),
    (Watch(State.BROKEN), "broken", "Something broke on our side. This costs you nothing; please try again."),
]


@pytest.mark.parametrize(("watch", "phase", "text"), CASES, ids=[case[2] for case in CASES])
def test_each_state_has_its_sentence(watch, phase, text):
    """Every state of a submission is told apart, in words."""
    view = watch_view(watch)

    assert (view["phase"], view["text"]) == (phase, text)


def test_who_stands_far_back_is_told_that_nothing_is_lost():
    """With many ahead the page need not stay open; who was overtaken is told why."""
    long, short = (watch_view(Watch(State.QUEUED, ahead=ahead)) for ahead in (200, 1))
    again = watch_view(Watch(State.QUEUED, ahead=3, again=True))

    assert "You may close this page" in long["detail"]
    assert short["detail"] == ""
    assert again["text"].startswith("In line again: 3 ahead of you")
    assert "others waited" in again["detail"]


def test_nothing_is_busy_before_the_first_run():
    """The idle panel offers Run, not Cancel."""
    assert idle_view()["busy"] is False


def test_a_check_that_broke_by_our_fault_is_said_beside_those_that_passed():
    """Where its points are given, the run still counts as passed, and nobody reads that all passed."""
    whole = accepted_report()
    broken = CheckResult("small: rows", Dimension.NUMERICS, Verdict.BROKEN, 5.0, 5.0)
    view = watch_view(Watch(State.DONE, report=replace(whole, checks=(*whole.checks, broken))))

    assert (view["phase"], view["text"]) == (
        "passed",
        "Done: 1 check passed; 1 could not run because of a grader error, and you get the points",
    )


def test_what_could_not_be_taken_is_our_fault_with_an_id():
    """Where the store takes nothing, the panel says whose fault that is, where the code is, and what to pass on."""
    view = not_taken_view("0a1b2c3d")

    assert view["phase"] == "broken"
    assert "error on our side" in view["text"]
    assert "still in the editor" in view["text"]
    assert view["detail"].endswith("0a1b2c3d")


def test_progress_is_a_share_of_the_calls():
    """Three of twelve calls fill a quarter of the bar."""
    assert watch_view(Watch(State.RUNNING, step="s", done=3, total=12))["share"] == 25


def test_the_losses_so_far_are_drawn_while_it_trains():
    """The panel of a run that trains holds the curve; nothing else has one."""
    running = watch_view(Watch(State.RUNNING, step="training/steps 1 to 10", done=1, total=9, curve=(2.5, 1.25)))

    assert running["curve"] == [2.5, 1.25]
    assert watch_view(Watch(State.DONE, report=accepted_report(), curve=(2.5, 1.25)))["curve"] == []
