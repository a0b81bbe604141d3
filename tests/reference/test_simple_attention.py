"""The reference of simple attention."""

import pytest
import torch
from torch.nn import functional as F

from reference.simple_attention import roles, scores_of, simple_attention
from tests.reference.conftest import draw


def test_the_published_tables_come_out(table):
    """Scores, weights and context of the six published embeddings are the published ones."""
    x = table("simple-attention-context").input
    queries, keys, _ = roles(x)

    context, weights = simple_attention(x)

    assert table("simple-attention-scores").agrees_with(scores_of(queries, keys))
    assert table("simple-attention-weights").agrees_with(weights)
    assert table("simple-attention-context").agrees_with(context)


@pytest.mark.parametrize(("time", "d"), [(5, 3), (11, 2), (1, 3)])
def test_it_agrees_with_torch(time, d):
    """Context and gradient in float64 are those of F.scaled_dot_product_attention, told to scale by 1."""
    ours, theirs = (draw(time, d, seed=1).requires_grad_() for _ in range(2))
    upstream = draw(time, d, seed=2)

    context, _ = simple_attention(ours)
    expected = F.scaled_dot_product_attention(theirs, theirs, theirs, scale=1.0)
    context.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(context, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


def test_very_large_scores_leave_no_nan():
    """A token that is long beyond the exponent's range finds itself alone."""
    x = draw(5, 3, seed=1) * 1000.0

    context, weights = simple_attention(x)

    assert weights.isfinite().all()
    torch.testing.assert_close(context, weights @ x, rtol=0.0, atol=1e-9)


def test_shuffled_tokens_give_shuffled_results():
    """No position is special: context and weights move with their tokens."""
    x, order = draw(5, 3, seed=1), [3, 0, 4, 1, 2]

    context, weights = simple_attention(x)
    shuffled, shuffled_weights = simple_attention(x[order])

    torch.testing.assert_close(shuffled, context[order], rtol=0.0, atol=1e-12)
    torch.testing.assert_close(shuffled_weights, weights[order][:, order], rtol=0.0, atol=1e-12)


def test_the_statements_example_is_true():
    """The three tokens of the statement give the numbers printed there."""
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])

    context, weights = simple_attention(x)

    expected = torch.tensor([[0.4223, 0.1554, 0.4223], [0.1554, 0.4223, 0.4223], [0.2119, 0.2119, 0.5761]])
    assert torch.allclose(weights, expected, rtol=0.0, atol=5.1e-5)
    expected = torch.tensor([[0.8446, 0.5777], [0.5777, 0.8446], [0.7881, 0.7881]])
    assert torch.allclose(context, expected, rtol=0.0, atol=5.1e-5)
