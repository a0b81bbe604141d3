"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case, normal

sunken_scores = cases.sunken_rows
deepest_first = cases.deepest_first
outscored = cases.outscored
far_apart = cases.far_apart
zero_scores = cases.zero_scores


def readable_weights(case: Case, generator: torch.Generator) -> Case:
    """Choose x, W_value and W_out so that every head's weights after dropout can be computed from the output.

    In each head the values V (T, d_head) have orthonormal rows, and W_out changes nothing: the head's part of the
    output times its Vᵀ gives its weights after dropout, one by one.
    """
    x = case.arguments["x"]
    assert isinstance(x, Tensor)
    time, heads, d_model = x.shape[1], case.sizes["num_heads"], x.shape[2]
    assert isinstance(heads, int)
    bases = [_orthonormal_rows(time, d_model // heads, generator) for _ in range(heads)]
    plain = torch.eye(d_model, dtype=x.dtype)
    for name, matrix in (("W_value", torch.linalg.pinv(x[0]) @ torch.cat(bases, dim=1)), ("W_out", plain)):
        case = replace(case, weights=case.with_matrix(name, matrix, bias=torch.zeros_like(plain[0])))
    same = x[:1].expand_as(x).clone()  # every batch row gets the same tokens
    decode = torch.block_diag(*(basis.T for basis in bases)).unflatten(1, (heads, time))  # (d_model, h, T)
    return replace(case, arguments={"x": same}, decode=decode)


def _orthonormal_rows(time: int, width: int, generator: torch.Generator) -> Tensor:
    return torch.linalg.qr(normal((width, time), generator)).Q.T
