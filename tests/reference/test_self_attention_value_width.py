"""The reference of self-attention with values of their own width."""

import pytest
import torch
from torch.nn import functional as F

from reference.self_attention_value_width import SelfAttention
from tests.reference.conftest import draw


def test_the_published_table_comes_out_under_its_seed(table):
    """Query, key and value are drawn in that order with torch.rand, so that the published seed gives the table."""
    published = table("self-attention-values-wider")
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])

    found = SelfAttention(settings["d_in"], settings["d_out_kq"], settings["d_out_v"])(x)

    assert published.agrees_with(found)


@pytest.mark.parametrize("name", ["self-attention-parameters", "self-attention-square"])
def test_equal_widths_give_the_tables_of_plain_self_attention(table, name):
    """With values as wide as keys it is the module of the exercise before."""
    published = table(name)
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])

    found = SelfAttention(settings["d_in"], settings["d_out"], settings["d_out"])(x)

    assert published.agrees_with(found)


@pytest.mark.parametrize("widths", [(3, 2, 4), (7, 5, 2), (2, 6, 13), (3, 5, 5)])
@pytest.mark.parametrize("time", [1, 11])
def test_it_agrees_with_torch(time, widths):
    """Output and all gradients in float64 are those of F.scaled_dot_product_attention on the projections."""
    attention = SelfAttention(*widths).double()
    ours, theirs = (draw(time, widths[0], seed=1).requires_grad_() for _ in range(2))
    matrices = [weight.detach().clone().requires_grad_() for weight in attention.parameters()]
    upstream = draw(time, widths[2], seed=2)

    output = attention(ours)
    expected = F.scaled_dot_product_attention(*(theirs @ matrix for matrix in matrices))
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)
    for weight, matrix in zip(attention.parameters(), matrices, strict=True):
        torch.testing.assert_close(weight.grad, matrix.grad, rtol=0.0, atol=1e-12)


def test_each_column_of_the_values_stands_for_itself():
    """With some columns of W_value alone, the output is those columns of the whole one."""
    whole, part = SelfAttention(3, 2, 5).double(), SelfAttention(3, 2, 2).double()
    x = draw(6, 3, seed=1)
    with torch.no_grad():
        for name in ("W_query", "W_key"):
            getattr(part, name).copy_(getattr(whole, name))
        part.W_value.copy_(whole.W_value[:, 1:3])

    torch.testing.assert_close(part(x), whole(x)[:, 1:3], rtol=0.0, atol=1e-12)


def test_the_statements_example_is_true():
    """The two tokens of the statement give the numbers printed there."""
    attention, x = SelfAttention(2, 2, 3), torch.eye(2)
    with torch.no_grad():
        attention.W_query.copy_(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
        attention.W_key.copy_(torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
        attention.W_value.copy_(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))

    queries, keys, _ = attention.project(x)

    assert torch.equal(queries @ keys.T, torch.tensor([[2.0, 0.0], [1.0, 1.0]]))
    assert torch.allclose(attention.weigh(queries, keys), torch.tensor([[0.8044, 0.1956], [0.5, 0.5]]), atol=5.1e-5)
    expected = torch.tensor([[1.5867, 2.5867, 3.5867], [2.5, 3.5, 4.5]])
    assert torch.allclose(attention(x), expected, rtol=0.0, atol=5.1e-5)
