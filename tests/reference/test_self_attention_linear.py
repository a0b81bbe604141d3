"""The reference of self-attention with linear layers."""

import pytest
import torch
from torch.nn import functional as F

from reference.self_attention_linear import SelfAttention
from tests.reference.conftest import draw


@pytest.mark.parametrize("name", ["self-attention-linear", "self-attention-square-linear"])
def test_the_published_table_comes_out_under_its_seed(table, name):
    """The layers are made in the order query, key, value, so that the published seed gives the table."""
    published = table(name)
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])

    found = SelfAttention(settings["d_in"], settings["d_out"])(x)

    assert published.agrees_with(found)


@pytest.mark.parametrize("qkv_bias", [False, True])
@pytest.mark.parametrize(("time", "d_in", "d_out"), [(5, 3, 4), (11, 7, 2), (1, 3, 4)])
def test_it_agrees_with_torch(time, d_in, d_out, qkv_bias):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention on the projections."""
    attention = SelfAttention(d_in, d_out, qkv_bias).double()
    ours, theirs = (draw(time, d_in, seed=1).requires_grad_() for _ in range(2))
    upstream = draw(time, d_out, seed=2)

    output = attention(ours)
    projections = (F.linear(theirs, layer.weight, layer.bias) for layer in attention.children())
    expected = F.scaled_dot_product_attention(*projections)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


def test_a_bias_of_the_keys_changes_nothing():
    """It adds the same amount to every score of a row, which the softmax does not notice."""
    attention, x = SelfAttention(3, 4, qkv_bias=True).double(), draw(5, 3, seed=1)
    before = attention(x)

    with torch.no_grad():
        attention.W_key.bias.add_(2.0)

    torch.testing.assert_close(attention(x), before, rtol=0.0, atol=1e-12)


def test_the_statements_example_is_true():
    """The two tokens of the statement give the numbers printed there."""
    attention, x = SelfAttention(2, 2, qkv_bias=True), torch.eye(2)
    weights = torch.tensor([[2.0, 0.0], [0.0, 0.0]]), torch.eye(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    biases = torch.tensor([0.0, 1.0]), torch.tensor([0.0, 0.0]), torch.tensor([10.0, 0.0])
    with torch.no_grad():
        for layer, weight, bias in zip(attention.children(), weights, biases, strict=True):
            layer.weight.copy_(weight.T)
            layer.bias.copy_(bias)

    queries, keys, _ = attention.project(x)

    assert torch.allclose(attention.weigh(queries, keys), torch.tensor([[0.6698, 0.3302], [0.3302, 0.6698]]), atol=5e-5)
    assert torch.allclose(attention(x), torch.tensor([[11.6605, 2.6605], [12.3395, 3.3395]]), atol=6e-5)
