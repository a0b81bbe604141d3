"""The reference of softmax."""

import math

import pytest
import torch

from reference.softmax import softmax


def test_published_scores_give_the_published_weights(table):
    """The table of scores of simple attention becomes its table of weights."""
    found = softmax(table("simple-attention-scores").expected)

    assert table("simple-attention-weights").agrees_with(found)


def test_published_causal_scores_give_the_published_causal_weights(table):
    """Scores with -inf in the future, divided by √2, become the table of causal weights."""
    scores = table("causal-scores")

    found = softmax(scores.expected / math.sqrt(scores.settings["d_out"]))

    assert table("causal-weights").agrees_with(found)


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_it_agrees_with_torch_along_every_axis(dim):
    """In float64 the values are those of torch.softmax."""
    x = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

    torch.testing.assert_close(softmax(x, dim), torch.softmax(x, dim), rtol=0.0, atol=1e-12)


def test_the_last_axis_is_the_default():
    """Without `dim` the rows add up to one."""
    x = torch.randn(3, 5, generator=torch.Generator().manual_seed(2), dtype=torch.float64)

    torch.testing.assert_close(softmax(x), torch.softmax(x, -1), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("shift", [-1e4, 0.0, 1e4])
@pytest.mark.parametrize(("dtype", "rtol"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_far_from_zero_it_agrees_with_torch(shift, dtype, rtol):
    """Scores near ±10,000, some of them -inf, give finite weights, also in float32."""
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(3), dtype=dtype) + shift
    x[:, 2] = -torch.inf

    torch.testing.assert_close(softmax(x), torch.softmax(x, -1), rtol=rtol, atol=0.0)


def test_its_gradient_agrees_with_torch():
    """The gradients are those of torch.softmax, and zero at -inf."""
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    x[1:, 2] = -torch.inf
    upstream = torch.randn(4, 6, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()

    softmax(ours).backward(upstream)
    torch.softmax(theirs, -1).backward(upstream)

    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)
