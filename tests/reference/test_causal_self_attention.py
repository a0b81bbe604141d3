"""The reference of causal self-attention."""

import math

import pytest
import torch
from torch import nn

from reference.causal_self_attention import CausalSelfAttention, hide_future, merge, mix, normalise, scores_of, split
from reference.multi_head_attention import MultiHeadAttention
from tests.reference.conftest import draw


def made(num_heads=3, **settings):
    """Return a module of width 12 in evaluation mode, with biases that are not zero."""
    torch.manual_seed(0)
    return CausalSelfAttention(12, num_heads, **settings).double().eval()


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


@pytest.mark.parametrize("num_heads", [1, 3, 12])
@pytest.mark.parametrize("time", [1, 5, 8])
def test_it_agrees_with_torch(time, num_heads):
    """Output, weights and gradients in float64 are those of nn.MultiheadAttention with a causal mask."""
    attention = made(num_heads)
    ours, theirs = (draw(2, time, 12, seed=1).requires_grad_() for _ in range(2))
    upstream, future = draw(2, time, 12, seed=2), torch.ones(time, time, dtype=torch.bool).triu(1)

    output, weights = attention(ours)
    expected = torchs_own(attention)(theirs, theirs, theirs, attn_mask=future, average_attn_weights=False)
    output.backward(upstream)
    expected[0].backward(upstream)

    torch.testing.assert_close((output, weights), expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


def test_it_is_multi_head_attention_of_a_sequence_with_itself():
    """Under a causal mask, multi-head attention with the same weights gives the same output and weights."""
    causal, general = made(), MultiHeadAttention(12, 3).double().eval()
    general.load_state_dict(causal.state_dict())
    x, mask = draw(2, 5, 12, seed=1), torch.ones(1, 1, 5, 5, dtype=torch.bool).tril()

    torch.testing.assert_close(causal(x), general(x, x, x, mask), rtol=0.0, atol=0.0)


def test_a_longer_sequence_begins_like_a_shorter_one():
    """What comes later changes nothing before it."""
    attention, x = made(), draw(2, 7, 12, seed=1)

    short, long = attention(x[:, :4])[0], attention(x)[0]

    torch.testing.assert_close(short, long[:, :4], rtol=0.0, atol=1e-12)


def test_the_contracts_defaults_are_there():
    """Sequences of 512 tokens and a dropout of 0.1, unless something else is given."""
    attention = made()

    assert (attention.max_len, attention.dropout.p) == (512, 0.1)


def test_the_statements_example_is_true():
    """From the projections of the statement, the heads find the numbers printed there."""
    queries = torch.ones(1, 3, 2)
    keys = torch.tensor([[[0.0, 0.0], [0.0, math.log(2.0)], [0.0, 0.0]]])
    values = torch.tensor([[[6.0, 0.0], [0.0, 3.0], [3.0, 4.0]]])

    weights = normalise(hide_future(scores_of(split(queries, 2), split(keys, 2))))

    torch.testing.assert_close(weights[0, 0], torch.tensor([[1.0, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]))
    torch.testing.assert_close(weights[0, 1], torch.tensor([[1.0, 0, 0], [1 / 3, 2 / 3, 0], [1 / 4, 1 / 2, 1 / 4]]))
    torch.testing.assert_close(merge(mix(weights, split(values, 2))), torch.tensor([[[6.0, 0], [3, 2], [3, 2.5]]]))
