"""Reads the frame of a call, trusting nothing in it; `frames` has the format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.box import fields
from grader.box.frames import ABSENT, DTYPE_NAMES, IN_WORDS, PRESENCES, SLOT_TEXT_LIMIT, TEXT_LENGTH, TEXT_LIMIT
from grader.box.observations import Presence, Seen
from grader.box.plan import DTYPES, TensorSpec
from grader.box.rows import row_of
from grader.errors import BadAnswer

_WIDEST = 8  # bytes of a number
_NOTHING_TO_TELL: Mapping[str, Any] = {"modified": [], "slots": []}


def largest(slots: Sequence[TensorSpec]) -> int:
    """Return how many bytes the frame of a call with these slots may have."""
    numbers = sum(math.prod(slot.shape) for slot in slots)
    return TEXT_LENGTH.size + len(slots) + _longest_text(slots) + _WIDEST * numbers


def read(slots: Sequence[TensorSpec], body: bytes) -> tuple[dict[str, Seen], Mapping[str, Any]]:
    """Return what came for each slot that is not absent, and the whole text.

    Raises:
        BadAnswer: the bytes break the format.
    """
    start = TEXT_LENGTH.size + len(slots)
    if len(body) < start:
        raise BadAnswer("the answer of a call is cut off")
    codes, length = body[TEXT_LENGTH.size : start], TEXT_LENGTH.unpack_from(body)[0]
    if length > min(_longest_text(slots), len(body) - start):
        raise BadAnswer(f"the text of a call claims {length} bytes, which are not there or too many")
    told = fields.parse(body[start : start + length]) if length else _NOTHING_TO_TELL
    found = _tensors(slots, codes, body[start + length :])
    for number, seen in _words(codes, told.get("slots")):
        found[number] = seen
    return {slot.key: seen for slot, seen in zip(slots, found, strict=True) if seen is not None}, told


def _longest_text(slots: Sequence[TensorSpec]) -> int:
    return TEXT_LIMIT + SLOT_TEXT_LIMIT * len(slots)


def _tensors(slots: Sequence[TensorSpec], codes: bytes, values: bytes) -> list[Seen | None]:
    """Return what came for each slot with a tensor, else None; the tensors of one dtype share one piece of memory."""
    found: list[Seen | None] = [None] * len(slots)
    start = 0
    for code in sorted(set(codes)):
        if code >= len(DTYPE_NAMES):
            break
        numbers = [number for number, one in enumerate(codes) if one == code]
        name = DTYPE_NAMES[code]
        _expect_dtype(name, [slots[number] for number in numbers])
        row = row_of(tuple([slots[number].shape for number in numbers]))
        end = start + row.size * DTYPES[name].itemsize
        if end > len(values):
            raise BadAnswer(f"the tensors of a call have {len(values)} bytes; their shapes and dtypes need {end}")
        tensors = row.cut(_numbers(values[start:end], DTYPES[name]))
        for number, tensor in zip(numbers, tensors, strict=True):
            found[number] = Seen(Presence.TENSOR, tensor, slots[number].shape, name)
        start = end
    if start != len(values):
        raise BadAnswer(f"the tensors of a call have {len(values)} bytes; their shapes and dtypes need {start}")
    return found


def _expect_dtype(dtype: str, slots: Sequence[TensorSpec]) -> None:
    """Take a dtype only where `seeing.see` lets its values out."""
    for slot in slots:
        if dtype not in slot.dtypes:
            raise BadAnswer(f"`{slot.key}` came as {dtype}; values of that dtype are never sent there")


def _numbers(raw: bytes, dtype: torch.dtype) -> Tensor:
    """Return bytes as numbers, in memory of their own."""
    if dtype is torch.bool and raw.translate(None, b"\0\1"):
        raise BadAnswer("a tensor is bool, but has bytes that are neither 0 nor 1")
    return torch.frombuffer(bytearray(raw), dtype=dtype) if raw else torch.empty(0, dtype=dtype)


def _words(codes: bytes, told: Any) -> list[tuple[int, Seen]]:
    """Return the slots with whatever else came in the place of a tensor, with their numbers."""
    numbers = [number for number, code in enumerate(codes) if len(DTYPE_NAMES) <= code != ABSENT]
    if not isinstance(told, list) or len(told) != len(numbers):
        raise BadAnswer("the slots in words are not a list, or not as many as there are codes for them")
    return [(number, _in_words(codes[number], data)) for number, data in zip(numbers, told, strict=True)]


def _in_words(code: int, data: Any) -> Seen:
    presence = PRESENCES[code - IN_WORDS] if IN_WORDS <= code < IN_WORDS + len(PRESENCES) else Presence.TENSOR
    if presence is Presence.TENSOR:
        raise BadAnswer(f"a slot has the code {code}, which is neither a dtype nor a presence in words")
    shape = data.get("shape") if isinstance(data, dict) else None
    if not isinstance(shape, list) or len(shape) > 64 or not all(type(size) is int for size in shape):
        raise BadAnswer("a shape is not a list of at most 64 integers")
    if not all(0 <= size < 1 << 63 for size in shape):
        raise BadAnswer("a shape has a size that no tensor can have")
    what = fields.text(data.get("what", ""), 200)
    return Seen(presence, shape=tuple(shape), dtype=fields.text(data.get("dtype", ""), 40), what=what)
