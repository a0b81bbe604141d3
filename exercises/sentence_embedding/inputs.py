"""Inputs of cases that are not written down."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.exercise.inputs import Case

_SYLLABLES = ("ba", "do", "ki", "lu", "me", "no", "ra", "su", "ti", "we")


def drawn_sentence(case: Case, generator: torch.Generator) -> Case:
    """Make a sentence of words that do not occur twice, with a comma behind the third one."""
    chosen = torch.randperm(len(_SYLLABLES) ** 2, generator=generator)[: int(case.sizes["words"])].tolist()
    words = [_SYLLABLES[number // 10] + _SYLLABLES[number % 10] for number in chosen]
    words[2] += ","
    return replace(case, arguments={**case.arguments, "sentence": " ".join(words)})
