"""Sequences to copy, and masks and logits that expose common mistakes."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.box.train import FIRST_WORD, PAD
from grader.exercise.families import cases
from grader.exercise.inputs import Case
from grader.exercise.labs.copy_task.lab import Copier
from grader.exercise.weights import initial_weights

outscored = cases.outscored
deepest_first = cases.deepest_first

SHORTEST = 3

low_logits = cases.low_logits


def copies(case: Case, generator: torch.Generator) -> Case:
    """Make sequences of different lengths, padded at the end, each its own target; draw the weights."""
    source, held = (_cut(_tensor(case, name) + FIRST_WORD, generator) for name in ("source", "held_source"))
    held[0] = FIRST_WORD + torch.randint(_size(case, "words"), held[0].shape, generator=generator)
    weights = initial_weights(Copier(None, None, **case.construct), generator, prefix="model.")  # type: ignore[arg-type]  # never called
    arguments = {
        "source": source,
        "target": source,
        "held_source": held,
        "held_target": held,
        "alignment": torch.eye(held.shape[1], dtype=torch.float64),
    }
    return replace(case, arguments={**case.arguments, **arguments}, weights=weights)


def _cut(tokens: Tensor, generator: torch.Generator) -> Tensor:
    """Replace the end of each sequence by padding, so that lengths from `SHORTEST` to the full one occur."""
    time = tokens.shape[-1]
    lengths = torch.randint(SHORTEST, time + 1, (*tokens.shape[:-1], 1), generator=generator)
    return torch.where(torch.arange(time) < lengths, tokens, PAD)


def hide_the_end(case: Case, generator: torch.Generator) -> Case:
    """Hide the last three keys of the only sequence."""
    mask = _tensor(case, "mask")
    mask[..., -3:] = False
    return replace(case, arguments={**case.arguments, "mask": mask})


def _size(case: Case, name: str) -> int:
    size = case.sizes[name]
    assert isinstance(size, int)
    return size


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value.clone()
