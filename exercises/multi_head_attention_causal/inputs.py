"""Inputs with a purpose."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from grader.exercise.inputs import Case, normal

DEPTH = 40_000.0  # below zero; far beyond the exponent's range, and beyond a fill value of -10000


def readable_weights(case: Case, generator: torch.Generator) -> Case:
    """Choose x, W_value and W_out so that the dropped weights of every head can be read off the output.

    Head by head the values V (T, d_head) have orthonormal rows, and W_out changes nothing: then the part of the output
    that belongs to a head, times that head's Vᵀ, gives back its weights after dropout, one by one.
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


def sunken_scores(case: Case, generator: torch.Generator) -> Case:
    """Lower every score by the same large amount, which changes no weight: one feature of each head is constant.

    The exponential of such a score is zero, and a fill value that is merely small, -10 or -10000, wins against it.
    """
    width = case.sizes["d_out"] // case.sizes["num_heads"]
    level = math.sqrt(DEPTH * math.sqrt(width))
    for name, constant in (("W_query", level), ("W_key", -level)):
        weight = next(weight for weight in case.weights if weight.name == name)
        matrix, bias = weight.matrix.clone(), weight.bias.clone()
        matrix[:, ::width], bias[::width] = 0.0, constant
        case = replace(case, weights=case.with_matrix(name, matrix, bias))
    return case
