"""The reference of causal weights."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from reference.causal_weights import causal_attention_weights, hide_future
from tests.reference.conftest import draw


def raw_scores(published):
    """Return the plain dot products of queries and keys under a published table's seed."""
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])
    if settings["init"] == "rand":
        queries, keys = (x @ torch.rand(settings["d_in"], settings["d_out_kq"]) for _ in range(2))
    else:
        queries, keys = (nn.Linear(settings["d_in"], settings["d_out"], bias=False)(x) for _ in range(2))
    return queries @ keys.T


@pytest.mark.parametrize("name", ["causal-weights", "causal-renormalised"])
def test_the_published_weights_come_out_under_their_seed(table, name):
    """The raw scores of both published layers give their published causal weights."""
    published = table(name)

    assert published.agrees_with(causal_attention_weights(raw_scores(published), 2))


def test_the_published_scores_are_hidden_as_published(table):
    """-inf stands where the published table has it."""
    published = table("causal-scores")

    assert published.agrees_with(hide_future(raw_scores(published)))


@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (2, 3, 5)])
@pytest.mark.parametrize(("time", "d_k"), [(1, 4), (6, 4), (5, 16)])
def test_it_agrees_with_torch(leading, time, d_k):
    """Weights are those that F.scaled_dot_product_attention, told to be causal, mixes an identity with."""
    queries, keys = draw(*leading, time, d_k, seed=1), draw(*leading, time, d_k, seed=2)

    weights = causal_attention_weights(queries @ keys.mT, d_k)
    identity = torch.eye(time, dtype=torch.float64).expand(*leading, time, time)
    expected = F.scaled_dot_product_attention(queries, keys, identity, is_causal=True)

    torch.testing.assert_close(weights, expected, rtol=0.0, atol=1e-12)


def test_its_gradient_is_that_of_finite_differences():
    """Gradcheck agrees, for a table with leading axes."""
    scores = draw(2, 3, 4, 4, seed=1).requires_grad_()

    assert torch.autograd.gradcheck(lambda table: causal_attention_weights(table, 5), scores)


def test_the_future_gets_no_gradient():
    """Scores above the diagonal change nothing, so nothing comes back to them."""
    scores = draw(2, 6, 6, seed=1).requires_grad_()

    causal_attention_weights(scores, 3).backward(draw(2, 6, 6, seed=2))

    assert torch.equal(scores.grad.triu(diagonal=1), torch.zeros(2, 6, 6, dtype=torch.float64))


def test_the_statements_example_is_true():
    """The table of the statement gives the numbers printed there."""
    scores = torch.tensor([[4.0, 9.0, 9.0], [2.0, 0.0, 9.0], [0.0, 2.0, 2.0]])

    weights = causal_attention_weights(scores, 4)

    expected = torch.tensor([[1.0, 0.0, 0.0], [0.7311, 0.2689, 0.0], [0.1554, 0.4223, 0.4223]])
    assert torch.allclose(weights, expected, rtol=0.0, atol=5.1e-5)
