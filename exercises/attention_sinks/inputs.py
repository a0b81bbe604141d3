"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case

low_logits = cases.low_logits_by_head
deepest_first = cases.deepest_first
far_apart = cases.far_apart


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value.clone()


def outscored(case: Case, generator: torch.Generator) -> Case:
    """Make a key that is hidden from most queries score far above all others."""
    window, num_sinks = case.arguments["window"], case.arguments["num_sinks"]
    assert isinstance(window, int)
    assert isinstance(num_sinks, int)
    columns = torch.arange(_tensor(case, "key").shape[-2])
    rows = columns[:, None]
    recent_or_sink = (rows - columns < window) | (columns < num_sinks)
    return cases.outscored_where_hidden(case, (columns <= rows) & recent_or_sink)
