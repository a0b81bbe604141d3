"""Answers of the box, taken apart: frames, and what is in the frame of a call; see `grader.box.frames`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.box.frames import DTYPE_NAMES, HEADER, TEXT_LENGTH, Frame
from grader.box.plan import DTYPES

NOTHING_TOLD: Mapping[str, Any] = {"raised": None, "modified": [], "largest": None, "slots": []}


@dataclass(frozen=True, slots=True)
class Piece:
    """One frame, as it stands in the stream; `length` where it lies about it.

    `sizes` is for the frame of a call: how many numbers each of its slots has.
    """

    kind: int
    code: int
    index: int
    body: bytes
    length: int | None = None
    sizes: tuple[int, ...] = ()

    def packed(self) -> bytes:
        """Return its bytes."""
        length = len(self.body) if self.length is None else self.length
        return HEADER.pack(self.kind & 255, self.code & 255, self.index & 65535, length & 0xFFFFFFFF) + self.body


def pieces(stream: bytes, sizes: Sequence[tuple[int, ...]]) -> list[Piece]:
    """Return the frames of an honest stream; `sizes` are the numbers in each slot, by call."""
    found, at = [], 0
    while at < len(stream):
        kind, code, index, length = HEADER.unpack_from(stream, at)
        at += HEADER.size
        own = sizes[index] if kind == Frame.CALLED else ()
        found.append(Piece(kind, code, index, stream[at : at + length], sizes=own))
        at += length
    return found


def joined(frames: list[Piece]) -> bytes:
    """Return a stream."""
    return b"".join(frame.packed() for frame in frames)


@dataclass(slots=True)
class CalledBody:
    """What a call told: a code for each slot, the text, None for none, and the bytes of each slot that has a tensor."""

    codes: list[int]
    told: dict[str, Any] | None
    tensors: dict[int, bytes]

    def words(self) -> list[Any]:
        """Return what is told of the slots in words; nothing where that was broken before."""
        words = (self.told or {}).get("slots")
        return words if isinstance(words, list) else []

    def packed(self, text: bytes | None = None) -> bytes:
        """Return the bytes; nothing in them need fit together. `text` takes the place of what was told."""
        if text is None:
            text = b"" if self.told is None else json.dumps(self.told).encode()
        order = sorted(self.tensors, key=lambda number: self.codes[number])
        values = [self.tensors[number] for number in order]
        return b"".join([TEXT_LENGTH.pack(len(text)), bytes(code & 255 for code in self.codes), text, *values])


def opened(body: bytes, sizes: Sequence[int]) -> CalledBody | None:
    """Return what is in a body, None where it was broken before; `sizes` are the numbers that each slot has."""
    start = TEXT_LENGTH.size + len(sizes)
    if len(body) < start:
        return None
    codes, end = list(body[TEXT_LENGTH.size : start]), start + TEXT_LENGTH.unpack_from(body)[0]
    try:
        told = json.loads(body[start:end]) if end > start else None
    except (ValueError, RecursionError):
        return None
    if told is not None and not isinstance(told, dict):
        return None
    tensors: dict[int, bytes] = {}
    for number in sorted(range(len(sizes)), key=codes.__getitem__):
        if codes[number] < len(DTYPE_NAMES):
            size = sizes[number] * DTYPES[DTYPE_NAMES[codes[number]]].itemsize
            tensors[number] = body[end : end + size]
            end += size
    return CalledBody(codes, told, tensors)
