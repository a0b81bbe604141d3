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

from benchmarks.pieces import NOTHING_TOLD, CalledBody, Piece, joined, opened
from grader.box.frames import ABSENT, DTYPE_NAMES, IN_WORDS, PRESENCES, TEXT_LENGTH, TEXT_LIMIT, Frame

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
_CODES = (*range(len(DTYPE_NAMES) + 1), *range(IN_WORDS, IN_WORDS + len(PRESENCES) + 1), ABSENT)
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
    changes: dict[str, int] = draw.choice((
        {"kind": kind},
        {"code": draw.choice((*range(len(DTYPE_NAMES) + 2), *range(len(PRESENCES) + 1), 255))},
        {"index": draw.choice((0, 1, 2, 3, 65535, draw.randrange(65536)))},
        {"length": max(0, len(frames[at].body) + draw.choice((-1, 1, 7, -8)))},
        {"length": draw.choice(_LENGTHS)},
    ))  # fmt: skip
    frames[at] = replace(frames[at], **changes)


def _calls(frames: list[Piece]) -> list[tuple[int, CalledBody]]:
    """Return the frames of calls that have a slot and can be taken apart, by their places."""
    bodies = [(at, opened(frame.body, frame.sizes)) for at, frame in enumerate(frames) if frame.kind == Frame.CALLED]
    return [(at, body) for at, body in bodies if body is not None and body.codes]


def _slot(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Let a slot have another code, and all else as it was."""
    if not (calls := _calls(frames)):
        return
    at, body = draw.choice(calls)
    raw = bytearray(frames[at].body)
    raw[TEXT_LENGTH.size + draw.randrange(len(body.codes))] = draw.choice((*_CODES, draw.randrange(256)))
    frames[at] = replace(frames[at], body=bytes(raw))


def _bits(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    at = draw.randrange(len(frames))
    body = bytearray(frames[at].body)
    for _ in range(draw.choice((1, 1, 8))):
        if body:
            body[draw.randrange(len(body))] ^= 1 << draw.randrange(8)
    frames[at] = replace(frames[at], body=bytes(body))


def _values(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Put the numbers that are hardest on a judge into a tensor: NaN, infinities, the largest and the smallest."""
    calls = [(at, body) for at, body in _calls(frames) if any(body.tensors.values())]
    if not calls:
        return
    at, body = draw.choice(calls)
    number = draw.choice([number for number, raw in body.tensors.items() if raw])
    eight = draw.choice(DOUBLES)
    values = bytearray(body.tensors[number])
    if draw.random() < 0.5:
        values[:] = (eight * (len(values) // 8 + 1))[: len(values)]
    else:
        place = 8 * draw.randrange(len(values) // 8 + 1)
        values[place : place + 8] = eight[: len(values[place : place + 8])]
    body.tensors[number] = bytes(values)
    frames[at] = replace(frames[at], body=body.packed())


def _turn_into_words(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Say in words what should be a tensor, with a shape and a dtype that may be lies."""
    if not (calls := _calls(frames)):
        return
    at, body = draw.choice(calls)
    number = draw.randrange(len(body.codes))
    shape = draw.choice(([], [0], [3, 5], [1 << 62, 4], [-1], [True], ["3"], [1] * 65, [0.5], None, {}, 7))
    data = {"shape": shape, "dtype": draw.choice((*DTYPE_NAMES, "complex64", *_TEXTS)), "what": draw.choice(_TEXTS)}
    words = body.words()
    before = sum(len(DTYPE_NAMES) <= code != ABSENT for code in body.codes[:number])
    known = len(DTYPE_NAMES) <= body.codes[number] != ABSENT
    body.told = {**(body.told or NOTHING_TOLD), "slots": [*words[:before], data, *words[before + known :]]}
    body.codes[number] = IN_WORDS + draw.randrange(len(PRESENCES) + 1)
    body.tensors.pop(number, None)
    frames[at] = replace(frames[at], body=body.packed())


def _json(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Change one value somewhere in the JSON of a frame, name one twice, or leave one out."""
    texts = [at for at, frame in enumerate(frames) if frame.kind in _WORDY]
    if not texts:
        return
    at = draw.choice(texts)
    called = opened(frames[at].body, frames[at].sizes) if frames[at].kind == Frame.CALLED else None
    try:
        data = json.loads(frames[at].body) if called is None else called.told
    except (ValueError, RecursionError):
        return
    data = dict(NOTHING_TOLD) if data is None else data
    mark = f"mark{draw.randrange(1 << 30)}"
    _plant(draw, data, mark)
    text = json.dumps(data, ensure_ascii=draw.random() < 0.8).encode(errors="surrogatepass")
    text = text.replace(f'"{mark}"'.encode(), draw.choice(_RAW))
    frames[at] = replace(frames[at], body=text if called is None else called.packed(text))


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
    lists = {key: [draw.choice(_TEXTS)] * draw.choice((0, 1, 100)) for key in ("modified", "unused", "zeroed", "loose")}
    data = {"raised": raised, "mapping": {draw.choice(_TEXTS): draw.choice(_TEXTS)}, **lists}
    called = opened(frames[at].body, frames[at].sizes) if frames[at].kind == Frame.CALLED else None
    text = json.dumps(data if called is None else {**data, "slots": called.words()}).encode()
    frames[at] = replace(frames[at], body=text if called is None else called.packed(text))


def _touch(draw: random.Random, frames: list[Piece], _others: list[Piece]) -> None:
    """Let traps spring where none did."""
    for _ in range(draw.choice((1, 2, 4, 5, 40))):
        touch = {"what": draw.choice(_TEXTS), "line": draw.choice(_NUMBERS), "function": draw.choice(_TEXTS)}
        body = json.dumps(touch).encode()
        frames.insert(draw.randrange(len(frames) + 1), Piece(Frame.TOUCHED, draw.choice((0, 0, 1, 2)), 0, body))


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
    _drop, _repeat, _swap, _shuffle, _splice, _take_over, _head, _head, _slot, _bits, _bits, _values, _values, _values,
    _turn_into_words, _turn_into_words, _json, _json, _json, _json, _explain, _touch,
)  # fmt: skip
_ON_BYTES: tuple[OnBytes, ...] = (_truncate, _flip, _insert, _graft)
