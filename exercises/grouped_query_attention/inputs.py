"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case

DEPTH = 40_000.0  # below zero; the exponential is 0 there, and a fill value of -10000 lies above
CONSTANT = 1 / 3  # `influence` replaces x by 1 - 2x: this coordinate stays as it is, and so do the scores' offsets


def sunken_scores(case: Case, generator: torch.Generator) -> Case:
    """Lower every score by the same large amount, which changes no weight, by one constant feature in each head.

    There are no biases, so a coordinate of x is constant, and that feature depends on nothing else. The exponential of
    such a score is zero, and a fill value that is not low enough, -10 or -10000, is larger than it.
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
deepest_first = cases.deepest_first
far_apart = cases.far_apart
