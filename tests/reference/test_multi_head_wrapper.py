"""The reference of the wrapper around several heads."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from reference.multi_head_wrapper import MultiHeadAttentionWrapper, join, mix
from tests.reference.conftest import draw


def test_the_published_table_comes_out_under_its_seed(table):
    """With one head it is self-attention with values of a width of their own, and gives its published table."""
    published = table("self-attention-values-wider")
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])

    found = MultiHeadAttentionWrapper(settings["d_in"], settings["d_out_kq"], settings["d_out_v"], num_heads=1)(x)

    assert published.agrees_with(found)


@pytest.mark.parametrize(("time", "d_out_kq", "d_out_v", "num_heads"), [(5, 2, 4, 3), (1, 3, 2, 5), (7, 4, 3, 1)])
def test_it_agrees_with_torch(time, d_out_kq, d_out_v, num_heads):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention with an axis of heads."""
    wrapper = MultiHeadAttentionWrapper(6, d_out_kq, d_out_v, num_heads).double()
    ours, theirs = (draw(time, 6, seed=1).requires_grad_() for _ in range(2))
    upstream = draw(time, num_heads * d_out_v, seed=2)
    names = ("W_query", "W_key", "W_value")
    stacks = [torch.stack([getattr(head, name) for head in wrapper.heads]) for name in names]

    output = wrapper(ours)
    expected = F.scaled_dot_product_attention(*(theirs @ matrices for matrices in stacks))  # (h, T, d_out_v)
    expected = expected.transpose(0, 1).flatten(1)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


def test_it_agrees_with_torchs_own_heads():
    """Where all widths are equal it is nn.MultiheadAttention whose output projection changes nothing."""
    wrapper = MultiHeadAttentionWrapper(12, 4, 4, num_heads=3).double()
    theirs = nn.MultiheadAttention(12, 3, bias=False, batch_first=True, dtype=torch.float64)
    wide = [torch.cat([getattr(h, n) for h in wrapper.heads], dim=1).T for n in ("W_query", "W_key", "W_value")]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat(wide))
        theirs.out_proj.weight.copy_(torch.eye(12))
    x = draw(5, 12, seed=1)

    torch.testing.assert_close(wrapper(x), theirs(x, x, x)[0], rtol=0.0, atol=1e-12)


def test_a_head_does_not_notice_the_others():
    """Changing the matrices of one head changes its features and no others."""
    wrapper, x = MultiHeadAttentionWrapper(5, 2, 4, num_heads=3).double(), draw(7, 5, seed=1)
    before = wrapper(x)
    with torch.no_grad():
        wrapper.heads[1].W_query.mul_(-2.0)

    moved = (wrapper(x) != before).any(dim=0)

    assert moved.tolist() == [False] * 4 + [True] * 4 + [False] * 4


def test_the_statements_example_is_true():
    """Mixed with the weights of the statement, its values give the numbers printed there."""
    values = torch.tensor([[1.0], [3.0]]), torch.tensor([[10.0], [20.0]])
    weights = torch.tensor([[0.5, 0.5], [0.0, 1.0]]), torch.tensor([[1.0, 0.0], [0.25, 0.75]])

    found = join([mix(w, v) for w, v in zip(weights, values, strict=True)])

    assert found.tolist() == [[2.0, 10.0], [3.0, 17.5]]
