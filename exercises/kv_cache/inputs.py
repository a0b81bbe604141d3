"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.exercise.families import cases
from grader.exercise.inputs import Case

far_rows = cases.far_rows
outscored = cases.outscored
far_apart = cases.far_apart
deepest_first = cases.deepest_first


def drawn_chunks(case: Case, generator: torch.Generator) -> Case:
    """Cut the tokens at three random places; after one of the chunks another text is begun."""
    time = int(case.arguments["x"].shape[1])
    cuts = 1 + torch.randperm(time - 1, generator=generator)[:3].sort().values
    chunks = torch.cat([torch.tensor([0]), cuts, torch.tensor([time])]).diff()
    other = int(torch.randint(1, 4, (), generator=generator))
    chunks = torch.cat([chunks[:other], torch.tensor([0]), chunks[other:]])
    return replace(case, arguments={**case.arguments, "chunks": chunks})
