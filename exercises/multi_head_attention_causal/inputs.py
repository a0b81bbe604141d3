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
    """Choose x, W_value and W_out so that every head's weights after dropout can be computed from the output.

    In each head the values V (T, d_head) have orthonormal rows, and W_out changes nothing: the head's part of the
    output times its Vᵀ gives its weights after dropout, one by one.
    """
    x = case.arguments["x"][:1]  # (1, T, d_in): every batch row gets the same tokens
    time, heads, d_out = x.shape[1], case.sizes["num_heads"], case.sizes["d_out"]
    bases = [_orthonormal_rows(time, d_out // heads, generator) for _ in range(heads)]
    values = torch.linalg.pinv(x[0]) @ torch.cat(bases, dim=1)  # (d_in, d_out)
    plain = torch.eye(d_out, dtype=x.dtype)
    case = replace(case, weights=case.with_matrix("W_value", values))
    weights = case.with_matrix("W_out", plain, bias=torch.zeros_like(plain[0]))
    same = x.expand(case.sizes["batch"], -1, -1).clone()
    decode = torch.block_diag(*(basis.T for basis in bases)).unflatten(1, (heads, time))  # (d_out, h, T)
    return replace(case, arguments={"x": same}, weights=weights, decode=decode)


def _orthonormal_rows(time: int, width: int, generator: torch.Generator) -> torch.Tensor:
    return torch.linalg.qr(normal((width, time), generator)).Q.T
