"""The reference of self-attention with a mask."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from reference.self_attention_masked import SelfAttention
from tests.reference.conftest import draw

CAUSAL = torch.ones(5, 5, dtype=torch.bool).tril()
PADDING = (torch.arange(5) < torch.tensor([[4], [2], [5]]))[:, None]  # (3, 1, 5)
MASKS = {
    "none": None,
    "causal": CAUSAL,
    "one for all": CAUSAL[None],
    "padding": PADDING,
    "both": PADDING & CAUSAL,
    "whole numbers": PADDING.long(),
    "floating point": CAUSAL.double(),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_it_agrees_with_torch_under_every_mask(mask):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention on the projections."""
    attention = SelfAttention(4).double()
    ours, theirs = (draw(3, 5, 4, seed=1).requires_grad_() for _ in range(2))
    upstream = draw(3, 5, 4, seed=2)

    output, _ = attention(ours, mask)
    projections = (F.linear(theirs, layer.weight, layer.bias) for layer in attention.children())
    expected = F.scaled_dot_product_attention(*projections, attn_mask=None if mask is None else mask.bool())
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_output_and_weights_are_those_of_multihead_attention(causal, padded):
    """With one head, the same projections and nothing after it, nn.MultiheadAttention returns the same two."""
    attention, x = SelfAttention(4).double(), draw(3, 5, 4, seed=1)
    official = nn.MultiheadAttention(4, 1, batch_first=True, dtype=torch.float64)
    layers = list(attention.children())
    with torch.no_grad():
        official.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        official.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        official.out_proj.weight.copy_(torch.eye(4))
    allowed = (CAUSAL if causal else torch.ones_like(CAUSAL)) & (PADDING if padded else torch.ones_like(PADDING))

    output, weights = attention(x, allowed)
    hidden = {"attn_mask": ~CAUSAL if causal else None, "key_padding_mask": ~PADDING[:, 0] if padded else None}
    expected_output, expected_weights = official(x, x, x, **hidden)

    torch.testing.assert_close(output, expected_output, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(weights, expected_weights, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", ["self-attention-linear", "self-attention-square-linear"])
def test_its_steps_give_the_published_tables(table, name):
    """On projections made under the published seed, weighing and mixing without a mask give the published output."""
    published = table(name)
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])
    queries, keys, values = (nn.Linear(settings["d_in"], settings["d_out"], bias=False)(x) for _ in range(3))
    attention = SelfAttention(settings["d_out"])

    found = attention.gather(attention.weigh(queries, keys, None), values)

    assert published.agrees_with(found)


def test_a_causal_mask_gives_the_published_weights(table):
    """On projections made under the published seed, a triangle as the mask gives the published causal weights."""
    published = table("causal-weights")
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])
    queries, keys = (nn.Linear(settings["d_in"], settings["d_out"], bias=False)(x) for _ in range(2))

    found = SelfAttention(settings["d_out"]).weigh(queries, keys, torch.ones(6, 6).tril())

    assert published.agrees_with(found)


def test_zeros_and_ones_are_understood_like_booleans():
    """The same mask gives the very same result in each kind of numbers."""
    attention, x = SelfAttention(4), draw(3, 5, 4, seed=1).float()
    output, weights = attention(x, PADDING)

    for kind in (torch.int64, torch.uint8, torch.float32, torch.float64):
        same, same_weights = attention(x, PADDING.to(kind))
        assert torch.equal(output, same)
        assert torch.equal(weights, same_weights)


def test_a_padded_sequence_begins_like_the_shorter_one():
    """What padding hides changes nothing before it."""
    attention, x = SelfAttention(4).double(), draw(1, 5, 4, seed=1)

    output, _ = attention(x, PADDING[1:2])
    short, _ = attention(x[:, :2])

    torch.testing.assert_close(output[:, :2], short, rtol=0.0, atol=1e-12)


def test_the_statements_example_is_true():
    """The three tokens of the statement give the numbers printed there."""
    attention, x = SelfAttention(2), torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    matrices = torch.eye(2), torch.eye(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    biases = torch.zeros(2), torch.zeros(2), torch.tensor([10.0, 0.0])
    with torch.no_grad():
        for layer, matrix, bias in zip(attention.children(), matrices, biases, strict=True):
            layer.weight.copy_(matrix.T)
            layer.bias.copy_(bias)

    output, weights = attention(x, torch.tensor([[[1, 1, 0]]]))

    assert torch.equal(attention.W_value(x)[0], torch.tensor([[11.0, 2.0], [13.0, 4.0], [14.0, 6.0]]))
    expected = torch.tensor([[0.6698, 0.3302, 0.0], [0.3302, 0.6698, 0.0], [0.5, 0.5, 0.0]])
    assert torch.allclose(weights[0], expected, rtol=0.0, atol=5.1e-5)
    expected = torch.tensor([[11.6605, 2.6605], [12.3395, 3.3395], [12.0, 3.0]])
    assert torch.allclose(output[0], expected, rtol=0.0, atol=6e-5)
