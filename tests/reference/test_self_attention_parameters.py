"""The reference of self-attention with bare parameters."""

import pytest
import torch
from torch.nn import functional as F

from reference.self_attention_parameters import SelfAttention
from tests.reference.conftest import draw


@pytest.mark.parametrize("name", ["self-attention-parameters", "self-attention-square"])
def test_the_published_table_comes_out_under_its_seed(table, name):
    """Query, key and value are drawn in that order with torch.rand, so that the published seed gives the table."""
    published = table(name)
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])

    found = SelfAttention(settings["d_in"], settings["d_out"])(x)

    assert published.agrees_with(found)


@pytest.mark.parametrize(("time", "d_in", "d_out"), [(5, 3, 4), (11, 7, 2), (1, 3, 4)])
def test_it_agrees_with_torch(time, d_in, d_out):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention on the projections."""
    attention = SelfAttention(d_in, d_out).double()
    ours, theirs = (draw(time, d_in, seed=1).requires_grad_() for _ in range(2))
    upstream = draw(time, d_out, seed=2)

    output = attention(ours)
    expected = F.scaled_dot_product_attention(*(theirs @ weight for weight in attention.parameters()))
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


def test_shuffled_tokens_give_shuffled_outputs():
    """No position is special: the outputs move with their tokens."""
    attention = SelfAttention(3, 4).double()
    x, order = draw(5, 3, seed=1), [3, 0, 4, 1, 2]

    shuffled = attention(x[order])

    torch.testing.assert_close(shuffled, attention(x)[order], rtol=0.0, atol=1e-12)


def test_the_statements_example_is_true():
    """The two tokens of the statement give the numbers printed there."""
    attention, x = SelfAttention(2, 2), torch.eye(2)
    with torch.no_grad():
        attention.W_query.copy_(torch.tensor([[2.0, 0.0], [0.0, 0.0]]))
        attention.W_key.copy_(torch.eye(2))
        attention.W_value.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))

    queries, keys, _ = attention.project(x)

    assert torch.allclose(attention.weigh(queries, keys), torch.tensor([[0.8044, 0.1956], [0.5, 0.5]]), atol=5e-5)
    assert torch.allclose(attention(x), torch.tensor([[1.3911, 2.3911], [2.0, 3.0]]), atol=5.1e-5)
