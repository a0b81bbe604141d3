"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.exercise.families import cases
from grader.exercise.inputs import Case, normal

common_values = cases.common_values
deepest_first = cases.deepest_first
outscored = cases.outscored
far_apart = cases.far_apart
faint_key = cases.faint_key
symmetric_weights = cases.symmetric_weights
sunken_scores = cases.sunken_rows


def readable_weights(case: Case, generator: torch.Generator) -> Case:
    """Choose x and W_value so that the values are orthonormal: the output then gives the weights after dropout.

    With values V (T, d_out) of orthonormal rows, output @ Vᵀ gives the weights after dropout, one by one.
    """
    x = case.arguments["x"][:1]  # (1, T, d_in): every batch row gets the same tokens
    time, d_out = x.shape[1], case.sizes["d_out"]
    basis = torch.linalg.qr(normal((d_out, time), generator)).Q.T  # (T, d_out), orthonormal rows
    weights = case.with_matrix("W_value", torch.linalg.pinv(x[0]) @ basis)
    same = x.expand(case.sizes["batch"], -1, -1).clone()
    return replace(case, arguments={"x": same}, weights=weights, decode=basis.T)
