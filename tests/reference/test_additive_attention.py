"""The reference of additive attention."""

import pytest
import torch

from reference.additive_attention import AdditiveAttention
from tests.reference.conftest import draw


def by_the_formula(attention, outputs, state):
    """Return context and weights of one sentence, a position at a time and a feature at a time."""
    first, second, v = attention.W1.weight, attention.W2.weight, attention.v
    scores = [
        sum(v[a] * torch.tanh(first[a] @ output + second[a] @ state) for a in range(len(v))) for output in outputs
    ]
    total = sum(score.exp() for score in scores)
    weights = [score.exp() / total for score in scores]
    return sum(weight * output for weight, output in zip(weights, outputs, strict=True)), torch.stack(weights)


@pytest.mark.parametrize(("batch", "time"), [(1, 1), (2, 5), (3, 4)])
def test_it_is_the_formula(batch, time):
    """Written out for each sentence, each position and each feature, it gives the same numbers and gradients."""
    attention = AdditiveAttention(3, 4, 5).double()
    ours, theirs = (
        (draw(batch, time, 3, seed=1).requires_grad_(), draw(batch, 4, seed=2).requires_grad_()) for _ in range(2)
    )

    context, weights = attention(*ours)
    expected = [by_the_formula(attention, outputs, state) for outputs, state in zip(*theirs, strict=True)]
    (context * draw(batch, 3, seed=3)).sum().backward()
    (torch.stack([one for one, _ in expected]) * draw(batch, 3, seed=3)).sum().backward()

    torch.testing.assert_close(context, torch.stack([one for one, _ in expected]), rtol=0.0, atol=1e-12)
    torch.testing.assert_close(weights, torch.stack([one for _, one in expected]), rtol=0.0, atol=1e-12)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad, rtol=0.0, atol=1e-12)


def test_the_example_of_the_statement_is_right():
    """Two positions, all widths 1: weights 0.2761 and 0.7239, context 0.4479."""
    attention = AdditiveAttention(1, 1, 1)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.fill_(1.0)

    context, weights = attention(torch.tensor([[[-1.0], [1.0]]]), torch.tensor([[1.0]]))

    torch.testing.assert_close(weights, torch.tensor([[0.2761, 0.7239]]), rtol=0.0, atol=5e-5)
    torch.testing.assert_close(context, torch.tensor([[0.4479]]), rtol=0.0, atol=5e-5)


def test_positions_may_change_places():
    """Attention knows no order: the weights move with the positions, the context stays."""
    attention, outputs, state = AdditiveAttention(3, 4, 5).double(), draw(2, 6, 3, seed=1), draw(2, 4, seed=2)
    order = torch.tensor([3, 0, 5, 1, 4, 2])

    context, weights = attention(outputs, state)
    again, moved = attention(outputs[:, order], state)

    torch.testing.assert_close(again, context, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(moved, weights[:, order], rtol=0.0, atol=1e-12)
