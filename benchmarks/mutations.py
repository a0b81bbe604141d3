"""Answers of the box, told wrongly: every mutation that the fuzzer knows, on bytes and on frames.

A mutation takes a recorded answer and returns bytes. Some keep its structure, so that what is behind the first check of
the reader is reached as well; the others break it anywhere.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.pieces import Piece, joined
from grader.box.observations import Presence
from grader.box.plan import DTYPES
from grader.box.wire.answer import TEXT_LIMIT, Frame

_LENGTHS = (0, 1, 2, 7, 8, TEXT_LIMIT, TEXT_LIMIT + 1, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
_NUMBERS = (0, 1, -1, 255, 256, 65535, 1 << 31, -(1 << 31), 1 << 62, 1 << 63, 1 << 64, 10**300, 0.5, 1e308, -0.0)
_TEXTS = (
    "", "\0", "\ud800", "\udfff\ud800", "\u202e", "a" * 70, "é" * 5000,
    "load", "call", "error", "weights", "{}", "NaN",
)  # fmt: skip
_RAW = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 5000, b"01", b"true", b"null", b"[]", b"{}", b"\xff\xfe",
    b'"\\ud800"', b'"' + b"x" * 60_000 + b'"', b"[" * 3000, b'{"a":' * 3000,
    b"[" * 900 + b"]" * 900, b'{"a":' * 450 + b"1" + b"}" * 450,
)  # fmt: skip
DOUBLES = (
    b"\xff" * 8,
    bytes(8),
    b"\0\0\0\0\0\0\xf0\x7f",
    b"\0\0\0\0\0\0\xf8\x7f",
    b"\xff\xff\xff\xff\xff\xff\xef\x7f",
    b"\1\0\0\0\0\0\0\0",
)  # fmt: skip - NaN, zero, infinity, NaN, the largest and the smallest double
_WORDY = (Frame.CALLED, Frame.BUILT, Frame.LOADING, Frame.TOUCHED)
_STAGES = ("load", "construct", "transfer", "call", "backward")
_BLAMES = ("error", "forbidden", "argument", "weights", "entry")


OnFrames = Callable[[random.Random, list[Piece], list[Piece]], None]


def mutate(draw: random.Random, frames: list[Piece], others: list[Piece], more: Sequence[OnFrames] = ()) -> bytes:
    """Return an answer with one to four things wrong; `others` is another answer to take pieces from.

    With `more` mutations, every other one is of these.
    """
    frames = list(frames)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 4))):
        if frames:
            ways = more if more and draw.random() < 0.5 else _ON_FRAMES
            draw.choice(ways)(draw, frames, others)
    stream = joined(frames)
    return draw.choice(_ON_BYTES)(draw, stream, others) if draw.random() < 0.4 else stream


def cut(draw: random.Random, stream: bytes) -> list[bytes]:
    """Return a stream in pieces: whole, of one size, at random places, or byte by byte if it is short."""
    way = draw.randrange(4)
    if way == 0 or len(stream) < 2:
        return [stream]
    if way == 1 and len(stream) < 600:
        return [stream[at : at + 1] for at in range(len(stream))]
    if way == 2:
        size = draw.choice((3, 8, 9, 61, 1024, 4096)) if len(stream) < 4000 else draw.choice((509, 1024, 4096, 65536))
        return [stream[at : at + size] for at in range(0, len(stream), size)]
    places = sorted({draw.randrange(1, len(stream)) for _ in range(draw.randint(1, 6))})
    return [stream[a:b] for a, b in zip([0, *places], [*places, len(stream)], strict=True)]


def _drop(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    del frames[draw.randrange(len(frames))]


def _repeat(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    frames.insert(draw.randrange(len(frames) + 1), draw.choice(frames))


def _swap(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    a, b = draw.randrange(len(frames)), draw.randrange(len(frames))
    frames[a], frames[b] = frames[b], frames[a]


def _shuffle(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    draw.shuffle(frames)


def _splice(draw: random.Random, frames: list[Piece], others: list[Piece]) -> None:
    at = draw.randrange(len(frames) + 1)
    frames[at:] = others[draw.randrange(len(others) + 1) :]


def _take_over(draw: random.Random, frames: list[Piece], others: list[Piece]) -> None:
    frames[draw.randrange(len(frames))] = draw.choice(others)


def _head(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    at = draw.randrange(len(frames))
    kind = draw.choice((*Frame, draw.randrange(256)))
    here = frames[at]
    changes: dict[str, Any] = draw.choice((
        {"kind": kind},
        {"index": draw.choice((0, 1, 2, 3, 65535, draw.randrange(65536)))},
        {"sizes": (max(0, len(here.text) + draw.choice((-1, 1, 7, -8))), len(here.values))},
        {"sizes": (len(here.text), max(0, len(here.values) + draw.choice((-1, 1, 7, -8))))},
        {"sizes": draw.choice(((draw.choice(_LENGTHS), len(here.values)), (len(here.text), draw.choice(_LENGTHS))))},
    ))  # fmt: skip
    frames[at] = replace(here, **changes)


def _calls(frames: list[Piece]) -> list[tuple[int, dict[str, Any]]]:
    """Return what is told in the frames of calls that have a slot and are whole, by their places."""
    told = [(at, frame.told()) for at, frame in enumerate(frames) if frame.kind == Frame.CALLED]
    return [(at, one) for at, one in told if one is not None and isinstance(one.get("slots"), list) and one["slots"]]


def _slot(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Let a slot have come in another way, and all else as it was; with a shape and a dtype that may be lies."""
    if not (calls := _calls(frames)):
        return
    at, told = draw.choice(calls)
    shape = draw.choice(([], [0], [3, 5], [1 << 62, 4], [-1], [True], ["3"], [1] * 65, [0.5], None, {}, 7))
    words = {"presence": draw.choice((*Presence, "", None)), "shape": shape, "dtype": draw.choice((*DTYPES, *_TEXTS))}
    ways = (*DTYPES, "complex64", None, {}, [], 0, *([{**words, "what": draw.choice(_TEXTS)}] * 8))
    told["slots"][draw.randrange(len(told["slots"]))] = draw.choice(ways)
    frames[at] = replace(frames[at], text=json.dumps(told).encode(errors="surrogatepass"))


def _bits(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    at = draw.randrange(len(frames))
    part = draw.choice(("text", "values"))
    body = bytearray(getattr(frames[at], part))
    for _ in range(draw.choice((1, 1, 8))):
        if body:
            body[draw.randrange(len(body))] ^= 1 << draw.randrange(8)
    frames[at] = replace(frames[at], **{part: bytes(body)})


def _values(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Put the numbers that are hardest on a judge into a call: NaN, infinities, the largest and the smallest."""
    calls = [at for at, frame in enumerate(frames) if frame.kind == Frame.CALLED and frame.values]
    if not calls:
        return
    at, eight = draw.choice(calls), draw.choice(DOUBLES)
    values = bytearray(frames[at].values)
    if draw.random() < 0.5:
        values[:] = (eight * (len(values) // 8 + 1))[: len(values)]
    else:
        place = 8 * draw.randrange(len(values) // 8 + 1)
        values[place : place + 8] = eight[: len(values[place : place + 8])]
    frames[at] = replace(frames[at], values=bytes(values))


def _json(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Change one value somewhere in the JSON of a frame, name one twice, or leave one out."""
    texts = [at for at, frame in enumerate(frames) if frame.kind in _WORDY]
    if not texts:
        return
    at = draw.choice(texts)
    if (data := frames[at].told()) is None:
        return
    mark = f"mark{draw.randrange(1 << 30)}"
    _plant(draw, data, mark)
    text = json.dumps(data, ensure_ascii=draw.random() < 0.8).encode(errors="surrogatepass")
    text = text.replace(f'"{mark}"'.encode(), draw.choice(_RAW))
    frames[at] = replace(frames[at], text=text)


def _plant(draw: random.Random, data: Any, mark: str) -> None:
    """Put an odd value in the place of one in `data`, at any depth; sometimes `mark`, which stands for raw JSON."""
    while isinstance(data, dict | list) and data:
        key: Any = draw.choice(list(data)) if isinstance(data, dict) else draw.randrange(len(data))
        if isinstance(data[key], dict | list) and data[key] and draw.random() < 0.6:
            data = data[key]
            continue
        odd = (draw.choice(_NUMBERS), draw.choice(_TEXTS), None, True, [], {}, [[0.0, 1.0]], mark, mark, "x" * 60_000)
        if isinstance(data, dict) and draw.random() < 0.3:
            data[draw.choice((*_TEXTS, "raised", "mapping", "largest", "initial", "slots"))] = draw.choice(odd)
        else:
            data[key] = draw.choice(odd)
        return


def _explain(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Let a call or a construction raise, from any stage and for any reason."""
    ends = [at for at, frame in enumerate(frames) if frame.kind in (Frame.CALLED, Frame.BUILT)]
    if not ends:
        return
    at = draw.choice(ends)
    raised = {
        "stage": draw.choice(_STAGES),
        "blame": draw.choice(_BLAMES),
        "type": draw.choice(_TEXTS),
        "message": draw.choice(_TEXTS),
        "line": draw.choice(_NUMBERS),
    }
    told = dict(frames[at].told() or {}) | {"raised": {**raised, "bases": []}}
    for key in told.keys() & {"modified", "unused", "zeroed", "loose"}:
        told[key] = [draw.choice(_TEXTS)] * draw.choice((0, 1, 100))
    frames[at] = replace(frames[at], text=json.dumps(told).encode(errors="surrogatepass"))


def _touch(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Let traps spring where none did."""
    for _ in range(draw.choice((1, 2, 4, 5, 40))):
        touch = {"what": draw.choice(_TEXTS), "line": draw.choice(_NUMBERS), "function": draw.choice(_TEXTS)}
        traits = {"loading": draw.random() < 0.3, "noticed": draw.random() < 0.3}
        text = json.dumps({**touch, **traits}).encode(errors="surrogatepass")
        frames.insert(draw.randrange(len(frames) + 1), Piece(Frame.TOUCHED, 0, text))


def _truncate(draw: random.Random, stream: bytes, _others: list[Piece]) -> bytes:
    return stream[: draw.randrange(len(stream) + 1)]


def _flip(draw: random.Random, stream: bytes, _others: list[Piece]) -> bytes:
    changed = bytearray(stream)
    for _ in range(draw.choice((1, 2, 16))):
        if changed:
            changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _insert(draw: random.Random, stream: bytes, _others: list[Piece]) -> bytes:
    at = draw.randrange(len(stream) + 1)
    return stream[:at] + draw.randbytes(draw.choice((1, 8, 100))) + stream[at + draw.choice((0, 0, 8)) :]


def _graft(draw: random.Random, stream: bytes, others: list[Piece]) -> bytes:
    other = joined(others)
    return stream[: draw.randrange(len(stream) + 1)] + other[draw.randrange(len(other) + 1) :]


OnBytes = Callable[[random.Random, bytes, list[Piece]], bytes]
_ON_FRAMES: tuple[OnFrames, ...] = (
    _drop, _repeat, _swap, _shuffle, _splice, _take_over, _head, _head, _slot, _slot, _slot, _bits, _bits,
    _values, _values, _values, _json, _json, _json, _json, _explain, _touch,
)  # fmt: skip
_ON_BYTES: tuple[OnBytes, ...] = (_truncate, _flip, _insert, _graft)
