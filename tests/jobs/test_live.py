"""What one process knows about its own gradings, and watching a submission on its way."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from sqlalchemy.orm import Session

from grader.box.cancel import CancelToken
from grader.box.observations import LOSSES, CallSeen, Presence, Seen
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.live import Live, Watching
from grader.jobs.queue import Tracker
from grader.judge.report import Report
from grader.store import submissions
from grader.store.engine import Database
from grader.store.records import State, Submission, SubmissionId, SubmissionOutcome, Watch
from tests.jobs.classroom import full_marks, hand_in, states, until

Make = Callable[..., EmbeddedEngine]


async def collect(watching: Watching, id: str, react: Callable[[Watch], None]) -> list[Watch]:
    seen = []
    async for one in watching.watch(SubmissionId(id)):
        seen.append(one)
        react(one)
    return seen


def test_a_watcher_sees_every_step_up_to_the_report(database: Database, engine: Make) -> None:
    """Waiting, the steps as they are done, and the end with the report; never a later word after the end."""
    go = threading.Semaphore(0)

    def grade(submission: Submission, tracker: Tracker) -> Report:
        tracker.expect(2, {"small": "five tokens"})
        for step in ("first", "small/base"):
            assert go.acquire(timeout=20)
            tracker(CallSeen(step))
        assert go.acquire(timeout=20)
        return full_marks(submission, tracker)

    one = engine(grade)
    watching = Watching(database, one.live)
    hand_in(database, one, "s1")

    def react(watch: Watch) -> None:
        if watch.state is State.QUEUED:
            one.run({"cpu": 1})
        elif watch.total:
            go.release()

    seen = asyncio.run(collect(watching, "s1", react))
    steps = [(watch.state, watch.step, watch.done, watch.total) for watch in seen]

    assert steps[0][0] is State.QUEUED
    assert [step for step in steps if step[3]][:3] == [
        (State.RUNNING, "", 0, 2), (State.RUNNING, "first", 1, 2), (State.RUNNING, "five tokens", 2, 2),
    ]  # fmt: skip
    assert [(watch.state, watch.report is not None) for watch in seen[-1:]] == [(State.DONE, True)]


def test_a_verdict_with_nan_is_told_once_while_its_cause_is_searched_for(
    database: Database, engine: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report that has a NaN equals no other reading of itself; what is shown would be sent at every look."""
    monkeypatch.setattr("grader.jobs.live.LOOK_SECONDS", 0.01)

    def grade(submission: Submission, tracker: Tracker) -> Report:
        report = replace(full_marks(submission, tracker), seconds=float("nan"), score=50.0)

        def search(_cancel: CancelToken) -> Report:
            time.sleep(0.5)
            return report

        tracker.complete = search
        return replace(report, complete=False)

    one = engine(grade)
    hand_in(database, one, "s1")
    one.run({"cpu": 1})
    seen = asyncio.run(collect(Watching(database, one.live), "s1", lambda _: None))

    assert [watch.over for watch in seen if watch.state.final] == [False, True]


def test_a_class_that_waits_for_its_causes_reads_few_reports(
    database: Database, engine: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them together look as often as all who wait for a verdict; each is told of the cause at once."""
    monkeypatch.setattr("grader.jobs.live.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("grader.jobs.live.LOOKS", 5)
    go, looks = threading.Event(), []
    outcome = submissions.outcome

    def counted(session: Session, id: SubmissionId) -> SubmissionOutcome:
        looks.append(id)
        return outcome(session, id)

    monkeypatch.setattr(submissions, "outcome", counted)

    def grade(submission: Submission, tracker: Tracker) -> Report:
        report = full_marks(submission, tracker)

        def search(_cancel: CancelToken) -> Report:
            assert go.wait(20)
            return report

        tracker.complete = search
        return replace(report, complete=False)

    one = engine(grade)
    ids = [f"s{number}" for number in range(20)]
    for id in ids:
        hand_in(database, one, id)
    one.run({"cpu": 1})
    until(lambda: all(state is State.DONE for state in states(database).values()), "all have their verdict")

    async def watch_all() -> tuple[int, list[list[Watch]]]:
        watching = Watching(database, one.live)
        tasks = [asyncio.create_task(collect(watching, id, lambda _: None)) for id in ids]
        await asyncio.sleep(1.5)
        before = len(looks)
        go.set()
        return before, await asyncio.gather(*tasks)

    before, seen = asyncio.run(watch_all())

    assert before <= 2 * len(ids)  # one each when they came; together 5 a second after that
    assert [watch[-1].over for watch in seen] == [True] * len(ids)


def test_a_watcher_knows_how_many_are_ahead(database: Database, engine: Make) -> None:
    """The place in the queue counts those of the same queue that will be taken before."""
    one = engine()
    one.run({"cuda": 1})
    for place, id in enumerate(("s1", "s2", "s3")):
        hand_in(database, one, id, priority=place)
    watching = Watching(database, one.live)
    places: list[int] = []

    def react(watch: Watch) -> None:
        if watch.state is State.QUEUED:
            places.append(watch.ahead)
            one.cancel(SubmissionId(f"s{len(places)}"))

    seen = asyncio.run(collect(watching, "s3", react))

    assert places == [2, 1, 0]
    assert seen[-1].state is State.CANCELLED


def test_a_watcher_hears_of_the_end_at_once(database: Database, engine: Make) -> None:
    """The end wakes the watcher; it does not come upon it at its next look."""
    one = engine()
    one.run({"cpu": 1})
    watching = Watching(database, one.live)
    delays = []
    for n in range(5):
        hand_in(database, one, f"s{n}")
        seen = asyncio.run(collect(watching, f"s{n}", lambda _watch: None))
        delays.append(time.time() - _end(database, f"s{n}"))
        assert seen[-1].state is State.DONE

    assert sorted(delays)[2] < 0.3


def test_who_is_gone_disturbs_nobody(database: Database, engine: Make) -> None:
    """A watcher whose loop was closed in the middle is forgotten."""
    one = engine()
    hand_in(database, one, "s1")
    watcher = Watching(database, one.live).watch(SubmissionId("s1"))
    loop = asyncio.new_event_loop()
    first = loop.run_until_complete(anext(watcher))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()

    assert first.state is State.QUEUED
    assert one.cancel(SubmissionId("s1"))


def _end(database: Database, id: str) -> float:
    with database.read() as session:
        found = submissions.outcome(session, SubmissionId(id))
    assert found.finished is not None
    return found.finished


def trained(name: str, losses: list[float]) -> CallSeen:
    return CallSeen(name, {LOSSES: Seen(Presence.TENSOR, torch.tensor(losses), (len(losses),), "float32")})


def test_nothing_is_foretold_before_the_first_grading() -> None:
    """Without a grading to go by there is no number; one that was cancelled is none."""
    live = Live()
    with live.grading(SubmissionId("s")):
        live.interrupt(SubmissionId("s"))

    assert live.eta(3) is None


def test_the_wait_follows_from_the_median_and_the_slots() -> None:
    """Two slots come free twice per median; one slow grading among quick ones changes nothing."""
    live = Live()
    live.slots = 2
    for seconds in (0.1, 0.1, 0.3):
        live.took(seconds)

    assert (live.eta(0), live.eta(59)) == (1, 4)


def test_a_curve_grows_with_every_call_and_begins_anew_with_another_case() -> None:
    """Of each call a few losses are kept, its last among them; what is no number is left out."""
    live = Live()
    with live.grading(SubmissionId("s")) as tracker:
        tracker(trained("copy/steps 1 to 40", [4.0, math.nan, *(2.0 for _ in range(37)), 1.0]))
        tracker(trained("copy/steps 41 to 80", [0.5, 0.25]))
        grown = live.steps(SubmissionId("s")).curve
        tracker(trained("other/steps 1 to 2", [3.0]))

        assert (len(grown), grown[0], grown[-3:]) == (15, 2.0, (1.0, 0.5, 0.25))
        assert live.steps(SubmissionId("s")).curve == (3.0,)
