"""Inputs with a purpose."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.inputs import Case

LEVEL = 900.0  # e to this power has no number, in float64 either


def raised_scores(case: Case, generator: torch.Generator) -> Case:
    """Give all tokens one feature in common, which lifts every score to `LEVEL` and changes no weight by that.

    Within a row the scores stay close together, so that all weights and all gradients can be seen.
    """
    x = case.arguments["x"]
    assert isinstance(x, Tensor)
    x = x.clone()
    x[:, 0] = LEVEL**0.5
    return replace(case, arguments={"x": x})
