"""The reference of attention with relative positions."""

import math

import pytest
import torch
from torch.nn import functional as F
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from reference.relative_position import RelativeSelfAttention
from tests.reference.conftest import draw


def attention(d_model, num_heads, max_distance):
    """Return a module in float64."""
    torch.manual_seed(1)
    return RelativeSelfAttention(d_model, num_heads, max_distance).double()


def written_out(table, time, max_distance):
    """Return the biases (h, T, T), one number after the other, as the statement says."""
    bias = torch.empty(table.shape[1], time, time, dtype=table.dtype)
    for head in range(table.shape[1]):
        for i in range(time):
            for j in range(time):
                far = min(max(j - i, -max_distance), max_distance)
                bias[head, i, j] = table[far + max_distance, head]
    return bias


@pytest.mark.parametrize(("time", "max_distance"), [(7, 3), (5, 9), (6, 5), (4, 1), (1, 2), (23, 4)])
def test_it_agrees_with_torch(time, max_distance):
    """The output is that of F.scaled_dot_product_attention with the biases as a mask to be added."""
    module, x = attention(12, 3, max_distance), draw(2, time, 12, seed=2)
    queries, keys, values = (part.unflatten(2, (3, 4)).transpose(1, 2) for part in module.project(x))

    output, weights = module(x)
    bias = written_out(module.relative_bias.weight, time, max_distance)
    context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)

    torch.testing.assert_close(output, module.W_out(context.transpose(1, 2).flatten(2)), rtol=0.0, atol=1e-12)
    torch.testing.assert_close(weights @ values, context, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("time", "max_distance"), [(7, 3), (4, 6)])
def test_gradients_agree_with_torch(time, max_distance):
    """So do the gradients of the input, of the biases' table, and of every other parameter."""
    ours, theirs = attention(12, 3, max_distance), attention(12, 3, max_distance)
    x, y = (draw(2, time, 12, seed=2).requires_grad_() for _ in range(2))
    upstream = draw(2, time, 12, seed=3)

    ours(x)[0].backward(upstream)
    queries, keys, values = (part.unflatten(2, (3, 4)).transpose(1, 2) for part in theirs.project(y))
    bias = written_out(theirs.relative_bias.weight, time, max_distance)
    context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
    theirs.W_out(context.transpose(1, 2).flatten(2)).backward(upstream)

    torch.testing.assert_close(x.grad, y.grad, rtol=0.0, atol=1e-12)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0.0, atol=1e-12)


def test_near_distances_have_the_biases_of_a_published_model():
    """T5 has a row for each near distance, on either side; with its rows moved to their places, the biases are ours."""
    half, heads = 8, 3
    config = T5Config(
        d_model=12, d_kv=4, num_heads=heads, relative_attention_num_buckets=2 * half, relative_attention_max_distance=64
    )
    theirs = T5Attention(config, has_relative_attention_bias=True)
    reach = half // 2 - 1  # farther ones share rows there
    ours = RelativeSelfAttention(12, heads, reach)
    for far in range(-reach, reach + 1):
        row = abs(far) + (half if far > 0 else 0)
        ours.relative_bias.weight.data[far + reach] = theirs.relative_attention_bias.weight.data[row]

    assert torch.equal(ours.bias(reach + 1), theirs.compute_bias(reach + 1, reach + 1)[0])


def test_only_distances_count():
    """The bias of tokens 3 to 7 among themselves is that of tokens 0 to 4."""
    bias = attention(12, 3, 2).bias(8)

    assert torch.equal(bias[:, 3:, 3:], bias[:, :5, :5])


def test_the_statements_example_is_true():
    """Without queries, the biases of the statement give the weights that are printed there."""
    module = attention(2, 1, 1)
    module.W_query.weight.data.zero_()
    module.W_query.bias.data.zero_()
    module.relative_bias.weight.data.copy_(torch.tensor([[math.log(2)], [0.0], [math.log(3)]]))

    _, weights = module(draw(1, 3, 2, seed=4))

    expected = torch.tensor([[1 / 7, 3 / 7, 3 / 7], [2 / 6, 1 / 6, 3 / 6], [2 / 5, 2 / 5, 1 / 5]], dtype=torch.float64)
    torch.testing.assert_close(weights[0, 0], expected, rtol=0.0, atol=1e-7)
