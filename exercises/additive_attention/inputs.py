"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.exercise.inputs import Case

LOUD = 3000.0  # times v: scores far beyond ±709, where an exponential leaves the range of float64


def loud_scores(case: Case, generator: torch.Generator) -> Case:
    """Make the first sentence's scores so large that exponentials overflow, and the second sentence's low.

    tanh keeps every feature between -1 and 1, so only v makes scores large: its entries come to the same sum for every
    seed. The first sentence's state gives every feature the sign of its entry of v, and the second one's the opposite.
    """
    v = next(weight for weight in case.weights if weight.name == "v").matrix
    second = next(weight for weight in case.weights if weight.name == "W2").matrix
    hidden = case.arguments["decoder_hidden"]
    assert isinstance(hidden, torch.Tensor)
    hidden = hidden.clone()
    towards = torch.sign(v[:, 0]) @ torch.linalg.pinv(second)
    hidden[0], hidden[1] = 4.0 * towards, -4.0 * towards
    weights = case.with_matrix("v", v * LOUD * 3 / v.abs().sum())
    return replace(case, weights=weights, arguments={**case.arguments, "decoder_hidden": hidden})
