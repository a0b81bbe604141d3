"""The reference of dropout on attention weights."""

import pytest
import torch
from torch.nn import functional as F

from reference.attention_dropout import attention_dropout, rescale, silence


def draw_weights(*shape, seed):
    """Return rows of attention weights in float64."""
    numbers = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return numbers.softmax(dim=-1)


def as_torch_drops(weights, p):
    """Return True where torch's own dropout would leave a weight, from the generator as it stands."""
    return torch.empty_like(weights).bernoulli_(1 - p).bool()


def test_the_published_weights_are_dropped_as_published(table):
    """With the numbers that torch draws under the published seed, the published table comes out."""
    weights, published = table("causal-weights").expected, table("dropped-causal-weights")
    p = published.settings["dropout"]
    torch.manual_seed(published.settings["manual_seed"])

    found = rescale(silence(weights, as_torch_drops(weights, p)), p)

    assert torch.allclose(found, published.expected, rtol=0.0, atol=2.1e-4)  # twice the rounding of the weights


@pytest.mark.parametrize("p", [0.0, 0.3, 0.8, 1.0])
def test_it_agrees_with_torch_on_what_torch_draws(p):
    """Output and gradient in float64 are those of F.dropout, where both drop the same weights."""
    ours, theirs = (draw_weights(2, 3, 5, 7, seed=1).requires_grad_() for _ in range(2))
    upstream = draw_weights(2, 3, 5, 7, seed=2)

    torch.manual_seed(4)
    output = rescale(silence(ours, as_torch_drops(ours, p)), p)
    torch.manual_seed(4)
    expected = F.dropout(theirs, p)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9])
def test_the_right_share_is_dropped_and_the_average_stays(p):
    """Of a hundred thousand weights, p are zero up to five standard deviations; the others grow by 1/(1 - p)."""
    weights = torch.full((100, 1000), 0.25, dtype=torch.float64)
    torch.manual_seed(3)

    dropped = attention_dropout(weights, p)

    share = (dropped == 0).double().mean().item()
    assert abs(share - p) <= 5 * (p * (1 - p) / weights.numel()) ** 0.5
    torch.testing.assert_close(dropped[dropped != 0], torch.full_like(dropped[dropped != 0], 0.25 / (1 - p)))


@pytest.mark.parametrize("p", [0.0, 0.4, 1.0])
def test_evaluation_changes_nothing(p):
    """Whatever p is, the weights come out as they went in."""
    weights = draw_weights(3, 5, 7, seed=1)

    assert torch.equal(attention_dropout(weights, p, training=False), weights)


def test_nothing_and_everything_are_dropped_without_an_infinity():
    """With p = 0 the weights stay; with p = 1 output and gradient are zeros."""
    weights = draw_weights(5, 7, seed=1).requires_grad_()

    nothing_dropped, everything_dropped = attention_dropout(weights, 0.0), attention_dropout(weights, 1.0)
    everything_dropped.sum().backward()

    assert torch.equal(nothing_dropped, weights)
    assert not everything_dropped.any()
    assert torch.equal(weights.grad, torch.zeros_like(weights))


def test_the_statements_example_is_true():
    """The draw of the statement gives the numbers and the gradient printed there."""
    weights = torch.tensor([0.4, 0.3, 0.2, 0.1], requires_grad=True)

    dropped = rescale(silence(weights, torch.tensor([True, False, True, False])), 0.5)
    dropped.sum().backward()

    assert torch.allclose(dropped, torch.tensor([0.8, 0.0, 0.4, 0.0]))
    assert weights.grad.tolist() == [2.0, 0.0, 2.0, 0.0]
