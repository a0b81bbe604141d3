"""What the tests of the references share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

TABLES = Path(__file__).parents[1] / "golden" / "tables.json"

# Inputs that were published rounded, by rows, width and ids of the nn.Embedding that they were drawn from under seed
# 123. Rounding them alone moves the outputs by more than 1e-4.
DRAWN = {
    "self-attention-values-wider": (50_000, 3, [0, 4, 5, 2, 1, 3]),
    "causal-renormalised": (50_000, 3, [0, 4, 5, 2, 1, 3]),
    "self-attention-square": (5, 4, [0, 1, 2, 3, 4]),
    "self-attention-square-linear": (5, 4, [0, 1, 2, 3, 4]),
}


@dataclass(frozen=True, slots=True)
class Table:
    """A published table: its numbers, and the `settings` (seed, widths) under which they come out."""

    expected: Tensor
    settings: dict[str, Any]

    @property
    def input(self) -> Tensor:
        """The published input, unrounded where it was drawn at random; it leaves torch's generator seeded."""
        published = _tensor(self.settings["input"])
        if self.settings["id"] not in DRAWN:
            return published
        rows, width, ids = DRAWN[self.settings["id"]]
        torch.manual_seed(123)
        drawn = torch.nn.Embedding(rows, width).weight.detach()[ids]
        assert torch.allclose(drawn, published, rtol=0.0, atol=5.1e-5)
        return drawn

    def agrees_with(self, found: Tensor) -> bool:
        """Return whether `found` is the table, which is rounded to 4 decimals."""
        return torch.allclose(found, self.expected, rtol=0.0, atol=1e-4)


@pytest.fixture
def table() -> Callable[[str], Table]:
    """Look a published table up by its id."""
    known = {entry["id"]: entry for entry in json.loads(TABLES.read_text(encoding="utf-8"))["tables"]}

    def look_up(name: str) -> Table:
        return Table(_tensor(known[name]["expected"]), known[name])

    return look_up


def draw(*shape: int, seed: int) -> Tensor:
    """Return standard normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _tensor(rows: Any) -> Tensor:
    if isinstance(rows, list):
        return torch.stack([_tensor(row) for row in rows])
    return torch.tensor(float(rows))  # "-inf" is written as a string
