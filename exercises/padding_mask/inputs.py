"""Sentences with padding."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.inputs import Case

HUGE = 2**32  # 0 in any smaller type of integers


def padded_tails(case: Case, generator: torch.Generator) -> Case:
    """Pad sentences at the end; the first one is as long as the batch, each next one shorter."""
    seq = _words(case)
    for row in range(len(seq)):
        short = 1 + row % (seq.shape[1] - 2) if len(seq) == 1 or row else 0
        seq[row, seq.shape[1] - short :] = _padding(case)
    return replace(case, arguments={**case.arguments, "seq": seq})


def padded_front(case: Case, generator: torch.Generator) -> Case:
    """Pad sentences at the beginning, and give the last two words of each a huge id and a negative one."""
    seq = _words(case)
    seq[:, -2], seq[:, -1] = HUGE, -3
    for row in range(len(seq)):
        seq[row, : row + 1] = _padding(case)
    return replace(case, arguments={**case.arguments, "seq": seq})


def padded_anywhere(case: Case, generator: torch.Generator) -> Case:
    """Put padding at both ends of sentences and between their words, one of which has its id with the other sign."""
    seq = _words(case)
    seq[:, [0, 3, -1]], seq[:, 1] = _padding(case), -_padding(case)
    return replace(case, arguments={**case.arguments, "seq": seq})


def unpadded(case: Case, generator: torch.Generator) -> Case:
    """Leave no padding at all."""
    return replace(case, arguments={**case.arguments, "seq": _words(case)})


def _padding(case: Case) -> int:
    found = case.arguments.get("pad_idx", 0)
    assert isinstance(found, int)
    return found


def _words(case: Case) -> Tensor:
    """Return tokens from 0 on, none of which is padding; token 0 is an ordinary word unless it is the padding."""
    seq = case.arguments["seq"]
    assert isinstance(seq, Tensor)
    words = torch.where(seq == _padding(case), seq + 1, seq)
    if _padding(case):
        words[:, 0] = 0
    return words
