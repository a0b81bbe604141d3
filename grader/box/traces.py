"""Reads the results of a traced call from their frames, trusting nothing in them; `frames` has the format."""

from __future__ import annotations

import math
import struct

import torch

from grader.box.frames import (
    CUTS,
    DTYPE_NAMES,
    GRADIENT,
    MOST_AXES,
    MOST_LINES,
    MOST_RESULTS,
    RANDOM,
    TRACE_LIMIT,
    TRACED,
    WRITES,
)
from grader.box.observations import Traced
from grader.box.plan import FLOATS
from grader.errors import BadAnswer

_WIDTH = torch.float64.itemsize
LARGEST = TRACED.size + 4 * (MOST_AXES + MOST_LINES) + TRACE_LIMIT  # bytes of a frame


class Collected:
    """The results of one traced call that were read so far."""

    def __init__(self, *, gradients: bool) -> None:
        self._gradients = gradients  # whether the call has a backward pass
        self.results: list[Traced] = []
        self._left = TRACE_LIMIT  # bytes

    def add(self, body: bytes) -> None:
        """Read one more.

        Raises:
            BadAnswer: it breaks the format, or there is more than a recorder keeps.
        """
        if len(body) < TRACED.size:
            raise BadAnswer("a result of an operation is cut off")
        line, caller, axes, dtype, traits, count = TRACED.unpack_from(body)
        start = TRACED.size + 4 * (axes + count)
        if not 0 < line < 1_000_000 > caller or axes > MOST_AXES or count > MOST_LINES or len(body) < start:
            raise BadAnswer("a result of an operation has a line or a number of axes or lines that there is not")
        if dtype >= len(DTYPE_NAMES) or traits > RANDOM | WRITES | GRADIENT | CUTS:
            raise BadAnswer("a result of an operation has a dtype or a trait that there is not")
        self._expect_kept(DTYPE_NAMES[dtype], traits)
        numbers = struct.unpack_from(f"<{axes + count}I", body, TRACED.size)
        shape, lines = numbers[:axes], numbers[axes:]
        raw = body[start:]
        copies = 2 if traits & GRADIENT else 1
        if not raw or len(raw) != math.prod(shape) * _WIDTH * copies:  # an empty tensor may claim sizes that overflow
            raise BadAnswer(f"a result of an operation has {len(raw)} bytes, which is not what its sizes come to")
        self._left -= len(raw)
        if len(self.results) >= MOST_RESULTS or self._left < 0:
            raise BadAnswer("more results of operations were sent than are kept")
        values = torch.frombuffer(bytearray(raw), dtype=torch.float64).view(copies, *shape)
        self.results.append(
            Traced(
                line,
                values[0],
                DTYPE_NAMES[dtype],
                random=bool(traits & RANDOM),
                writes=bool(traits & WRITES),
                cuts=bool(traits & CUTS),
                lines=frozenset(lines),
                caller=caller,
                gradient=values[1] if copies > 1 else None,
            )
        )

    def _expect_kept(self, dtype: str, traits: int) -> None:
        """Take a result only if a recorder keeps such."""
        if traits & GRADIENT and not self._gradients:
            raise BadAnswer("a gradient came back to a result of a call without a backward pass")
        if dtype not in FLOATS and traits & (WRITES | GRADIENT) != WRITES:
            raise BadAnswer(f"a result of an operation is {dtype}, which is not kept there")
