"""The reference of multi-head attention."""

import math

import pytest
import torch
from torch import nn

from reference.multi_head_attention import MultiHeadAttention, apply_mask, merge, mix, normalise, scores_of, split
from tests.reference.conftest import draw


def torchs_own(ours):
    """Return nn.MultiheadAttention with the weights of `ours`."""
    theirs = nn.MultiheadAttention(ours.W_out.in_features, ours.num_heads, batch_first=True, dtype=torch.float64)
    layers = (ours.W_query, ours.W_key, ours.W_value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        theirs.out_proj.weight.copy_(ours.W_out.weight)
        theirs.out_proj.bias.copy_(ours.W_out.bias)
    return theirs


def made(num_heads=3, dropout=0.5):
    """Return a module of width 12 in evaluation mode, with biases that are not zero."""
    torch.manual_seed(0)
    return MultiHeadAttention(12, num_heads, dropout).double().eval()


def mask_of(kind, queries, keys):
    """Return a mask for a batch of two, True where a query may attend; every query may see the first key."""
    if kind == "none":
        return None
    if kind == "padding":
        return (torch.arange(keys) < torch.tensor([[keys - 1], [2]])).view(2, 1, 1, keys)
    allowed = torch.rand(2, 1, queries, keys, generator=torch.Generator().manual_seed(3)) < 0.6
    return allowed | (torch.arange(keys) == 0)


@pytest.mark.parametrize("mask", ["none", "padding", "any"])
@pytest.mark.parametrize("num_heads", [1, 3, 12])
@pytest.mark.parametrize(("queries", "keys"), [(5, 7), (6, 3), (1, 4), (5, 5)])
def test_it_agrees_with_torch(queries, keys, num_heads, mask):
    """Output, weights and gradients in float64 are those of nn.MultiheadAttention, which hides where a mask is True."""
    attention, allowed = made(num_heads), mask_of(mask, queries, keys)
    hidden = None if allowed is None else ~allowed.expand(2, num_heads, queries, keys).flatten(0, 1)
    inputs = [draw(2, queries, 12, seed=1), draw(2, keys, 12, seed=2), draw(2, keys, 12, seed=3)]
    ours, theirs = ([x.clone().requires_grad_() for x in inputs] for _ in range(2))

    output, weights = attention(*ours, mask=allowed)
    expected = torchs_own(attention)(*theirs, attn_mask=hidden, average_attn_weights=False)
    upstream = draw(2, queries, 12, seed=4)
    output.backward(upstream)
    expected[0].backward(upstream)

    torch.testing.assert_close((output, weights), expected, rtol=0.0, atol=1e-12)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad, rtol=0.0, atol=1e-12)


def test_zeros_and_ones_hide_as_booleans_do():
    """A mask of whole numbers or of floating-point ones means the same as one of booleans."""
    attention, mask = made(), mask_of("any", 5, 7)
    inputs = draw(2, 5, 12, seed=1), draw(2, 7, 12, seed=2), draw(2, 7, 12, seed=3)

    expected = attention(*inputs, mask=mask)

    for dtype in (torch.int64, torch.float64, torch.uint8):
        torch.testing.assert_close(attention(*inputs, mask=mask.to(dtype)), expected, rtol=0.0, atol=0.0)


def test_without_a_word_it_drops_a_tenth():
    """The dropout of the contract is 0.1 unless another one is given."""
    assert MultiHeadAttention(12, 3).dropout.p == 0.1


def test_dropout_falls_on_the_weights_and_in_training_alone():
    """With everything dropped the heads find nothing, so the output is the bias of the output projection."""
    attention = made(dropout=1.0)
    x = draw(2, 5, 12, seed=1)

    assert not torch.allclose(attention(x, x, x)[0], attention.W_out.bias)
    attention.train()
    assert torch.equal(attention(x, x, x)[0], attention.W_out.bias.expand(2, 5, 12))


def test_the_statements_example_is_true():
    """From the projections of the statement, the heads find the numbers printed there."""
    queries = torch.tensor([[[1.0, 2.0]]])
    keys = torch.tensor([[[0.0, 0.0], [math.log(3.0), 0.0], [5.0, 5.0]]])
    values = torch.tensor([[[4.0, 2.0], [8.0, 6.0], [100.0, 100.0]]])
    mask = torch.tensor([[[[True, True, False]]]])

    weights = normalise(apply_mask(scores_of(split(queries, 2), split(keys, 2)), mask))

    torch.testing.assert_close(weights, torch.tensor([[[[0.25, 0.75, 0.0]], [[0.5, 0.5, 0.0]]]]))
    torch.testing.assert_close(merge(mix(weights, split(values, 2))), torch.tensor([[[7.0, 4.0]]]))
