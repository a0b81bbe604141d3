"""Arguments: a student's own names are understood, and never at the cost of a name of the contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

from grader.box.binding.arguments import call_with
from grader.box.plan import Argument, Scalar
from grader.errors import ArgumentMismatch

_X, _Y, _Z = torch.zeros(1), torch.zeros(2), torch.zeros(3)
_QKV, _MASKED = {"query": 1, "key": 2, "value": 3}, {"query": _X, "key": _Y, "mask": _Z}
_STATES = {"encoder_outputs": _X, "decoder_hidden": _Y}


def _call(
    function: Callable[..., Any],
    given: Mapping[str, Argument],
    order: tuple[str, ...] = (),
    defaults: Mapping[str, Scalar] | None = None,
) -> Any:
    return call_with(function, given, order=order or tuple(given), defaults=defaults or {}, described="`f`")


def _slash(query: Any, key: Any, /, value: Any) -> Any:
    return query, key, value


def _star(query: Any, *, mask: Any = None) -> Any:
    return query, mask


def _blocks(q: int, seq_len: int = 9, max_len: int = 8, block_size: int = 64) -> Any:
    return q, seq_len, max_len, block_size


def _own_among_others(
    size: int, count: int, verbose: bool = False, share: float = 0.2, steps: int = 90, trace: Any = None
) -> Any:
    return size, count, verbose, share, steps, trace


_BLOCK = {"q": 1, "block_size": 4}
_BLOCK_ORDER, _BLOCK_DEFAULTS = ("q", "block_size", "causal"), {"block_size": 64}
_MODEL_ORDER, _MODEL_DEFAULTS = ("d_model", "num_heads", "dropout", "max_len"), {"dropout": 0.1, "max_len": 5000}
_ROTARY: dict[str, Any] = {"base": 10000.0, "offset": 0}
_ALL = ("query", "key", "value", "mask")
# The function, what it is given, the contract's order and defaults where they are more than that, and what it gets.
_UNDERSTOOD: dict[str, tuple[Any, dict[str, Any], tuple[str, ...], dict[str, Scalar], Any]] = {
    "exact names, whatever their order": (lambda value, query, key: (query, key, value), _QKV, (), {}, (1, 2, 3)),
    "a customary name": (lambda input_dim, other: (input_dim, other), {"d_in": 5, "other": 6}, (), {}, (5, 6)),
    "another one": (lambda n_heads, other: (n_heads, other), {"num_heads": 5, "other": 6}, (), {}, (5, 6)),
    "a letter": (lambda p, other: (p, other), {"dropout": 5, "other": 6}, (), {}, (5, 6)),
    "a shorter one": (lambda pad_id, other: (pad_id, other), {"pad_idx": 5, "other": 6}, (), {}, (5, 6)),
    "a capital": (lambda Q, other: (Q, other), {"query": 5, "other": 6}, (), {}, (5, 6)),  # noqa: N803
    "the contract's name before its aliases": (_blocks, _BLOCK, _BLOCK_ORDER, _BLOCK_DEFAULTS, (1, 9, 8, 4)),
    "an alias alone": (lambda q, max_len=8: (q, max_len), _BLOCK, _BLOCK_ORDER, _BLOCK_DEFAULTS, (1, 4)),
    "`**` takes what has no parameter": (
        lambda d_in, **rest: (d_in, rest), {"d_in": 1, "num_heads": 2}, (), {}, (1, {"num_heads": 2}),
    ),
    "`**` takes nothing of a parameter's": (
        lambda x, y, **rest: (x, y, rest), {"query": _X, "key": _Y}, (), {}, (_X, _Y, {}),
    ),
    "`*` gets the contract's order": (
        lambda *args: args, {"value": 3, "query": 1, "key": 2}, ("query", "key", "value"), {}, (1, 2, 3),
    ),
    "`*` gets defaults in between": (
        lambda *args, **kwargs: args, {"d_model": 8, "num_heads": 2, "dropout": 0.5},
        ("d_model", "num_heads", "max_len", "dropout"), {"max_len": 512, "dropout": 0.1}, (8, 2, 512, 0.5),
    ),
    "positional only": (_slash, _QKV, (), {}, (1, 2, 3)),
    "keyword only, and single": (lambda *, anything: anything, {"x": 7}, (), {}, 7),
    "keyword only": (_star, {"query": 1, "mask": 2}, (), {}, (1, 2)),
    "a single one by position": (lambda inputs: inputs, {"x": 7}, (), {}, 7),
    "a single one beside defaults": (lambda inputs, verbose=False: (inputs, verbose), {"x": 7}, (), {}, (7, False)),
    "a lone tensor among numbers": (lambda scores, dim: (scores, dim), {"x": _X, "dim": -1}, (), {}, (_X, -1)),
    "position, where the number fits": (
        lambda x, y, z, mask=None: (x, y, z, mask), {"query": _X, "key": _Y, "value": _Z}, _ALL, {}, (_X, _Y, _Z, None),
    ),
    "position for all": (lambda a, b, c, m=None: (a, b, c, m), {**_QKV, "mask": 4}, _ALL, {}, (1, 2, 3, 4)),
    "position for numbers": (
        lambda width, n, *, rate: (width, n, rate), {"d_model": 8, "num_heads": 2, "dropout": 0.5}, (), {}, (8, 2, 0.5),
    ),
    "parameters of one's own": (
        _own_among_others, {"d_model": 8, "num_heads": 2, "dropout": 0.5}, _MODEL_ORDER, _MODEL_DEFAULTS,
        (8, 2, False, 0.5, 90, None),
    ),
    "each where the default is of its kind": (
        _own_among_others, {"d_model": 8, "num_heads": 2, "dropout": 0.0, "max_len": 7}, _MODEL_ORDER, _MODEL_DEFAULTS,
        (8, 2, False, 0.0, 7, None),
    ),
    "a mask beside a switch": (lambda a, b, log=False, m=None: (a, log, m), _MASKED, (), {}, (_X, False, _Z)),
    # Its default tells an argument apart, wherever it stands among the author's own.
    "the default of the exercise": (
        lambda x, factor=1.0, b=10000.0, begin=0: (factor, b, begin), {"x": _X, "base": 7.0}, ("x", "base", "offset"),
        _ROTARY, (1.0, 7.0, 0),
    ),
    "the same in another order": (
        lambda x, begin=0, b=10000, halves=True: (begin, b, halves), {"x": _X, "base": 7.0}, ("x", "base", "offset"),
        _ROTARY, (0, 7.0, True),
    ),
    "none for a number": (
        lambda x, reach=None, debug=False: (reach, debug), {"x": _X, "window": 3}, (), {}, (3, False),
    ),
    "a fraction for a number": (
        lambda x, reach=2.0, log=False: (reach, log), {"x": _X, "window": 3}, (), {}, (3, False),
    ),
    "two of a kind, and two": (
        lambda x, a=1, b=2, c="": (a, b), {"x": _X, "window": 3, "sinks": 4}, (), {}, (3, 4),
    ),
    "none beside a scale": (lambda q, k, scale=None, seen=None: (scale, seen), _MASKED, (), {}, (None, _Z)),
    "not the scale": (lambda q, k, hidden=False, scale=None: (hidden, scale), _MASKED, (), {}, (_Z, None)),
    "a mask beside an epsilon": (lambda q, k, eps=1e-9, seen=None: (eps, seen), _MASKED, (), {}, (1e-9, _Z)),
    # What one design calls `d_in` is `d_model` in another; where the number fits, position decides.
    "one design's width is another's": (
        lambda d_model, d_k, d_v: (d_model, d_k, d_v), {"d_in": 3, "d_out_kq": 2, "d_out_v": 4}, (), {}, (3, 2, 4),
    ),
    "a width of heads": (
        lambda d_model, d_head, init_range=0.02: (d_model, d_head), {"d_in": 3, "d_out": 2}, (), {}, (3, 2),
    ),
    "whatever width a name says": (
        lambda d_in, num_heads, groups, d_out=None, dtype=None: (d_in, num_heads, groups, d_out, dtype),
        {"d_model": 8, "num_heads": 4, "num_kv_heads": 2}, (), {}, (8, 4, 2, None, None),
    ),
    # Words of other designs stand for what has no word of its own.
    "a query asks values": (lambda query, values: (values, query), _STATES, (), {}, (_X, _Y)),
    "keys and a query": (lambda keys, query: (keys, query), _STATES, (), {}, (_X, _Y)),
    "a query and keys": (lambda query, keys: (keys, query), _STATES, (), {}, (_X, _Y)),
    "memory and a state": (
        lambda memory, attention_hidden_state: (memory, attention_hidden_state), _STATES, (), {}, (_X, _Y),
    ),
    "letters": (lambda h, s: (h, s), _STATES, (), {}, (_X, _Y)),
    "an argument at its default may be missing": (
        lambda query: query, {"query": _X, "mask": None}, (), {"mask": None}, _X,
    ),
    "a default where the student has none": (
        lambda d_in, d_out, context_length, dropout, qkv_bias: (d_in, d_out, context_length, dropout, qkv_bias),
        {"d_in": 1, "d_out": 2, "context_length": 3, "dropout": 0.0},
        ("d_in", "d_out", "context_length", "dropout", "qkv_bias"), {"qkv_bias": False}, (1, 2, 3, 0.0, False),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("function", "given", "order", "defaults", "wanted"), _UNDERSTOOD.values(), ids=_UNDERSTOOD)
def test_an_argument_reaches_the_parameter_that_is_meant(
    function: Any, given: dict[str, Any], order: tuple[str, ...], defaults: dict[str, Scalar], wanted: Any
) -> None:
    """By its names, by the only place where it can stand, or by position, as each case says; tensors are the same."""
    found = _call(function, given, order, defaults)

    assert type(found) is type(wanted)
    for one, other in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]:
        assert one is other or (not isinstance(other, torch.Tensor) and one == other)


class _Forgetful:
    def forward(query, key, mask=None) -> Any:  # noqa: N805 - that is the mistake
        return query, key, mask


class _Careful:
    def forward(self, query, key) -> Any:
        return query, key


class _Unlucky:
    def __init__(d_in, d_out) -> None:  # noqa: N805 - as above
        """Take its own object for a width."""


_TWO = {"query": _X, "key": _Y}
_REFUSED: dict[str, tuple[Any, dict[str, Any], dict[str, Scalar], str]] = {
    "an alias that the contract uses": (
        lambda block_size: block_size, {"context_length": 3, "block_size": 4}, {}, "`context_length`",
    ),
    # Never guessed: several parameters could hold it, or too few.
    "two places for a mask": (lambda q, k, trace=None, seen=None: q, _MASKED, {}, "must take an argument `mask`"),
    "two places for a number": (
        lambda q, k, chunk=64, reach=2: q, {**_TWO, "window": 3}, {}, "must take an argument `window`",
    ),
    "a value that happens to be a default": (
        lambda q, k, chunk=64, reach=2: q, {**_TWO, "window": 2}, {}, "must take an argument `window`",
    ),
    "one parameter would stay empty": (lambda a, b, c, d=1, e=2: a, _TWO, {}, "must take an argument `query`"),
    "a number of heads for a width": (lambda d_model, num_heads: d_model, {"d_in": 3, "d_out": 2}, {}, "`d_in`"),
    # A name that says something else is never taken by position; the text says what it is.
    "dropout for a mask": (
        lambda query, key, dropout=None: query, _MASKED, {}, r"`mask`.*yours takes: query, key, dropout",
    ),
    "lengths for a mask": (
        lambda query, key, valid_lens=None: query, _MASKED, {}, "`valid_lens` is a count of the first tokens",
    ),
    "a mask of padding for a mask": (lambda query, key, key_padding_mask=None: query, _MASKED, {}, "True masks"),
    "a value for a mask": (
        lambda query, key, value: query, _MASKED, {}, r"`mask`.*yours takes: query, key, value",
    ),
    "a parameter that gets nothing": (
        lambda query, key, z: query, _TWO, {}, r"needs `z`.*it takes `query`, `key`, `z`; provided are `query`, `key`",
    ),
    "`**` beside what is needed": (lambda query, b, c, **rest: rest, _TWO, {}, "needs `b`, `c`"),
    "a mask without a place": (
        lambda query, key: query, _MASKED, {"mask": None},
        r"^`f` must take an argument `mask`.*attn_mask.*yours takes: query, key; provided: query, key, mask",
    ),
    "0 is not False": (lambda d_in: d_in, {"d_in": 1, "qkv_bias": 0}, {"qkv_bias": False}, "`qkv_bias`"),
    "no self in a method": (_Forgetful().forward, _MASKED, {}, r"has no `self`.*before `query`"),
    "no self in a constructor": (_Unlucky, {"d_in": 1, "d_out": 2}, {}, r"has no `self`.*before `d_in`"),
    "a method with self": (_Careful().forward, _MASKED, {}, "must take an argument `mask`"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "given", "defaults", "words"), _REFUSED.values(), ids=_REFUSED)
def test_what_cannot_be_called_is_refused_with_what_is_missing(
    function: Any, given: dict[str, Any], defaults: dict[str, Scalar], words: str
) -> None:
    """Nothing is guessed, and the text says what lacks, what is taken and what is given."""
    with pytest.raises(ArgumentMismatch, match=words):
        _call(function, given, (), defaults)


def test_exceptions_of_the_function_come_through() -> None:
    """A TypeError inside the code is the code's, not a mismatch."""

    def f(query: Any, key: Any) -> Any:
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        _call(f, {"query": 1, "key": 2})
