"""The reference of strided attention."""

import pytest
import torch
from torch.nn import functional as F

from reference.strided_attention import strided_attention, visible
from tests.reference.conftest import draw


def allowed(time, stride):
    """Return the pattern as a table of booleans, cell by cell from the contract's words."""
    table = torch.zeros(time, time, dtype=torch.bool)
    for i in range(time):
        for j in range(i + 1):
            table[i, j] = i - j < stride or (i - j) % stride == 0
    return table


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 7, 20])
@pytest.mark.parametrize("time", [1, 5, 13])
def test_it_agrees_with_torch_under_the_pattern(time, stride):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention with the pattern as its mask."""
    tensors = [draw(2, 3, time, 4, seed=seed) for seed in (1, 2, 3)]
    upstream = draw(2, 3, time, 4, seed=4)
    ours, theirs = ([tensor.clone().requires_grad_() for tensor in tensors] for _ in range(2))

    output = strided_attention(*ours, stride)
    expected = F.scaled_dot_product_attention(*theirs, attn_mask=allowed(time, stride))
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("stride", [1, 9])
def test_stride_one_and_long_strides_see_the_whole_past(stride):
    """Both ends of the range are causal attention."""
    query, key, value = (draw(2, 3, 9, 4, seed=seed) for seed in (1, 2, 3))

    found = strided_attention(query, key, value, stride)

    expected = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    torch.testing.assert_close(found, expected, rtol=0.0, atol=1e-12)


def test_the_example_of_the_statement_comes_out():
    """Equal scores, five values, stride 2."""
    values = torch.tensor([10.0, 20.0, 30.0, 40.0, 50.0]).reshape(1, 1, 5, 1)
    nothing = torch.zeros(1, 1, 5, 1)

    found = strided_attention(nothing, nothing, values, 2).flatten()

    torch.testing.assert_close(found, torch.tensor([10.0, 15.0, 20.0, 30.0, 32.5]))


def test_only_the_distance_counts():
    """The pattern of a later part of the sequence is that of its beginning."""
    whole = visible(torch.zeros(13, 13), 4)

    assert torch.equal(whole[5:, 5:], whole[:-5, :-5])
    assert torch.equal(whole, allowed(13, 4))
