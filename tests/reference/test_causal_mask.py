"""The reference of the causal mask, against published tables and PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from reference.causal_mask import create_causal_mask
from tests.reference.conftest import Table


@pytest.mark.parametrize("time", [1, 2, 5, 12])
def test_it_is_the_mask_that_pytorch_makes(time: int) -> None:
    """`nn.Transformer` generates the same for its decoder."""
    assert torch.equal(create_causal_mask(time), nn.Transformer.generate_square_subsequent_mask(time))


def test_the_published_scores_come_out(table: Callable[[str], Table]) -> None:
    """Added to the unmasked scores of a published example, it gives the published masked ones."""
    published = table("causal-scores")
    torch.manual_seed(published.settings["manual_seed"])
    d_in, d_out = published.settings["d_in"], published.settings["d_out"]
    query, key = (nn.Linear(d_in, d_out, bias=False) for _ in range(2))
    x = published.input
    scores = query(x) @ key(x).T

    assert published.agrees_with((scores + create_causal_mask(len(x))).detach())
