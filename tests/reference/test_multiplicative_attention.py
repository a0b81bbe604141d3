"""The reference of multiplicative attention."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from reference.additive_attention import AdditiveAttention
from reference.multiplicative_attention import MultiplicativeAttention
from tests.reference.conftest import draw


def both_sides(encoder_dim, decoder_dim):
    """Return encoder outputs of two sentences of five words, and a state for each, that want gradients."""
    return draw(2, 5, encoder_dim, seed=1).requires_grad_(), draw(2, decoder_dim, seed=2).requires_grad_()


def assert_agree(ours, theirs, inputs):
    """Compare two contexts, and the gradients that come back through them to both inputs."""
    upstream = draw(*ours.shape, seed=3)
    mine, other = (torch.autograd.grad(context, inputs, upstream) for context in (ours, theirs))
    for one, two in zip((ours, *mine), (theirs, *other), strict=True):
        torch.testing.assert_close(one, two, rtol=0.0, atol=1e-12)


def test_dot_is_torchs_attention_without_its_scale():
    """One query a sentence: F.scaled_dot_product_attention with scale 1 gives the same context."""
    outputs, state = inputs = both_sides(4, 4)

    context, _ = MultiplicativeAttention(4, 4, "dot")(outputs, state)

    assert_agree(context, F.scaled_dot_product_attention(state[:, None], outputs, outputs, scale=1.0)[:, 0], inputs)


def test_general_is_torchs_bilinear_form():
    """The scores are those of nn.Bilinear, and the context follows from them."""
    attention, outputs, state = MultiplicativeAttention(4, 3).double(), *both_sides(4, 3)
    form = nn.Bilinear(4, 3, 1, bias=False).double()
    with torch.no_grad():
        form.weight[0] = attention.W.weight.T
    scores = form(outputs, state[:, None].expand(-1, 5, -1).contiguous())[..., 0]

    context, weights = attention(outputs, state)

    torch.testing.assert_close(weights, F.softmax(scores, dim=1), rtol=0.0, atol=1e-12)
    assert_agree(context, torch.einsum("bt,bte->be", F.softmax(scores, dim=1), outputs), (outputs, state))


def test_concat_is_additive_attention_with_one_matrix_for_both():
    """W beside the encoder is W1, beside the decoder W2."""
    attention, outputs, state = MultiplicativeAttention(4, 3, "concat").double(), *both_sides(4, 3)
    additive = AdditiveAttention(4, 3, 3).double()
    with torch.no_grad():
        additive.W1.weight.copy_(attention.W.weight[:, :4])
        additive.W2.weight.copy_(attention.W.weight[:, 4:])
        additive.v.copy_(attention.v)

    context, weights = attention(outputs, state)
    expected, same = additive(outputs, state)

    torch.testing.assert_close(weights, same, rtol=0.0, atol=1e-12)
    assert_agree(context, expected, (outputs, state))


@pytest.mark.parametrize("method", ["Dot", "", "bilinear", None])
def test_an_unknown_method_is_refused(method):
    """The text names those that there are."""
    with pytest.raises(ValueError, match="method must be one of dot, general, concat"):
        MultiplicativeAttention(4, 4, method)


@pytest.mark.parametrize(("method", "expected"), [("dot", [0.25, 0.75]), ("general", [0.75, 0.25])])
def test_the_examples_of_the_statement_are_right(method, expected):
    """Two positions that are the two axes: the context is the weights themselves."""
    attention = MultiplicativeAttention(2, 2, method)
    if method == "general":
        with torch.no_grad():
            attention.W.weight.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))

    context, weights = attention(torch.eye(2)[None], torch.tensor([[0.0, math.log(3.0)]]))

    torch.testing.assert_close(weights, torch.tensor([expected]))
    torch.testing.assert_close(context, torch.tensor([expected]))
