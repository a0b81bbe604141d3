"""The thread that runs tryouts: one at a time, a few wait, and nothing ends it."""

from __future__ import annotations

import threading

import pytest

from grader.errors import GraderFault, NotAllowed, Rejected
from grader.jobs.messages import TryoutDone
from grader.jobs.supervisor import RemoteTryouts
from grader.jobs.tryouts import LONGEST_ANSWER, MOST_WAITING, TryoutOutcome, TryoutRequest, TryoutThread
from tests.jobs.classroom import PATIENCE_SECONDS


def test_only_a_few_wait() -> None:
    """The others are refused at once; those that wait have their answers in the end."""
    go_on, begun = threading.Event(), threading.Event()

    def run(request: TryoutRequest) -> str:
        begun.set()
        go_on.wait(PATIENCE_SECONDS)
        return str(request.seed)

    tryouts = TryoutThread(run)
    first = tryouts.try_out(TryoutRequest("softmax", "", seed=0))
    assert begun.wait(PATIENCE_SECONDS)
    waiting = [tryouts.try_out(TryoutRequest("softmax", "", seed=seed)) for seed in range(1, MOST_WAITING + 1)]
    refused = tryouts.try_out(TryoutRequest("softmax", ""))

    assert isinstance(refused.exception(0.0), NotAllowed)
    go_on.set()
    assert [one.result(PATIENCE_SECONDS) for one in (first, *waiting)] == [str(n) for n in range(MOST_WAITING + 1)]


def test_whatever_breaks_is_told_and_the_next_one_runs(caplog: pytest.LogCaptureFixture) -> None:
    """A refusal with its reason; a fault of ours under an incident, with nothing of the inside."""

    def run(request: TryoutRequest) -> str:
        if request.source == "odd":
            raise Rejected("your file is empty")
        return {"right": "done", "long": "x" * (LONGEST_ANSWER + 1)}[request.source]

    tryouts = TryoutThread(run)
    answers = {name: tryouts.try_out(TryoutRequest("softmax", name)) for name in ("odd", "broken", "long", "right")}

    assert answers["right"].result(PATIENCE_SECONDS) == "done"
    assert str(answers["odd"].exception()) == "your file is empty"
    assert isinstance(answers["long"].exception(), NotAllowed)
    fault = answers["broken"].exception()
    assert isinstance(fault, GraderFault)
    assert "KeyError" not in str(fault)
    assert "KeyError" in caplog.text


def test_a_tryout_that_nobody_waits_for_is_not_run() -> None:
    """Whoever closed the page while it waited leaves its time to others."""
    go_on, begun = threading.Event(), threading.Event()
    ran: list[str] = []

    def run(request: TryoutRequest) -> str:
        ran.append(request.source)
        begun.set()
        go_on.wait(PATIENCE_SECONDS)
        return ""

    tryouts = TryoutThread(run)
    tryouts.try_out(TryoutRequest("softmax", "first"))
    assert begun.wait(PATIENCE_SECONDS)
    left = tryouts.try_out(TryoutRequest("softmax", "left"))
    last = tryouts.try_out(TryoutRequest("softmax", "last"))
    assert left.cancel()
    go_on.set()
    last.result(PATIENCE_SECONDS)

    assert ran == ["first", "last"]


def test_an_answer_that_nobody_waits_for_any_more_is_dropped() -> None:
    """A page that was left, or lost its patience, stops nobody who follows a grading process; others get theirs."""
    tryouts = RemoteTryouts(lambda place, message: True, lambda: [0])
    left, lost, kept = (tryouts.try_out(TryoutRequest("softmax", "")) for _ in range(3))
    assert left.cancel()
    assert lost.cancel()
    tryouts.settle(TryoutDone(1, TryoutOutcome("late")))
    tryouts.settle(TryoutDone(3, TryoutOutcome("in time")))
    tryouts.lose(0)

    assert kept.result(0.0) == "in time"
