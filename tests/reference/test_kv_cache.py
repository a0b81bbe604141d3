"""The reference of attention with a cache, against PyTorch's own attention in one pass."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from reference.kv_cache import CachedCausalAttention, merge, split

_BATCH, _TIME, _WIDTH, _HEADS = 2, 7, 12, 3


@pytest.fixture
def attention() -> CachedCausalAttention:
    """Return a module with drawn weights."""
    torch.manual_seed(5)
    return CachedCausalAttention(_WIDTH, _HEADS).double()


@pytest.fixture
def text() -> torch.Tensor:
    """Return a text as numbers, (B, T, d_model)."""
    return torch.randn(_BATCH, _TIME, _WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(6))


def test_one_pass_is_pytorchs_causal_attention(attention: CachedCausalAttention, text: torch.Tensor) -> None:
    """Head by head, with the same projections."""
    queries, keys, values = (split(part, _HEADS) for part in attention.project(text))
    expected = merge(functional.scaled_dot_product_attention(queries, keys, values, is_causal=True))

    assert torch.allclose(attention(text)[0], attention.leave(expected), rtol=0, atol=1e-14)


@pytest.mark.parametrize("chunks", [[1] * 7, [4, 3], [1, 6], [6, 1], [2, 2, 3], [3, 1, 1, 2]])
def test_chunks_give_what_one_pass_gives(
    chunks: list[int], attention: CachedCausalAttention, text: torch.Tensor
) -> None:
    """However the text is cut."""
    outputs, cache = [], None
    for part in text.split(chunks, dim=1):
        output, cache = attention(part, cache)
        outputs.append(output)

    assert torch.allclose(torch.cat(outputs, dim=1), attention(text)[0], rtol=0, atol=1e-14)


def test_the_cache_holds_every_key_and_value_once(attention: CachedCausalAttention, text: torch.Tensor) -> None:
    """They are those of one pass, in the order of the text."""
    _, cache = attention(text[:, :4])
    _, cache = attention(text[:, 4:], cache)
    _, keys, values = (split(part, _HEADS) for part in attention.project(text))

    assert torch.allclose(cache[0], keys, rtol=0, atol=1e-14)
    assert torch.allclose(cache[1], values, rtol=0, atol=1e-14)
