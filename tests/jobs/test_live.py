"""What one process knows about its own gradings."""

from __future__ import annotations

import time

from grader.jobs.live import Live
from grader.store.records import SubmissionId


def grade(live: Live, seconds: float, *, withdrawn: bool = False) -> None:
    """Be busy for a while."""
    with live.grading(SubmissionId("s")) as tracker:
        tracker.withdrawn = withdrawn
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass


def test_nothing_is_foretold_before_the_first_grading() -> None:
    """Without a grading to go by there is no number; one that was cancelled is none."""
    live = Live()
    grade(live, 0.0, withdrawn=True)

    assert live.eta(3) is None


def test_the_wait_follows_from_the_median_and_the_slots() -> None:
    """Two slots come free twice per median; one slow grading among quick ones changes nothing."""
    live = Live()
    live.slots = 2
    for seconds in (0.1, 0.1, 0.3):
        grade(live, seconds)

    assert (live.eta(0), live.eta(59)) == (1, 4)
