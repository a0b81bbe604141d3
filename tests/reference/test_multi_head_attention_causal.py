"""The reference of causal multi-head attention."""

import pytest
import torch
from torch import nn

from reference.causal_attention import CausalAttention
from reference.multi_head_attention_causal import MultiHeadAttention, merge, mix, split
from tests.reference.conftest import draw


def torchs_own(ours):
    """Return nn.MultiheadAttention with the weights of `ours`, whose input is as wide as its output."""
    width = ours.W_out.out_features
    theirs = nn.MultiheadAttention(width, ours.num_heads, batch_first=True, dtype=torch.float64)
    layers = (ours.W_query, ours.W_key, ours.W_value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        theirs.out_proj.weight.copy_(ours.W_out.weight)
        theirs.out_proj.bias.copy_(ours.W_out.bias)
    return theirs


@pytest.mark.parametrize("num_heads", [1, 3, 12])
@pytest.mark.parametrize("time", [1, 5, 8])
def test_it_agrees_with_torch(num_heads, time):
    """Output and gradients in float64 are those of nn.MultiheadAttention with a causal mask."""
    attention = MultiHeadAttention(12, 12, 8, 0.5, num_heads, qkv_bias=True).double().eval()
    ours, theirs = (draw(2, time, 12, seed=1).requires_grad_() for _ in range(2))
    upstream, future = draw(2, time, 12, seed=2), torch.ones(time, time, dtype=torch.bool).triu(1)

    output = attention(ours)
    expected, _ = torchs_own(attention)(theirs, theirs, theirs, attn_mask=future)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


def test_one_head_is_causal_attention_before_the_output_projection():
    """With a single head, and an output projection that changes nothing, it is causal attention."""
    single, many = CausalAttention(3, 4, 5, 0.0).double(), MultiHeadAttention(3, 4, 5, 0.0, num_heads=1).double()
    many.load_state_dict({**single.state_dict(), "W_out.weight": torch.eye(4), "W_out.bias": torch.zeros(4)})
    x = draw(2, 5, 3, seed=1)

    torch.testing.assert_close(many(x), single(x), rtol=0.0, atol=1e-12)


def test_consecutive_features_make_a_head():
    """Head 1 of two owns the second half of each token's features, and merging undoes splitting."""
    x = torch.arange(24.0).view(2, 3, 4)

    heads = split(x, num_heads=2)

    assert torch.equal(heads[:, 1], x[..., 2:])
    assert torch.equal(merge(heads), x)


def test_heads_that_do_not_fit_are_refused():
    """The message names both numbers."""
    with pytest.raises(ValueError, match=r"d_out \(10\) must be divisible by num_heads \(3\)"):
        MultiHeadAttention(7, 10, 5, 0.0, num_heads=3)


def test_the_statements_example_is_true():
    """Mixed with the weights of the statement, its values give the numbers printed there."""
    values = split(torch.tensor([[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]), num_heads=2)
    weights = torch.tensor([[[[1.0, 0.0], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]]])

    assert merge(mix(weights, values)).tolist() == [[[1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 7.0, 8.0]]]
