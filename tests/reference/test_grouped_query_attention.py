"""The reference of grouped-query attention."""

import pytest
import torch
from torch.nn import functional as F

from reference.grouped_query_attention import GroupedQueryAttention, merge, mix, share, split
from reference.multi_head_attention_causal import MultiHeadAttention
from tests.reference.conftest import draw


def made(num_heads, num_kv_heads):
    """Return a module of width 24."""
    torch.manual_seed(0)
    return GroupedQueryAttention(24, num_heads, num_kv_heads).double()


def torchs_own(ours, x):
    """Return what F.scaled_dot_product_attention gives with the weights of `ours`; it shares heads out by itself."""
    heads = (ours.num_heads, ours.num_kv_heads, ours.num_kv_heads)
    layers = (ours.W_query, ours.W_key, ours.W_value)
    parts = [layer(x).unflatten(-1, (h, -1)).transpose(1, 2) for layer, h in zip(layers, heads, strict=True)]
    return ours.W_out(
        F.scaled_dot_product_attention(*parts, is_causal=True, enable_gqa=True).transpose(1, 2).flatten(2)
    )


@pytest.mark.parametrize(("num_heads", "num_kv_heads"), [(6, 3), (6, 2), (6, 1), (6, 6), (8, 2), (24, 4)])
@pytest.mark.parametrize("time", [1, 5, 8])
def test_it_agrees_with_torch(time, num_heads, num_kv_heads):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention, told to group its queries."""
    attention, upstream = made(num_heads, num_kv_heads), draw(2, time, 24, seed=2)
    ours, theirs = (draw(2, time, 24, seed=1).requires_grad_() for _ in range(2))

    output, expected = attention(ours), torchs_own(attention, theirs)
    wanted = torch.autograd.grad(expected, (theirs, *attention.parameters()), upstream)
    found = torch.autograd.grad(output, (ours, *attention.parameters()), upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(found, wanted, rtol=0.0, atol=1e-12)


def test_with_as_many_heads_of_keys_it_is_multi_head_attention():
    """Nothing is shared then: causal multi-head attention with the same weights gives the same."""
    grouped, plain, x = made(6, 6), MultiHeadAttention(24, 24, 8, 0.0, num_heads=6).double(), draw(2, 5, 24, seed=1)
    plain.load_state_dict({**grouped.state_dict(), "W_out.bias": torch.zeros(24)})

    torch.testing.assert_close(grouped(x), plain(x), rtol=0.0, atol=1e-12)


def test_it_is_multi_head_attention_with_repeated_columns():
    """The same comes out if the columns of keys and values are written down once for each head that reads them."""
    grouped, plain, x = made(6, 2), GroupedQueryAttention(24, 6, 6).double(), draw(2, 5, 24, seed=1)
    state = grouped.state_dict()
    for name in ("W_key.weight", "W_value.weight"):
        blocks = state[name].unflatten(0, (2, 4))  # (g, d_head, d_model)
        state[name] = torch.stack([blocks[0], blocks[0], blocks[0], blocks[1], blocks[1], blocks[1]]).flatten(0, 1)
    plain.load_state_dict(state)

    torch.testing.assert_close(grouped(x), plain(x), rtol=0.0, atol=1e-12)


def test_keys_and_values_are_as_narrow_as_they_can_be():
    """Two heads of four features each, and no bias anywhere."""
    shapes = {name: tuple(parameter.shape) for name, parameter in made(6, 2).named_parameters()}

    assert shapes == {"W_query.weight": (24, 24), "W_key.weight": (8, 24), "W_value.weight": (8, 24)} | {
        "W_out.weight": (24, 24)
    }


def test_the_statements_example_is_true():
    """Four heads read the values (1, 2, 3, 4) of one token as the statement says."""
    values = share(split(torch.tensor([[[1.0, 2.0, 3.0, 4.0]]]), num_heads=2), num_heads=4)

    assert merge(mix(torch.ones(1, 4, 1, 1), values)).tolist() == [[[1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]]]
