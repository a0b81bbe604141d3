"""Wrong results of operations: every mutation of a recorded call that the fuzzer knows.

Some break the format. Others keep it, and are hard on whoever compares: hundreds of results with the sizes and the sum
of one that is right, numbers that are none, the same numbers in other shapes.
"""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.mutations import DOUBLES
from benchmarks.pieces import Piece
from grader.box.observations import MOST_AXES, MOST_RESULTS
from grader.box.plan import DTYPES
from grader.box.wire.answer import Frame

_LINES = (0, 1, 2, 5, 999_999, 1_000_000, (1 << 32) - 1)
_SIZES = (0, 1, 2, 3, 65536, (1 << 31) - 1, (1 << 32) - 1)
Told = dict[str, Any]
Change = Callable[[random.Random, Told, bytes], bytes]  # changes what is told of a result, and returns its values


def _changed(draw: random.Random, change: Change, piece: Piece) -> Piece:
    told = piece.told()
    if told is None or not isinstance(told.get("shape"), list):
        return piece
    values = change(draw, told, piece.values)
    return replace(piece, text=json.dumps(told).encode(), values=values)


def _on_one(change: Change) -> Callable[[random.Random, list[Piece], list[Piece]], None]:
    def mutation(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
        places = [at for at, frame in enumerate(frames) if frame.kind == Frame.TRACED]
        for at in draw.sample(places, min(len(places), draw.choice((1, 1, 3, 50)))):
            frames[at] = _changed(draw, change, frames[at])

    return mutation


def _line(draw: random.Random, told: Told, values: bytes) -> bytes:
    told[draw.choice(("line", "caller"))] = draw.choice(_LINES)
    return values


def _traits(draw: random.Random, told: Told, values: bytes) -> bytes:
    for name in ("random", "writes", "cuts", "gradient"):
        told[name] = draw.choice((True, False, False, 1))
    told["dtype"], told["lines"] = (
        draw.choice((*DTYPES, "x")),
        [draw.choice(_LINES) for _ in range(draw.choice((0, 2, 61)))],
    )
    return values


def _sizes(draw: random.Random, told: Told, values: bytes) -> bytes:
    """Let sizes be other ones, which the values mostly do not fit."""
    sizes = list(told["shape"]) or [1]
    sizes[draw.randrange(len(sizes))] = draw.choice(_SIZES)
    told["shape"] = sizes * draw.choice((1, 1, 2, 4))
    return values


def _shape(draw: random.Random, told: Told, values: bytes) -> bytes:
    """Lay the same values out in another shape: axes in another order, of length one, merged."""
    sizes = list(told["shape"])
    draw.shuffle(sizes)
    if len(sizes) > 1 and draw.random() < 0.3:
        sizes[:2] = [sizes[0] * sizes[1]]
    while len(sizes) < MOST_AXES and draw.random() < 0.5:
        sizes.insert(draw.randrange(len(sizes) + 1), 1)
    told["shape"] = sizes
    return values


def _numbers(draw: random.Random, _told: Told, values: bytes) -> bytes:
    """Put numbers that are hard to compute with into it, in one place or in all."""
    count, odd = len(values) // 8, draw.choice(DOUBLES)
    if not count or draw.random() < 0.5:
        return odd * count
    at = 8 * draw.randrange(count)
    return values[:at] + odd + values[at + 8 :]


def _mixed(draw: random.Random, _told: Told, values: bytes) -> bytes:
    """Put its numbers into another order: the sum is the same, which is what comparisons look at first."""
    numbers = [values[at : at + 8] for at in range(0, len(values), 8)]
    draw.shuffle(numbers)
    return b"".join(numbers)


def _scaled(draw: random.Random, _told: Told, values: bytes) -> bytes:
    """Multiply its numbers, as far as they stay numbers of eight bytes."""
    factor = draw.choice((2.0, -1.0, 0.5, 1 + 1e-12, 1e200))
    numbers = struct.unpack(f"<{len(values) // 8}d", values[: len(values) // 8 * 8])
    scaled = [number * factor if math.isfinite(number) else number for number in numbers]
    return struct.pack(f"<{len(scaled)}d", *scaled)


def _crowd(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Send as many results as may be sent, or one more, all like one that is there."""
    places = [at for at, frame in enumerate(frames) if frame.kind == Frame.TRACED]
    if not places:
        return
    model, change = frames[draw.choice(places)], draw.choice((_mixed, _scaled, _shape, _numbers, _line))
    missing = MOST_RESULTS - len(places) + draw.choice((0, 0, 0, 1))
    frames[places[-1] : places[-1]] = [_changed(draw, change, model) for _ in range(missing)]


ON_TRACES = (*(_on_one(one) for one in (_line, _traits, _sizes, _shape, _numbers, _mixed, _scaled)), _crowd)
