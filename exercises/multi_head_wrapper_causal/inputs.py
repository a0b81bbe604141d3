"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.exercise.families import cases
from grader.exercise.inputs import Case, normal

sunken_scores = cases.sunken_rows
deepest_first = cases.deepest_first
outscored = cases.outscored
far_apart = cases.far_apart


def readable_weights(case: Case, generator: torch.Generator) -> Case:
    """Choose x and W_value so that every head's weights after dropout can be computed from the output.

    In each head the values V (T, d_out) have orthonormal rows: the head's part of the output times its Vᵀ gives its
    weights after dropout, one by one.
    """
    x = case.arguments["x"][:1]  # (1, T, d_in): every batch row gets the same tokens
    time, heads, width = x.shape[1], case.sizes["num_heads"], case.sizes["d_out"]
    bases = [torch.linalg.qr(normal((width, time), generator)).Q.T for _ in range(heads)]
    weights = case.with_matrix("W_value", torch.linalg.pinv(x[0]) @ torch.cat(bases, dim=1))
    same = x.expand(case.sizes["batch"], -1, -1).clone()
    decode = torch.block_diag(*(basis.T for basis in bases)).unflatten(1, (heads, time))  # (h * d_out, h, T)
    return replace(case, arguments={"x": same}, weights=weights, decode=decode)
