"""Wrong results of operations: every mutation of a recorded call that the fuzzer knows.

Some break the format. Others keep it, and are hard on whoever compares: hundreds of results with the sizes and the sum
of one that is right, numbers that are none, the same numbers in other shapes.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.mutations import DOUBLES
from benchmarks.pieces import Piece
from grader.box.frames import MOST_AXES, MOST_RESULTS, TRACED, Frame

_LINES = (0, 1, 2, 5, 999_999, 1_000_000, (1 << 32) - 1)
_SIZES = (0, 1, 2, 3, 65536, (1 << 31) - 1, (1 << 32) - 1)


@dataclass(frozen=True, slots=True)
class _Result:
    """The body of a frame: its head without the sizes, the sizes, and what follows them."""

    line: int
    rest: tuple[int, ...]
    sizes: tuple[int, ...]
    raw: bytes

    def packed(self) -> bytes:
        """Return its bytes; sizes and values need not fit."""
        axes = min(len(self.sizes), 255)
        head = TRACED.pack(self.line, axes, *self.rest)
        return head + struct.pack(f"<{len(self.sizes)}I", *self.sizes) + self.raw


def _read(body: bytes) -> _Result | None:
    if len(body) < TRACED.size:
        return None
    line, axes, *rest = TRACED.unpack_from(body)
    start = TRACED.size + 4 * axes
    if len(body) < start:
        return None
    return _Result(line, tuple(rest), struct.unpack_from(f"<{axes}I", body, TRACED.size), body[start:])


Change = Callable[[random.Random, _Result], _Result]


def _on_one(change: Change) -> Callable[[random.Random, list[Piece], list[Piece]], None]:
    def mutation(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
        places = [at for at, frame in enumerate(frames) if frame.kind == Frame.TRACED]
        for at in draw.sample(places, min(len(places), draw.choice((1, 1, 3, 50)))):
            if (result := _read(frames[at].body)) is not None:
                frames[at] = replace(frames[at], body=change(draw, result).packed())

    return mutation


def _line(draw: random.Random, result: _Result) -> _Result:
    return replace(result, line=draw.choice(_LINES))


def _traits(draw: random.Random, result: _Result) -> _Result:
    return replace(result, rest=tuple(draw.choice((0, 1, 2, 3, 4, 7, 8, 255)) for _ in result.rest))


def _sizes(draw: random.Random, result: _Result) -> _Result:
    """Let sizes be other ones, which the values mostly do not fit."""
    sizes = list(result.sizes) or [1]
    sizes[draw.randrange(len(sizes))] = draw.choice(_SIZES)
    return replace(result, sizes=tuple(sizes * draw.choice((1, 1, 2, 4))))


def _shape(draw: random.Random, result: _Result) -> _Result:
    """Lay the same values out in another shape: axes in another order, of length one, merged."""
    sizes = list(result.sizes)
    draw.shuffle(sizes)
    if len(sizes) > 1 and draw.random() < 0.3:
        sizes[:2] = [sizes[0] * sizes[1]]
    while len(sizes) < MOST_AXES and draw.random() < 0.5:
        sizes.insert(draw.randrange(len(sizes) + 1), 1)
    return replace(result, sizes=tuple(min(size, (1 << 32) - 1) for size in sizes))


def _numbers(draw: random.Random, result: _Result) -> _Result:
    """Put numbers that are hard to compute with into it, in one place or in all."""
    count, odd = len(result.raw) // 8, draw.choice(DOUBLES)
    if not count or draw.random() < 0.5:
        return replace(result, raw=odd * count)
    at = 8 * draw.randrange(count)
    return replace(result, raw=result.raw[:at] + odd + result.raw[at + 8 :])


def _mixed(draw: random.Random, result: _Result) -> _Result:
    """Put its numbers into another order: the sum is the same, which is what comparisons look at first."""
    numbers = [result.raw[at : at + 8] for at in range(0, len(result.raw), 8)]
    draw.shuffle(numbers)
    return replace(result, raw=b"".join(numbers))


def _scaled(draw: random.Random, result: _Result) -> _Result:
    """Multiply its numbers, as far as they stay numbers of eight bytes."""
    factor = draw.choice((2.0, -1.0, 0.5, 1 + 1e-12, 1e200))
    numbers = struct.unpack(f"<{len(result.raw) // 8}d", result.raw[: len(result.raw) // 8 * 8])
    scaled = [number * factor if math.isfinite(number) else number for number in numbers]
    return replace(result, raw=struct.pack(f"<{len(scaled)}d", *scaled))


def _crowd(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Send as many results as may be sent, or one more, all like one that is there."""
    places = [at for at, frame in enumerate(frames) if frame.kind == Frame.TRACED]
    model = _read(frames[draw.choice(places)].body) if places else None
    if model is None:
        return
    change = draw.choice((_mixed, _scaled, _shape, _numbers, _line))
    missing = MOST_RESULTS - len(places) + draw.choice((0, 0, 0, 1))
    more = [replace(frames[places[0]], body=change(draw, model).packed()) for _ in range(missing)]
    frames[places[-1] : places[-1]] = more


ON_TRACES = (*(_on_one(one) for one in (_line, _traits, _sizes, _shape, _numbers, _mixed, _scaled)), _crowd)
