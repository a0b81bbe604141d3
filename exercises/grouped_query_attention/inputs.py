"""Inputs with a purpose."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case

DEPTH = 40_000.0  # below zero; far beyond the exponent's range, and beyond a fill value of -10000
CONSTANT = 1 / 3  # changing an input means -2x + 1: this coordinate stays where it is, and so do the depths


def sunken_scores(case: Case, generator: torch.Generator) -> Case:
    """Lower every score by the same large amount, which changes no weight: one feature of each head is constant.

    There are no biases, so a coordinate of x is constant, and that feature sees nothing else. The exponential of such a
    score is zero, and a fill value that is merely small, -10 or -10000, wins against it.
    """
    x, width = case.arguments["x"], case.sizes["d_head"]
    assert isinstance(x, Tensor)
    assert isinstance(width, int)
    level = math.sqrt(DEPTH * math.sqrt(width)) / CONSTANT
    for name, constant in (("W_query", level), ("W_key", -level)):
        matrix = next(weight.matrix for weight in case.weights if weight.name == name).clone()
        matrix[:, ::width] = 0.0
        matrix[0, ::width] = constant
        case = replace(case, weights=case.with_matrix(name, matrix))
    sunken = x.clone()
    sunken[..., 0] = CONSTANT
    return replace(case, arguments={"x": sunken})


outscored = cases.outscored
