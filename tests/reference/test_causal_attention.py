"""The reference of causal attention."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from reference.causal_attention import CausalAttention, drop
from tests.reference.conftest import draw


def test_the_published_output_comes_out_under_its_seed(table):
    """In training mode, under the published seed, it gives the published table: weights drawn, then weights dropped."""
    published = table("causal-attention")
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])

    found = CausalAttention(settings["d_in"], settings["d_out"], x.shape[1], settings["dropout"])(x)

    assert published.agrees_with(found)


def weights_of(published):
    """Return the causal weights under a published table's seed."""
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])
    attention = CausalAttention(settings["d_in"], settings["d_out"], len(x), 0.0)
    queries, keys, _ = attention.project(x)
    return attention.weigh(queries, keys)


def test_the_published_weights_come_out_under_their_seed(table):
    """Its attention weights, without dropout, are the published ones."""
    published = table("causal-weights")

    assert published.agrees_with(weights_of(published))


def test_the_published_weights_are_dropped_as_published(table):
    """Under the published seed the weights lose those that the published table lost, and the others are doubled."""
    published, weights = table("dropped-causal-weights"), weights_of(table("causal-weights"))
    torch.manual_seed(published.settings["manual_seed"])

    assert published.agrees_with(drop(weights, nn.Dropout(published.settings["dropout"])))


@pytest.mark.parametrize("qkv_bias", [False, True])
@pytest.mark.parametrize("time", [1, 5, 7])
def test_it_agrees_with_torch(time, qkv_bias):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention, told to be causal."""
    attention = CausalAttention(3, 4, 7, 0.5, qkv_bias).double().eval()
    ours, theirs = (draw(2, time, 3, seed=1).requires_grad_() for _ in range(2))
    upstream = draw(2, time, 4, seed=2)

    output = attention(ours)
    layers = (attention.W_query, attention.W_key, attention.W_value)
    projections = (F.linear(theirs, layer.weight, layer.bias) for layer in layers)
    expected = F.scaled_dot_product_attention(*projections, is_causal=True)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


def test_a_longer_sequence_begins_like_a_shorter_one():
    """What comes later changes nothing before it."""
    attention, x = CausalAttention(3, 4, 7, 0.0).double(), draw(2, 7, 3, seed=1)

    short, long = attention(x[:, :4]), attention(x)

    torch.testing.assert_close(short, long[:, :4], rtol=0.0, atol=1e-12)
