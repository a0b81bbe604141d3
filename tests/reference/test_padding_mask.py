"""The reference of the padding mask: what it hides, PyTorch's attention does not see."""

from __future__ import annotations

import torch
from torch.nn import functional

from reference.padding_mask import create_padding_mask

_SENTENCES = torch.tensor([[5, 3, 8, 2], [7, 4, 0, 0], [0, 6, 0, 1]])


def test_the_statements_example_comes_out() -> None:
    """The table that students read, and padding within a sentence."""
    mask = create_padding_mask(_SENTENCES)

    assert mask.dtype is torch.bool
    assert mask.shape == (3, 1, 1, 4)
    assert mask[:, 0, 0].tolist() == [[True] * 4, [True, True, False, False], [False, True, False, True]]


def test_another_token_may_fill_up() -> None:
    """Then 0 is a word like any other."""
    assert create_padding_mask(_SENTENCES, pad_idx=8)[:, 0, 0].logical_not().nonzero().tolist() == [[0, 2]]


def test_attention_does_not_see_what_is_hidden() -> None:
    """Handed to PyTorch's own attention, it makes a sentence mean the same however far it is filled up."""
    torch.manual_seed(1)
    query, key, value = (torch.randn(1, 2, size, 3, dtype=torch.float64) for size in (5, 4, 4))
    mask = create_padding_mask(_SENTENCES[1:2])
    filled = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    cut = functional.scaled_dot_product_attention(query, key[:, :, :2], value[:, :, :2])

    assert torch.allclose(filled, cut, rtol=0, atol=1e-14)
