"""Inputs with a purpose."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from grader.exercise.inputs import Case, normal

DEPTH = 40_000.0  # below zero; far beyond the exponent's range, and beyond a fill value of -10000


def readable_weights(case: Case, generator: torch.Generator) -> Case:
    """Choose x and W_value so that the values are orthonormal, and the dropped weights can be read off the output.

    With values V (T, d_out) of orthonormal rows, output @ Vᵀ gives back the weights after dropout, one by one.
    """
    x = case.arguments["x"][:1]  # (1, T, d_in): every batch row gets the same tokens
    time, d_out = x.shape[1], case.sizes["d_out"]
    basis = torch.linalg.qr(normal((d_out, time), generator)).Q.T  # (T, d_out), orthonormal rows
    weights = case.with_matrix("W_value", torch.linalg.pinv(x[0]) @ basis)
    same = x.expand(case.sizes["batch"], -1, -1).clone()
    return replace(case, arguments={"x": same}, weights=weights, decode=basis.T)


def sunken_scores(case: Case, generator: torch.Generator) -> Case:
    """Lower every score by the same large amount, which changes no weight: one feature of queries and keys is constant.

    The exponential of such a score is zero, and a fill value that is merely small, -10 or -10000, wins against it.
    """
    level = math.sqrt(DEPTH * math.sqrt(case.sizes["d_out"]))
    for name, constant in (("W_query", level), ("W_key", -level)):
        weight = next(weight for weight in case.weights if weight.name == name)
        matrix, bias = weight.matrix.clone(), weight.bias.clone()
        matrix[:, 0], bias[0] = 0.0, constant
        case = replace(case, weights=case.with_matrix(name, matrix, bias))
    return case
