"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case, normal

sunken_scores = cases.sunken_scores
deepest_first = cases.deepest_first
outscored = cases.outscored
zero_scores = cases.zero_scores


def readable_weights(case: Case, generator: torch.Generator) -> Case:
    """Choose value, W_value and W_out so that every head's weights after dropout can be computed from the output.

    In each head the projected values V (T_k, d_head) have orthonormal rows, and W_out changes nothing: the head's part
    of the output times its Vᵀ gives its weights after dropout, one by one.
    """
    value = _tensor(case, "value")[:1]  # (1, T_k, d_model): every batch row gets the same values
    keys, heads, d_model = value.shape[1], case.sizes["num_heads"], case.sizes["d_model"]
    assert isinstance(heads, int)
    assert isinstance(d_model, int)
    bases = [_orthonormal_rows(keys, d_model // heads, generator) for _ in range(heads)]
    plain = torch.eye(d_model, dtype=value.dtype)
    for name, matrix in (("W_value", torch.linalg.pinv(value[0]) @ torch.cat(bases, dim=1)), ("W_out", plain)):
        case = replace(case, weights=case.with_matrix(name, matrix, bias=torch.zeros_like(plain[0])))
    same = value.expand(case.sizes["batch"], -1, -1).clone()
    decode = torch.block_diag(*(basis.T for basis in bases)).unflatten(1, (heads, keys))  # (d_model, h, T_k)
    return replace(case, arguments={**case.arguments, "value": same}, decode=decode)


def _orthonormal_rows(keys: int, width: int, generator: torch.Generator) -> Tensor:
    return torch.linalg.qr(normal((width, keys), generator)).Q.T


def zeros_and_ones(case: Case, generator: torch.Generator) -> Case:
    """Turn the mask into integers, int64, 1 where the query may attend."""
    return replace(case, arguments={**case.arguments, "mask": _tensor(case, "mask").long()})


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value
