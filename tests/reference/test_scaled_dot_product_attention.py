"""The reference of scaled dot-product attention."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from reference.scaled_dot_product_attention import scaled_dot_product_attention
from tests.reference.conftest import draw


def projected(table):
    """Return the queries, keys and values of a published table, made under its seed."""
    settings, x = table.settings, table.input
    d_kq = settings.get("d_out_kq", settings.get("d_out"))
    widths = [d_kq, d_kq, settings.get("d_out_v", settings.get("d_out"))]
    torch.manual_seed(settings["manual_seed"])
    if settings["init"] == "rand":
        return [x @ torch.rand(settings["d_in"], width) for width in widths]
    return [nn.Linear(settings["d_in"], width, bias=False)(x) for width in widths]


@pytest.mark.parametrize(
    "name",
    [
        "self-attention-parameters",
        "self-attention-linear",
        "self-attention-values-wider",
        "self-attention-square",
        "self-attention-square-linear",
    ],
)
def test_published_projections_give_the_published_output(table, name):
    """Self-attention from the published seeds gives the published tables."""
    published = table(name)

    output, _ = scaled_dot_product_attention(*projected(published))

    assert published.agrees_with(output)


@pytest.mark.parametrize("name", ["causal-weights", "causal-renormalised"])
def test_a_causal_mask_gives_the_published_weights(table, name):
    """Both published ways of causal masking give what the mask gives here."""
    published = table(name)
    causal = torch.ones(6, 6, dtype=torch.bool).tril()

    _, weights = scaled_dot_product_attention(*projected(published), causal)

    assert published.agrees_with(weights)


MASKS = {
    "none": None,
    "causal": torch.ones(5, 7, dtype=torch.bool).tril(),
    "padding": (torch.arange(7) < torch.tensor([[6], [3]]))[:, None, None],
    "both": (torch.arange(7) < torch.tensor([[6], [3]]))[:, None, None] & torch.ones(5, 7, dtype=torch.bool).tril(),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_it_agrees_with_torch_under_every_mask(mask):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention."""
    tensors = draw(2, 3, 5, 4, seed=1), draw(2, 3, 7, 4, seed=2), draw(2, 3, 7, 6, seed=3)
    upstream = draw(2, 3, 5, 6, seed=4)
    ours, theirs = ([tensor.clone().requires_grad_() for tensor in tensors] for _ in range(2))

    output, _ = scaled_dot_product_attention(*ours, mask)
    expected = F.scaled_dot_product_attention(*theirs, attn_mask=mask)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0.0, atol=1e-12)


def test_its_weights_agree_with_multihead_attention():
    """With identity projections, nn.MultiheadAttention returns the same weights."""
    query, key, value = draw(2, 5, 4, seed=1), draw(2, 7, 4, seed=2), draw(2, 7, 4, seed=3)
    official = nn.MultiheadAttention(4, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        official.in_proj_weight.copy_(torch.eye(4).repeat(3, 1))
        official.out_proj.weight.copy_(torch.eye(4))
    hidden = ~MASKS["padding"].reshape(2, 7)

    output, weights = scaled_dot_product_attention(query, key, value, MASKS["padding"].reshape(2, 1, 7))
    expected_output, expected_weights = official(query, key, value, key_padding_mask=hidden)

    torch.testing.assert_close(output, expected_output, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(weights, expected_weights, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (2, 3, 4)])
def test_leading_axes_are_independent(leading):
    """Any number of leading axes gives what their last matrices give one by one."""
    query, key, value = draw(*leading, 5, 4, seed=1), draw(*leading, 7, 4, seed=2), draw(*leading, 7, 6, seed=3)

    output, weights = scaled_dot_product_attention(query, key, value)
    stacks = (tensor.reshape(-1, *tensor.shape[-2:]) for tensor in (query, key, value))
    alone = [scaled_dot_product_attention(*matrices) for matrices in zip(*stacks, strict=True)]

    expected_output = torch.stack([pair[0] for pair in alone]).reshape(*leading, 5, 6)
    expected_weights = torch.stack([pair[1] for pair in alone]).reshape(*leading, 5, 7)
    torch.testing.assert_close(output, expected_output, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(weights, expected_weights, rtol=0.0, atol=1e-12)
