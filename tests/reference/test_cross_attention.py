"""The reference of cross-attention."""

import pytest
import torch
from torch.nn import functional as F

from reference.cross_attention import CrossAttention
from tests.reference.conftest import draw


def test_one_sequence_in_both_places_gives_the_published_self_attention(table):
    """Called with the same sequence twice, under the published seed, it gives the table of self-attention."""
    published = table("self-attention-values-wider")
    x, widths = published.input, (published.settings[name] for name in ("d_in", "d_out_kq", "d_out_v"))
    torch.manual_seed(published.settings["manual_seed"])

    found = CrossAttention(*widths)(x, x)

    assert published.agrees_with(found)


@pytest.mark.parametrize(("length_1", "length_2"), [(4, 6), (6, 4), (5, 5), (1, 3), (3, 1)])
def test_it_agrees_with_torch(length_1, length_2):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention on the projections."""
    attention = CrossAttention(3, 2, 5).double()
    tensors = draw(length_1, 3, seed=1), draw(length_2, 3, seed=2)
    ours, theirs = ([tensor.clone().requires_grad_() for tensor in tensors] for _ in range(2))
    upstream = draw(length_1, 5, seed=3)

    output = attention(*ours)
    x_1, x_2 = theirs
    expected = F.scaled_dot_product_attention(x_1 @ attention.W_query, x_2 @ attention.W_key, x_2 @ attention.W_value)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0.0, atol=1e-12)


def test_the_order_of_the_answers_does_not_matter():
    """Shuffling x_2 leaves the output as it was."""
    attention = CrossAttention(3, 2, 5).double()
    x_1, x_2 = draw(4, 3, seed=1), draw(6, 3, seed=2)

    shuffled = attention(x_1, x_2[[3, 0, 5, 1, 4, 2]])

    torch.testing.assert_close(shuffled, attention(x_1, x_2), rtol=0.0, atol=1e-12)
