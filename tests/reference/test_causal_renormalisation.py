"""The reference of causal weights by renormalising."""

import pytest
import torch

from reference.causal_renormalisation import hide, renormalise_causal, totals, visible
from reference.causal_weights import causal_attention_weights
from reference.self_attention_linear import SelfAttention
from tests.reference.conftest import draw


def full_weights(published):
    """Return the weights over the whole sequence, under a published table's seed and initialisation."""
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])
    if settings["init"] == "linear":
        attention = SelfAttention(settings["d_in"], settings["d_out"])
        queries, keys, _ = attention.project(x)
    else:
        queries, keys = (x @ torch.rand(settings["d_in"], settings["d_out_kq"]) for _ in range(2))
    return torch.softmax(queries @ keys.T / keys.shape[-1] ** 0.5, dim=-1)


@pytest.mark.parametrize("name", ["causal-weights", "causal-renormalised"])
def test_the_published_table_comes_out_under_its_seed(name, table):
    """Both published tables of causal weights are the full weights, renormalised."""
    published = table(name)

    assert published.agrees_with(renormalise_causal(full_weights(published)))


@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (3, 5, 5), (2, 3, 4, 4)])
def test_it_agrees_with_torchs_softmax_of_hidden_scores(shape):
    """Output, and the gradient that reaches the scores, are those of hiding with -inf before the softmax."""
    ours, theirs = (draw(*shape, seed=1).requires_grad_() for _ in range(2))
    upstream, future = draw(*shape, seed=2), torch.ones(shape[-2:], dtype=torch.bool).triu(1)

    output = renormalise_causal(ours.softmax(dim=-1))
    expected = theirs.masked_fill(future, float("-inf")).softmax(dim=-1)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


def test_the_gradient_is_the_difference_quotient():
    """In float64, for weights of any size, faint ones too."""
    weights = torch.tensor([[0.2, 0.3, 0.5], [1e-3, 2e-3, 0.997], [0.1, 0.6, 0.3]], dtype=torch.float64)

    assert torch.autograd.gradcheck(renormalise_causal, weights.requires_grad_(), eps=1e-7)


def test_the_future_has_no_say_in_the_gradient():
    """What goes back to a weight of the future is exactly zero."""
    weights = draw(2, 5, 5, seed=1).softmax(dim=-1).requires_grad_()

    renormalise_causal(weights).backward(draw(2, 5, 5, seed=2))

    assert not weights.grad.triu(1).any()
    assert weights.grad.tril()[:, 1:].any()


def test_it_is_what_hiding_scores_gives():
    """The other way to causal weights, from the raw scores, gives the same."""
    scores = draw(3, 5, 5, seed=1)

    renormalised = renormalise_causal(torch.softmax(scores / 7**0.5, dim=-1))

    torch.testing.assert_close(renormalised, causal_attention_weights(scores, 7), rtol=0.0, atol=1e-12)


def test_the_statements_example_is_true():
    """The table of the statement, its sums and its result are the numbers printed there."""
    weights = torch.tensor([[0.2, 0.3, 0.5], [0.1, 0.3, 0.6], [0.5, 0.3, 0.2]], dtype=torch.float64)
    expected = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.5, 0.3, 0.2]], dtype=torch.float64)

    assert torch.allclose(totals(hide(weights, visible(weights))).flatten(), torch.tensor([0.2, 0.4, 1.0]).double())
    assert torch.allclose(renormalise_causal(weights), expected)
