"""Numbers that somebody typed, or copied from what Python, NumPy or PyTorch print."""

from __future__ import annotations

from contextlib import suppress

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.errors import Rejected
from grader.judge.tryout import LONGEST, read_scalar, read_tensor

PAIR = torch.zeros(2, 2, dtype=torch.float64)


@pytest.mark.parametrize(
    "text",
    [
        "[[1, 2.5], [3, -4]]",
        "[[1. 2.5]\n [3. -4.]]",
        "tensor([[ 1.0000,  2.5000],\n        [ 3.0000, -4.0000]])",
        "torch.tensor([[1e0, 25e-1], [3, -4]])",
        "array([[1., 2.5],\n       [3., -4.]])",
        "[[1,2.5,],[3,-4,],]",
    ],
)
def test_what_the_tools_print_is_taken(text: str) -> None:
    """The same numbers in all of their ways to write them."""
    assert torch.equal(read_tensor("x", text, PAIR), torch.tensor([[1, 2.5], [3, -4]], dtype=torch.float64))


def test_infinities_flags_and_whole_numbers_are_taken_in_their_dtype() -> None:
    """As the argument has it."""
    assert read_tensor("x", "[[-inf, 0], [inf, 1]]", PAIR)[0, 0] == float("-inf")
    assert read_tensor("mask", "[[True False] [0 1]]", PAIR.bool()).tolist() == [[True, False], [False, True]]
    assert read_tensor("seq", "[[1, 2], [3, 4]]", PAIR.long(), below=5).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a bracket is not closed"),
        ("1, 2", "start with a bracket"),
        ("[[1, 2], [3]]", "all rows must be equally long; one has 2 entries, another 1"),
        ("[[1, 2], 3]", "numbers and lists are mixed"),
        ("[[1, 2], [3, 4]]]", "something follows after the last bracket"),
        ("[[1, 2], [3, 4]", "a bracket is not closed"),
        ("[[1, x], [3, 4]]", "cannot read 'x], \\[3, 4\\]\\]'"),
        ("[[[[[[[1]]]]]]]", "more than 6 brackets"),
        ("[1, 2]", "`x` needs 2 axes; what you typed has 1 axis"),
        ("[[" + "1, " * 600 + "]]", "at most 512 numbers"),
        ("[" * LONGEST + "1", f"at most {LONGEST} characters"),
        ("__import__('os')", "cannot read"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, why: str) -> None:
    """With the name of the argument, and what to type."""
    with pytest.raises(Rejected, match=why):
        read_tensor("x", text, PAIR)


@pytest.mark.parametrize("text", ["[[0.5, 1], [1, 1]]", "[[5, 1], [1, 1]]", "[[-1, 1], [1, 1]]", "[[nan, 1], [1, 1]]"])
def test_whole_numbers_are_within_their_range(text: str) -> None:
    """A token that is none, or half of one."""
    with pytest.raises(Rejected, match="`seq` takes whole numbers from 0 to 4 only"):
        read_tensor("seq", text, PAIR.long(), below=5)


def test_flags_are_true_or_false() -> None:
    """Two is neither."""
    with pytest.raises(Rejected, match="True or False"):
        read_tensor("mask", "[[2, 0], [0, 0]]", PAIR.bool())


def test_scalars_keep_their_type() -> None:
    """A count stays a count, and a small one; a sentence is taken as it is."""
    assert read_scalar("p", " 0.5 ", 0.1) == 0.5
    assert read_scalar("n", "12", 3) == 12
    assert read_scalar("causal", "True", False) is True
    assert read_scalar("sentence", "Life, is short ", "x") == "Life, is short"
    for text, like in (("1.5", 3), ("1e9", 3), ("nan", 3), ("yes", True), ("", 0.5)):
        with pytest.raises(Rejected, match="must be"):
            read_scalar("n", text, like)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="[],.-+eE019 infatru\n()", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    """It gives a tensor of two axes, or says why not."""
    with suppress(Rejected):
        assert read_tensor("x", text, PAIR).dim() == 2
