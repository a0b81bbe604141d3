"""A grading that nobody waits for ends where it is, also while the cause of a mistake is looked for."""

from __future__ import annotations

import pytest

from grader.box.cancel import CancelToken
from grader.box.inline import InlineBox
from grader.errors import Stopped
from grader.exercise.catalog import ROOT, Exercise, read_exercise
from grader.judge.grade import decide

# Its gradients are explained by no mistake, so all of them are tried, and all pairs.
_WRONG = """
import torch

def softmax(x, dim=-1):
    kept = x * 1.37 - (x * 0.37).detach()
    shifted = kept - kept.max(dim=dim, keepdim=True).values
    powers = torch.exp(shifted)
    return powers / powers.sum(dim=dim, keepdim=True)
"""


class _Short(CancelToken):
    """A token that is cancelled when it has been checked so often."""

    def __init__(self, looks: int | None = None) -> None:
        super().__init__()
        self._looks, self.asked = looks, 0

    def check(self) -> None:
        """Count the question."""
        self.asked += 1
        if self.asked == self._looks:
            self.cancel()
        super().check()


@pytest.fixture(scope="module")
def softmax() -> Exercise:
    """Give an exercise with many mistakes whose trials cost next to nothing."""
    return read_exercise(ROOT / "exercises" / "softmax")


def _grade(exercise: Exercise, cancel: CancelToken) -> None:
    report, complete = decide(exercise, _WRONG, seed=7, box=InlineBox(), cancel=cancel)
    assert complete
    complete(cancel)
    assert 0 < report.score < 100, report


def test_every_trial_of_the_search_asks_whether_to_go_on(softmax: Exercise) -> None:
    """An answer that nothing explains costs a trial for each mistake and each two; before each one is asked."""
    cancel = _Short()
    _grade(softmax, cancel)

    assert cancel.asked > 3 * len(softmax.mistakes)


@pytest.mark.parametrize("looks", [1, 2, 10, 30])
def test_a_search_ends_where_it_is_stopped(looks: int, softmax: Exercise) -> None:
    """Nothing is tried after the cancel, and no report with a missing cause is made of it."""
    cancel = _Short(looks)
    with pytest.raises(Stopped):
        _grade(softmax, cancel)

    assert cancel.asked == looks
