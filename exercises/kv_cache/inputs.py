"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.exercise.families import cases
from grader.exercise.inputs import Case

far_rows = cases.far_rows
outscored = cases.outscored
far_apart = cases.far_apart


def drawn_chunks(case: Case, generator: torch.Generator) -> Case:
    """Cut the tokens at three random places; two of them may be the same, which gives an empty chunk."""
    time = int(case.arguments["x"].shape[1])
    cuts = torch.randint(0, time + 1, (3,), generator=generator).sort().values
    edges = torch.cat([torch.tensor([0]), cuts, torch.tensor([time])])
    return replace(case, arguments={**case.arguments, "chunks": edges.diff()})
