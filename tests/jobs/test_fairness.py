"""Nobody waits for what one person has queued, and no CPU for a GPU: on both engines, in turns instead of seconds."""

from __future__ import annotations

import threading

import pytest

from grader.jobs.engine import GradingEngine
from grader.jobs.queue import Tracker
from grader.jobs.shares import home
from grader.judge.report import Report
from grader.store.records import State, Submission
from tests.jobs.classroom import PATIENCE_SECONDS, full_marks, hand_in, states, until
from tests.jobs.engines import Site

QUEUED = 200
OTHERS = 40
MOST = 1.2  # times the wait of the others when nobody queues so much


class Desk:
    def __init__(self, site: Site) -> None:
        self.turns: list[str] = []
        self._site, self._open = site, threading.Event()
        self._open.set()
        self._engine = site.machine(self._grade)
        self._engine.start({"cpu": 1})

    def queue(self, person: str, number: int) -> None:
        for n in range(number):
            self._hand_in(person, n)

    def waits(self, group: str) -> list[int]:
        """Let a group of people hand in one each; return how many turns each of them waited, in order."""
        self._open.clear()
        before = len(self.turns)
        for n in range(OTHERS):
            self._hand_in(f"{group} {n}", 0)
        self._open.set()
        wanted = {f"{group} {n} 0" for n in range(OTHERS)}
        until(lambda: wanted <= set(self.turns), f"all of {group} are graded")
        return sorted(self.turns.index(one) + 1 - before for one in wanted)

    def beside(self, payers: list[str]) -> list[str]:
        """Let so many be handed in, and two newcomers' once the first runs; return whose the first three turns are."""
        self._open.clear()
        for number, payer in enumerate(payers):
            self._hand_in(f"visitor {number}" if payer else "busy", number, payer)
            until(lambda: bool(self.turns), "the first one runs")
        self._hand_in("new member", 0)
        self._hand_in("new visitor", 0, home("203.0.113.9"))
        self._open.set()
        until(lambda: len(self.turns) == len(payers) + 2, "all are graded")
        return self.turns[:3]

    def _hand_in(self, person: str, number: int, payer: str = "") -> None:
        id, exercise = f"{person} {number}", f"exercise {number}"
        hand_in(self._site.database, self._engine, id, user=person, exercise=exercise, priority=number, payer=payer)

    def _grade(self, submission: Submission, tracker: Tracker) -> Report:
        self.turns.append(submission.id)
        self._open.wait(PATIENCE_SECONDS)
        return full_marks(submission, tracker)


def test_others_wait_hardly_longer_while_one_person_queues_200(site: Site) -> None:
    """The 95th percentile of their waits, in turns, beside the same group without that person."""
    desk = Desk(site)
    alone = desk.waits("before")
    desk.queue("a greedy one", QUEUED)  # whose ids come first, where nothing else decides
    beside = desk.waits("beside")

    late = round(0.95 * OTHERS) - 1
    assert alone[late] <= late + 2, "the others wait for themselves only"
    assert beside[late] / alone[late] <= MOST


@pytest.mark.parametrize("payer", ["", home("192.0.2.1")], ids=["a member", "a household"])
def test_one_who_never_stops_delays_newcomers_by_one_run(site: Site, payer: str) -> None:
    """Twenty are queued before the others come: a member, and a visitor elsewhere; they are first after the one run."""
    first, *then = Desk(site).beside([payer] * 20)

    assert first.endswith(" 0")
    assert sorted(then) == ["new member 0", "new visitor 0"]


def test_the_cpu_never_waits_for_a_gpu(site: Site) -> None:
    """Three jobs wait for the busy GPU; what the same person and others want of the CPU is graded meanwhile."""
    free = threading.Event()

    def grade(submission: Submission, tracker: Tracker) -> Report:
        if submission.device == "cuda":
            free.wait(PATIENCE_SECONDS)
        return full_marks(submission, tracker)

    engine = site.machine(grade)
    engine.run({"cpu": 1, "cuda": 1})
    for n in range(3):
        hand_in(site.database, engine, f"gpu {n}", user="ada", exercise=f"exercise {n}", device="cuda", priority=1)
    for n, person in enumerate(("ada", "bob")):
        hand_in(site.database, engine, f"cpu {n}", user=person, exercise=f"other {n}", priority=2)

    until(lambda: _done(site, "cpu"), "what the CPU has to do is done")
    assert not _done(site, "gpu")
    free.set()
    until(lambda: _done(site, "gpu"), "and then what the GPU has")


def test_a_job_for_a_gpu_waits_for_a_machine_that_has_one(shared: Site) -> None:
    """A machine without one passes it over, and takes what comes after it, also of the same person."""
    taken: dict[str, str] = {}

    def machine(name: str) -> GradingEngine:
        def grade(submission: Submission, tracker: Tracker) -> Report:
            taken[submission.id] = name
            return full_marks(submission, tracker)

        return shared.machine(grade)

    without = machine("without")
    without.run({"cpu": 1})
    hand_in(shared.database, without, "gpu 0", user="ada", device="cuda", priority=1)
    hand_in(shared.database, without, "cpu 0", user="ada", exercise="another", priority=2)
    until(lambda: _done(shared, "cpu"), "the other one is graded")
    assert states(shared.database)["gpu 0"] is State.QUEUED
    machine("with").run({"cuda": 1})

    until(lambda: _done(shared, "gpu"), "it is graded")
    assert taken == {"cpu 0": "without", "gpu 0": "with"}


def _done(site: Site, device: str) -> bool:
    return all(state is State.DONE for id, state in states(site.database).items() if id.startswith(device))
