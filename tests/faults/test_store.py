"""The database is locked, full or protected at each moment of a submission's way: nothing is half stored, none lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.faults.conftest import Victim, slow

BEGINS = {"locked": "lock", "full": "fill", "protected": "protect"}
ENDS = {"locked": "unlock", "full": "clear", "protected": "unprotect"}


@dataclass(frozen=True)
class Trouble:
    name: str
    victim: Victim

    @contextmanager
    def lasting(self) -> Iterator[None]:
        assert self.victim.ask(BEGINS[self.name]) is None
        yield
        assert self.victim.ask(ENDS[self.name]) is None


@pytest.fixture(params=["locked", "full", "protected"])
def trouble(request: pytest.FixtureRequest, victim: Victim) -> Trouble:
    if request.param == "full" and not victim.own_disk:
        pytest.skip("this system grants no small disk to fill")
    return Trouble(request.param, victim)


def test_what_cannot_be_stored_is_refused_and_can_be_handed_in_again(victim: Victim, trouble: Trouble) -> None:
    """The student is told at once that it is our fault; nothing of it is stored, and the next one is graded."""
    with trouble.lasting():
        victim.expect_refusal(victim.submit())

    state, report = victim.end(victim.submit())
    assert (state, report.score) == ("done", 100.0)


@pytest.mark.parametrize("trouble", ["locked", "full"], indirect=True)
def test_what_cannot_be_claimed_or_stored_waits_and_is_graded_once(victim: Victim, trouble: Trouble) -> None:
    """A verdict that nobody takes and a job that nobody can claim stay; one report each when the trouble is over."""
    running = [victim.submit(slow(0.4), exercise) for exercise in ("softmax", "again")]
    waiting = victim.submit(exercise="more")
    for id in running:
        victim.reaches(id, "running")
    with trouble.lasting():
        victim.has_logged("could not be stored", "could not reach the queue")
        assert {victim.state(id) for id in running} <= {"running", "queued"}
        assert victim.state(waiting) == "queued"

    ends = [victim.end(id) for id in (*running, waiting)]
    assert [(state, report.score) for state, report in ends] == [("done", 100.0)] * 3
    assert victim.ask("used", victim.name) == {"softmax": 1, "again": 1, "more": 1}
