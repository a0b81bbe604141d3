"""Functions that an exercise may hand to a submission, by name: a plan carries the name, never code."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

FUNCTIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "parabola": lambda x: (x - 3.0) ** 2,
    "tilted": lambda x: 0.5 * x**2 + 2.0 * x + 1.0,
    "quartic": lambda x: x**4 / 4 - x**3 / 3 - x**2,
    "wave": lambda x: torch.sin(x) + x**2 / 10,
    "ripples": lambda x: x**2 / 2 + torch.sin(1000.0 * x) / 1e5,  # a quotient of differences misses its slope
    "bell": lambda x: -torch.exp(-((x - 1.0) ** 2)),
}
