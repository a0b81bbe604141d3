"""Refusals that may come late, and must be of one kind."""

from __future__ import annotations

import pytest

from grader.exercise.catalog import Exercise
from grader.judge.report import Verdict
from tests.checks.workshop import BLOCK, BLOCK_TOML, build, change, grade_here, line

_LINE = "odd: rejects invalid arguments"
_TOML = change(BLOCK_TOML, ('check = "refusal"', 'check = "refusal"\nlate = true\nerror = "ValueError"'))
_ASSERT, _RAISE = "assert d_out % num_heads == 0", "if d_out % num_heads: raise ValueError('no')"
_EARLY = change(BLOCK, (_ASSERT, _RAISE))
_FIRST = "y = self.W_query(x)"
_LATE = change(
    BLOCK, (_ASSERT, "self.bad = d_out % num_heads"), (_FIRST, f"if self.bad: raise ValueError('no')\n        {_FIRST}")
)
_MISTAKES = """
from torch import nn
from grader.exercise.mistakes import mistake

@mistake(replaces="Block.forward", dimension="numerics")
def doubles(self, x):
    '''You double everything.

    Look for a 2.
    '''
    return self.dropout(2 * self.W_query(x))

@mistake(replaces="Block.__init__", dimension="shapes")
def accepts(self, d_in, d_out, num_heads, dropout):
    '''You accept everything.

    Look at the heads.
    '''
    nn.Module.__init__(self)
    self.W_query = nn.Linear(d_in, d_out)
    self.dropout = nn.Dropout(dropout)
"""


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    """A module that refuses some widths with a ValueError, at once."""
    return build(tmp_path_factory.mktemp("block"), _TOML, _EARLY, _MISTAKES)


@pytest.mark.parametrize("source", [_EARLY, _LATE], ids=["at once", "at the first call"])
def test_a_refusal_may_come_at_once_or_late(source: str, block: Exercise) -> None:
    """The constructor may raise, or the first call."""
    assert grade_here(block, source).score == 100


_WRONG = {
    "another error at once": (change(_EARLY, ("ValueError", "TypeError")), "a ValueError; yours raised TypeError: no"),
    "another error late": (change(_LATE, ("ValueError", "KeyError")), "a ValueError; yours raised KeyError"),
    "no error": (change(_EARLY, (_RAISE, "pass")), "your module must raise a ValueError; yours accepts this"),
}


@pytest.mark.parametrize(("source", "words"), _WRONG.values(), ids=_WRONG.keys())
def test_a_refusal_must_be_of_the_kind_that_is_asked_for(source: str, words: str, block: Exercise) -> None:
    """Any other error, or none, fails, and says which was wanted."""
    found = line(grade_here(block, source), _LINE)

    assert (found.status, found.earned) == (Verdict.FAILED, 0)
    assert words in found.message


def test_a_mistake_is_named_although_the_reference_never_gets_to_the_refused_call(block: Exercise) -> None:
    """What comes behind the reference's refusal has nothing to be compared with."""
    twice = (_FIRST, "y = 2 * self.W_query(x)")
    further = (_RAISE, "self.gain = nn.Linear(2, 3) if d_out % num_heads else None")
    expected = {
        "doubles": (change(_EARLY, twice), change(_LATE, twice)),
        "accepts": (change(_EARLY, (_RAISE, "pass")), change(_EARLY, further)),
    }

    for name, sources in expected.items():
        for source in sources:
            assert [found.mistake for found in grade_here(block, source).diagnosis] == [name]
