"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.box.plan import Weight
from grader.exercise.families import cases
from grader.exercise.inputs import Case

SHUT = -1e4  # bias of a closed gate: its sigmoid is zero in any precision


def forgetful(case: Case, generator: torch.Generator) -> Case:
    """Let both LSTMs keep nothing from one word to the next, so that only attention connects positions.

    The recurrent weights are zero, and the forget gate, the second of four, is closed. Padding then influences other
    positions only if something attends to it.
    """
    weights = tuple(_without_memory(weight) if "_lstm." in weight.name else weight for weight in case.weights)
    return replace(case, weights=weights)


def _without_memory(weight: Weight) -> Weight:
    matrix = weight.matrix.clone()
    kind = weight.name.rpartition(".")[2]
    if kind.startswith("weight_hh"):
        matrix.zero_()
    if kind.startswith("bias_ih"):
        width = len(matrix) // 4
        matrix[width : 2 * width] = SHUT
    return replace(weight, matrix=matrix)


def zeros_and_ones(case: Case, generator: torch.Generator) -> Case:
    """Turn the mask into integers, int64, 1 where there is a word."""
    mask = case.arguments["src_mask"]
    assert isinstance(mask, Tensor)
    return replace(case, arguments={**case.arguments, "src_mask": mask.long()})


def sunken_scores(case: Case, generator: torch.Generator) -> Case:
    """Lower every score of both attentions by the same large amount, which changes no weight."""
    for part in ("encoder_attention.", "cross_attention."):
        case = cases.sink(case, part)
    return case


def outscored(case: Case, generator: torch.Generator) -> Case:
    """Multiply the decoder's queries by ten million: hidden words then score about a million above the visible ones."""
    queries = next(weight for weight in case.weights if weight.name == "cross_attention.W_query")
    assert queries.bias is not None
    factor = 10 * cases.LOUD
    loud = case.with_matrix(queries.name, queries.matrix * factor, queries.bias * factor)
    return replace(case, weights=loud)


def zero_scores(case: Case, generator: torch.Generator) -> Case:
    """Make the queries of both attentions zero, so that every score is zero and all visible words get equal weights."""
    for part in ("encoder_attention.", "cross_attention."):
        queries = next(weight for weight in case.weights if weight.name == f"{part}W_query")
        assert queries.bias is not None
        nothing = case.with_matrix(queries.name, torch.zeros_like(queries.matrix), torch.zeros_like(queries.bias))
        case = replace(case, weights=nothing)
    return case
