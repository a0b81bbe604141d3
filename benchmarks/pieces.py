"""Answers of the box, taken apart into frames; see `grader.box.wire.answer`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from grader.box.wire.answer import HEADER


@dataclass(frozen=True, slots=True)
class Piece:
    """One frame, as it stands in the stream; `sizes`, of the text and of the values, where it lies about them."""

    kind: int
    index: int
    text: bytes
    values: bytes = b""
    sizes: tuple[int, int] | None = None

    def packed(self) -> bytes:
        """Return its bytes."""
        text, values = self.sizes or (len(self.text), len(self.values))
        head = HEADER.pack(self.kind & 255, self.index & 65535, text & 0xFFFFFFFF, values & 0xFFFFFFFF)
        return head + self.text + self.values

    def told(self) -> dict[str, Any] | None:
        """Return what its text says, None where that was broken before."""
        try:
            told = json.loads(self.text)
        except (ValueError, RecursionError):
            return None
        return told if isinstance(told, dict) else None


def pieces(stream: bytes) -> list[Piece]:
    """Return the frames of an honest stream."""
    found, at = [], 0
    while at < len(stream):
        kind, index, text, values = HEADER.unpack_from(stream, at)
        at += HEADER.size
        found.append(Piece(kind, index, stream[at : at + text], stream[at + text : at + text + values]))
        at += text + values
    return found


def joined(frames: list[Piece]) -> bytes:
    """Return a stream."""
    return b"".join(frame.packed() for frame in frames)
