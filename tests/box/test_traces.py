"""Traced calls: what a recorder keeps, how that travels, and that nothing else gets through."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from dataclasses import replace

import pytest
import torch

from grader.box.inline import InlineBox
from grader.box.observations import (
    MOST_AXES,
    MOST_LINES,
    MOST_RESULTS,
    TRACE_LIMIT,
    Blame,
    CallSeen,
    Loaded,
    Presence,
    Raised,
    Seen,
    Stage,
    Traced,
)
from grader.box.plan import Call, Entry, Kind, Plan, TensorSpec
from grader.box.run import Box, Limits
from grader.box.wire.answer import HEADER, Frame, FrameReader, pack
from grader.box.wire.job import decode_job, encode_job
from grader.errors import BadAnswer
from tests.box.small import numbers

_CALL = Call("small/base", None, {"x": numbers(3, 4)}, (TensorSpec("output:y", ("a", "b"), (3, 4)),), traced=True)
_PLAN = Plan(Entry("double", Kind.FUNCTION, ("x",)), (), (_CALL,))
_BACKWARD = replace(_PLAN, calls=(replace(_CALL, grad_outputs=(torch.ones(3, 4),), wants=("x",)),))
_IN_PLACE = """
def halved(x):
    return x / 2

def double(x):
    y = halved(x)
    y *= 4
    return y
"""


def _trace(source: str, box: Box, plan: Plan = _PLAN) -> tuple[Traced, ...]:
    return box.run(plan, source, Limits()).observations.calls["small/base"].trace


def _result(raw: bytes = bytes(32), **told: object) -> bytes:
    """Return the frame of one result, two by two, with some of what is told of it changed."""
    traits = dict.fromkeys(("random", "writes", "cuts", "gradient"), False)
    whole = {"line": 3, "caller": 0, "dtype": "float64", **traits, "lines": [], "shape": [2, 2], **told}
    text = json.dumps(whole).encode()
    return HEADER.pack(Frame.TRACED, 0, len(text), len(raw)) + text + raw


def test_results_are_kept_with_their_lines_as_they_were_at_the_time(box: Box) -> None:
    """The innermost line of the file counts, and a later change in place leaves the copy alone; through the sandbox."""
    first, second = _trace(_IN_PLACE, box)

    assert (first.line, second.line) == (3, 7)
    torch.testing.assert_close(first.values, numbers(3, 4) / 2, rtol=0.0, atol=0.0)
    torch.testing.assert_close(second.values, numbers(3, 4) * 2, rtol=0.0, atol=0.0)


def test_a_call_that_is_not_traced_keeps_nothing() -> None:
    """Only what was asked for is recorded."""
    plan = replace(_PLAN, calls=(replace(_CALL, traced=False),))

    assert _trace(_IN_PLACE, InlineBox(), plan) == ()


def test_what_is_kept_is_bounded(box: Box) -> None:
    """A thousand results, or large ones, are cut to what may be sent, and the call ends well all the same."""
    many = "def double(x):\n    for _ in range(1000):\n        x = x + 1\n    return x"
    large = "import torch\ndef double(x):\n    for _ in range(9):\n        y = torch.ones(99_999) + 1\n    return x * 2"

    assert len(_trace(many, box)) == MOST_RESULTS
    kept = _trace(large, box)
    assert sum(result.values.nbytes for result in kept) <= TRACE_LIMIT
    assert kept[-1].values.shape == (3, 4)  # what is small and comes later is still kept


def test_gradients_come_back_to_the_results_they_belong_to(box: Box) -> None:
    """Of a call with a backward pass each result has its own; what was cut off has none."""
    source = "def double(x):\n    y = x * 3\n    z = y.detach() * 5\n    return y * 2 + z * 0"

    gradients = {result.line: result.gradient for result in _trace(source, box, _BACKWARD) if result.line < 4}

    assert gradients[3] is None
    torch.testing.assert_close(gradients[2], torch.full((3, 4), 2.0, dtype=torch.float64), rtol=0.0, atol=0.0)


def test_draws_and_writes_into_arguments_are_noted(box: Box) -> None:
    """A write through a view counts, and one into what the code made itself does not."""
    source = """import torch
def double(x):
    noise = torch.rand(3, 4)
    noise += 1
    x[0] = 7.0
    return noise"""

    traits = {result.line: (result.random, result.writes) for result in _trace(source, box)}

    assert traits == {3: (True, False), 4: (False, False), 5: (False, True)}


def test_only_real_numbers_are_kept() -> None:
    """Masks, counts and empty tensors tell nothing that could be compared."""
    source = "import torch\ndef double(x):\n    x > 0, torch.arange(4), x[:0], x.to(torch.complex64)\n    return x * 2"

    assert [result.line for result in _trace(source, InlineBox())] == [4]


_WITHOUT_NUMBERS = {
    "meta": "torch.ones(3, device='meta').mul_(2)",
    "nested": "torch.nested.nested_tensor([x, x[:1]]) * 2",
    "freed": "y = x * 1; y.untyped_storage().resize_(0); y.view(-1).transpose(0, 0)",
    "sparse": "x.to_sparse().mul_(2)",
    "quantised": "torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8)",
    "too large": "x[0, 0].expand(100_000, 100_000)",
    "vmap": "torch.func.vmap(torch.func.grad(lambda row: row.sum()))(x)",
}


@pytest.mark.parametrize("line", _WITHOUT_NUMBERS.values(), ids=_WITHOUT_NUMBERS)
def test_what_has_no_numbers_to_copy_ends_no_call(line: str, box: Box) -> None:
    """Right code may make such tensors on its way; the call ends as it does unrecorded, and the rest is kept."""
    source = f"import torch\ndef double(x):\n    {line}\n    return x * 2"

    call = box.run(_PLAN, source, Limits()).observations.calls["small/base"]

    assert call.raised is None
    assert call.trace[-1].line == 4
    torch.testing.assert_close(call.trace[-1].values, numbers(3, 4) * 2, rtol=0.0, atol=0.0)


_SOURCES = """import torch
kept = torch.ones(4)
def helper(y):
    return torch.tril(torch.ones(3, 4)) * y
def double(x):
    a = x * 2
    b = torch.zeros(3, 4)
    b[0] = a[1]
    c = helper(a)
    d = torch.zeros_like(c) + kept
    return c
"""


def test_a_result_knows_all_lines_that_it_comes_from(box: Box) -> None:
    """Through views, writes and helpers; what takes only a shape comes from nowhere, and 0 is what was there before."""
    came = [(result.line, set(result.lines)) for result in _trace(_SOURCES, box)]

    made, product = came.index((4, {4})), (4, {4, 6})
    assert {(6, (6,)), (7, (7,)), (10, (0, 10))} <= {(line, tuple(sorted(lines))) for line, lines in came}
    assert came[made:].count(product) == 1
    assert (8, {6, 7, 8}) in came


_VIEWS = """import torch
def times(y, z):
    return torch.einsum("ij,kj->ik", y, z)
def double(x):
    a = times(x, x * 2)
    b = times(x, x * 3)
    c = torch.zeros(4)
    c[1] = 5
    return x * 2
"""


def test_a_view_of_an_argument_leaves_its_lines_to_itself(box: Box) -> None:
    """Whatever looks at an argument comes from its own line alone, and numbers that Python writes from anywhere before.

    Of each call of torch's own Python code the results are kept, and of a helper the line that called it.
    """
    results = _trace(_VIEWS, box)
    products = [(one.line, one.caller, set(one.lines)) for one in results if one.values.shape == (3, 3)]

    assert (3, 5, {3, 5}) in products
    assert (3, 6, {3, 6}) in products
    assert (9, 0, {9}) in [(one.line, one.caller, set(one.lines)) for one in results]
    assert {0, 7, 8} in [set(one.lines) for one in results if one.line == 8]


def test_each_call_of_a_function_of_torch_is_bounded_by_itself(box: Box) -> None:
    """Ten products in the terms of Einstein have dozens of results together; none crowds out those of another."""
    source = "import torch\ndef double(x):\n" + '    torch.einsum("ij,kj->ik", x, x * 2)\n' * 10 + "    return x * 2"

    assert {one.line for one in _trace(source, box)} == set(range(3, 14))


_CUTS = """import torch
from torch import nn
def double(x):
    a = torch.softmax(x * 2, -1)
    b = a.detach()
    with torch.no_grad():
        c = a * 2
    d = torch.zeros_like(a)
    e = a.data
    if (a.detach() > 3).any():
        return x
    return 2 * x + 0 * (a * b + c + d + e)
"""


def test_a_result_that_passes_no_gradient_on_is_marked(box: Box) -> None:
    """Torch itself detaches in a softmax, and a mask may; only what enters the numbers counts."""
    cuts = {result.line for result in _trace(_CUTS, box, _BACKWARD) if result.cuts}

    assert cuts == {5, 7, 9}


def test_a_trace_travels_as_it_is() -> None:
    """Lines, shapes and numbers come out of the wire as they went in, and the plan says that they were asked for."""
    seen = CallSeen(
        "small/base",
        {"output:y": Seen(Presence.TENSOR, numbers(3, 4), (3, 4), "float64"), "input:x": Seen(Presence.NONE)},
        trace=(
            Traced(1, numbers(2, 3, seed=1), "float32", random=True, gradient=numbers(2, 3, seed=2)),
            Traced(
                999,
                torch.tensor(0.5, dtype=torch.float64),
                writes=True,
                cuts=True,
                lines=frozenset({0, 7, 999}),
                caller=8,
            ),
        ),
    )
    (event,) = FrameReader(_BACKWARD).feed(pack(seen, _BACKWARD))

    assert isinstance(event, CallSeen)
    assert [(result.line, result.values.shape) for result in event.trace] == [(1, (2, 3)), (999, ())]
    assert all(torch.equal(a.values, b.values) for a, b in zip(event.trace, seen.trace, strict=True))
    traits = [(result.dtype, result.random, result.writes, result.cuts) for result in event.trace]
    assert traits == [("float32", True, False, False), ("float64", False, True, True)]
    assert [(result.lines, result.caller) for result in event.trace] == [(frozenset(), 0), (frozenset({0, 7, 999}), 8)]
    assert event.trace[0].gradient is not None
    assert torch.equal(event.trace[0].gradient, numbers(2, 3, seed=2))
    assert event.trace[1].gradient is None
    assert decode_job(encode_job(_PLAN, ""))[0].calls[0].traced


_WRONG = {
    "line zero": _result(line=0),
    "a line beyond any file": _result(line=1_000_000),
    "a caller beyond any file": _result(caller=1_000_000),
    "too many axes": _result(bytes(8), shape=[1] * (MOST_AXES + 1)),
    "fewer bytes than its sizes": _result(bytes(24)),
    "more bytes than its sizes": _result(bytes(40)),
    "an empty one, whose sizes overflow": _result(b"", shape=[0, (1 << 62), (1 << 62)]),
    "no sizes": _result(shape=None),
    "a negative size": _result(shape=[-2, -2]),
    "no lines": _result(lines=None),
    "too many lines": _result(lines=[1] * (MOST_LINES + 1)),
    "a line that is a text": _result(lines=["1"]),
    "an unknown dtype": _result(dtype="float8", writes=True),
    "an unknown trait": _result(bends=True),
    "a trait that is no truth": _result(cuts=1),
    "a gradient that is not there": _result(gradient=True),
    "a gradient that was not announced": _result(bytes(64)),
    "cut off": HEADER.pack(Frame.TRACED, 0, 1, 0) + b"x",
    "a huge length": HEADER.pack(Frame.TRACED, 0, 2, (1 << 32) - 1),
    "no such call": HEADER.pack(Frame.TRACED, 5, 38, 0) + bytes(38),
    "too many": _result() * (MOST_RESULTS + 1),
    "too much": _result(bytes(TRACE_LIMIT // 2), shape=[TRACE_LIMIT // 16]) * 3,
}


@pytest.mark.parametrize("data", _WRONG.values(), ids=_WRONG)
def test_a_wrong_result_is_a_bad_answer(data: bytes) -> None:
    """Whatever breaks the format or its bounds is refused, before it takes memory."""
    with pytest.raises(BadAnswer):
        FrameReader(_BACKWARD).feed(data)


def test_a_result_says_only_what_a_recorder_keeps() -> None:
    """Gradients come back in a backward pass alone, and integers are kept only where they were written."""
    FrameReader(_BACKWARD).feed(_result(bytes(64), gradient=True) + _result(dtype="int64", writes=True))
    with pytest.raises(BadAnswer, match="without a backward pass"):
        FrameReader(_PLAN).feed(_result(bytes(64), gradient=True))
    with pytest.raises(BadAnswer, match="int64, which is not kept there"):
        FrameReader(_BACKWARD).feed(_result(dtype="int64"))


def test_a_file_is_loaded_before_anything_is_traced() -> None:
    """Neither that it was loaded nor that it could not be comes after a result."""
    for late in (Loaded(), Raised(Stage.LOAD, Blame.ERROR, "E", "")):
        with pytest.raises(BadAnswer):
            FrameReader(_PLAN).feed(_result() + pack(late, _PLAN))


def test_a_trace_that_nobody_asked_for_is_a_bad_answer() -> None:
    """A call that is not traced has no results of operations."""
    with pytest.raises(BadAnswer):
        FrameReader(replace(_PLAN, calls=(replace(_CALL, traced=False),))).feed(_result())


def test_no_bytes_raise_anything_but_a_bad_answer() -> None:
    """Results with any bits flipped are read or refused; what is read keeps the bounds."""
    draw = random.Random(5)
    for _ in range(3000):
        data = bytearray(_result(bytes(draw.randrange(9) * 8), shape=[2, draw.randrange(4)]))
        for _ in range(draw.randrange(4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        reader = FrameReader(_PLAN)
        with suppress(BadAnswer):
            reader.feed(bytes(data) + pack(CallSeen("small/base", {}, None), _PLAN))
        assert len(reader.events) <= 2
