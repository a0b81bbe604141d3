"""What one process knows about its own gradings."""

from __future__ import annotations

import math

import torch

from grader.box.observations import LOSSES, CallSeen, Presence, Seen
from grader.jobs.live import Live
from grader.store.records import SubmissionId


def trained(name: str, losses: list[float]) -> CallSeen:
    """Return a finished call that trained."""
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
