"""The reference of ALiBi, against the slopes of the paper and those of a published model."""

from __future__ import annotations

import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from reference.alibi import alibi_bias, slopes


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 5, 6, 7, 8, 12, 20, 33])
def test_the_slopes_are_those_of_bloom(heads: int) -> None:
    """That model multiplies them with the keys' positions; its second column holds the slopes themselves."""
    theirs = build_alibi_tensor(torch.ones(1, 2), heads, torch.float64)[:, 0, 1]

    assert torch.allclose(torch.tensor(slopes(heads), dtype=torch.float64), theirs, rtol=1e-6, atol=0)


def test_eight_heads_have_the_slopes_of_the_paper() -> None:
    """One half, one quarter, and so on down to 2 to the -8."""
    assert slopes(8) == [2.0**-power for power in range(1, 9)]


def test_the_weights_are_those_of_the_published_bias() -> None:
    """Within a row, counting from either end differs by a constant, which a softmax does not see."""
    torch.manual_seed(1)
    heads, time = 6, 5
    scores = torch.randn(heads, time, time, dtype=torch.float64)
    theirs = scores + build_alibi_tensor(torch.ones(1, time), heads, torch.float64)
    hidden = torch.ones(time, time, dtype=torch.bool).triu(1)
    expected = theirs.masked_fill(hidden, -torch.inf).softmax(-1)

    assert torch.allclose((scores + alibi_bias(heads, time)).softmax(-1), expected, rtol=0, atol=1e-7)


def test_the_statements_example_comes_out() -> None:
    """The first of four heads, three tokens."""
    low = -torch.inf

    assert alibi_bias(4, 3)[0].tolist() == [[0, low, low], [-0.25, 0, low], [-0.5, -0.25, 0]]
    assert slopes(3) == [1 / 16, 1 / 256, 1 / 4]
