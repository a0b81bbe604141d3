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
_WIDTHS = ("d_in", "d_out", "context_length", "dropout", "qkv_bias")


def _call(
    function: Callable[..., Any],
    given: Mapping[str, Argument],
    order: tuple[str, ...] = (),
    defaults: Mapping[str, Scalar] | None = None,
) -> Any:
    return call_with(function, given, order=order or tuple(given), defaults=defaults or {}, described="`f`")


def test_exact_names_are_used_whatever_their_order() -> None:
    """Arguments go by keyword."""
    assert _call(lambda value, query, key: (query, key, value), {"query": 1, "key": 2, "value": 3}) == (1, 2, 3)


@pytest.mark.parametrize(
    ("contract", "own"),
    [("d_in", "input_dim"), ("num_heads", "n_heads"), ("dropout", "p"), ("pad_idx", "pad_id"), ("query", "Q")],
)
def test_a_customary_name_is_understood(contract: str, own: str) -> None:
    """The aliases of the table stand for the contract's name."""
    seen: dict[str, Any] = {}
    exec(f"def f({own}, other): return {own}, other", seen)

    assert _call(seen["f"], {contract: 5, "other": 6}) == (5, 6)


def test_an_alias_never_takes_a_name_of_the_contract() -> None:
    """Where `block_size` is an argument of its own, it does not stand for `context_length`."""
    with pytest.raises(ArgumentMismatch, match="`context_length`"):
        _call(lambda block_size: block_size, {"context_length": 3, "block_size": 4})


def test_a_name_of_the_contract_wins_over_its_aliases() -> None:
    """A block size goes to `block_size`, and what only sounds like it keeps its default; alone, it is understood."""
    given, order, defaults = {"q": 1, "block_size": 4}, ("q", "block_size", "causal"), {"block_size": 64}

    def both(q: int, seq_len: int = 9, max_len: int = 8, block_size: int = 64) -> Any:
        return q, seq_len, max_len, block_size

    def alias(q: int, max_len: int = 8) -> Any:
        return q, max_len

    assert _call(both, given, order, defaults) == (1, 9, 8, 4)
    assert _call(alias, given, order, defaults) == (1, 4)


def test_open_keywords_receive_the_contracts_names() -> None:
    """`**kwargs` takes what has no parameter of its own."""
    assert _call(lambda d_in, **rest: (d_in, rest), {"d_in": 1, "num_heads": 2}) == (1, {"num_heads": 2})


def test_star_arguments_receive_the_contracts_order() -> None:
    """`*args` alone says nothing about names, so position decides, however the arguments were given."""
    assert _call(lambda *args: args, {"value": 3, "query": 1, "key": 2}, ("query", "key", "value")) == (1, 2, 3)


def test_star_arguments_get_defaults_where_one_in_between_is_left_out() -> None:
    """Nothing slips into the place of its neighbour."""
    order, defaults = ("d_model", "num_heads", "max_len", "dropout"), {"max_len": 512, "dropout": 0.1}

    got = _call(lambda *args, **kwargs: args, {"d_model": 8, "num_heads": 2, "dropout": 0.5}, order, defaults)

    assert got == (8, 2, 512, 0.5)


def test_positional_only_parameters_are_served() -> None:
    """A slash in the signature is no obstacle."""

    def f(query: Any, key: Any, /, value: Any) -> Any:
        return query, key, value

    assert _call(f, {"query": 1, "key": 2, "value": 3}) == (1, 2, 3)


def test_keyword_only_parameters_are_served() -> None:
    """Neither is a star."""

    def f(*, anything: Any) -> Any:
        return anything

    def g(query: Any, *, mask: Any = None) -> Any:
        return query, mask

    assert _call(f, {"x": 7}) == 7
    assert _call(g, {"query": 1, "mask": 2}) == (1, 2)


def test_a_single_argument_goes_by_position() -> None:
    """A `forward` of one tensor may call it what it likes, also beside parameters with defaults."""
    assert _call(lambda inputs: inputs, {"x": 7}) == 7
    assert _call(lambda inputs, verbose=False: (inputs, verbose), {"x": 7}) == (7, False)


def test_a_lone_tensor_goes_by_position_among_numbers() -> None:
    """`softmax(scores, dim)` is understood although the contract says `x`."""
    assert _call(lambda scores, dim: (scores, dim), {"x": _X, "dim": -1})[0] is _X


def test_position_decides_where_the_number_fits() -> None:
    """Names that say nothing are taken in the contract's order, tensors and numbers alike."""
    order = ("query", "key", "value", "mask")
    given: dict[str, Any] = {"query": _X, "key": _Y, "value": _Z}

    assert _call(lambda x, y, z, mask=None: (x, y, z, mask), given, order) == (_X, _Y, _Z, None)
    assert _call(lambda a, b, c, m=None: (a, b, c, m), given | {"mask": 4}, order) == (_X, _Y, _Z, 4)
    assert _call(lambda width, n, *, rate: (width, n, rate), {"d_model": 8, "num_heads": 2, "dropout": 0.5}) == (
        8,
        2,
        0.5,
    )


def test_parameters_of_ones_own_may_stand_among_the_others() -> None:
    """Names that say nothing are taken in order, each where the default is of its kind."""

    def own(
        size: int, count: int, verbose: bool = False, share: float = 0.2, steps: int = 90, trace: Any = None
    ) -> Any:
        return size, count, verbose, share, steps, trace

    order, defaults = ("d_model", "num_heads", "dropout", "max_len"), {"dropout": 0.1, "max_len": 5000}
    given = {"d_model": 8, "num_heads": 2}

    assert _call(own, given | {"dropout": 0.5}, order, defaults) == (8, 2, False, 0.5, 90, None)
    assert _call(own, given | {"dropout": 0.0, "max_len": 7}, order, defaults) == (8, 2, False, 0.0, 7, None)
    assert _call(lambda a, b, log=False, m=None: (a, log, m), {"query": _X, "key": _Y, "mask": _Z}) == (_X, False, _Z)


_ROTARY: dict[str, Any] = {"base": 10000.0, "offset": 0}
_EXTRAS: dict[str, tuple[Any, dict[str, Any], dict[str, Scalar], Any]] = {
    "the default of the exercise": (
        lambda x, factor=1.0, b=10000.0, begin=0: (factor, b, begin), {"x": _X, "base": 7.0}, _ROTARY, (1.0, 7.0, 0),
    ),
    "the same in another order": (
        lambda x, begin=0, b=10000, halves=True: (begin, b, halves), {"x": _X, "base": 7.0}, _ROTARY, (0, 7.0, True),
    ),
    "none for a number": (lambda x, reach=None, debug=False: (reach, debug), {"x": _X, "window": 3}, {}, (3, False)),
    "a fraction for a number": (lambda x, reach=2.0, log=False: (reach, log), {"x": _X, "window": 3}, {}, (3, False)),
    "two of a kind, and two": (lambda x, a=1, b=2, c="": (a, b), {"x": _X, "window": 3, "sinks": 4}, {}, (3, 4)),
    "none beside a scale": (
        lambda q, k, scale=None, seen=None: (scale, seen), {"query": _X, "key": _Y, "mask": _Z}, {}, (None, _Z),
    ),
    "not the scale": (
        lambda q, k, hidden=False, scale=None: (hidden, scale), {"query": _X, "key": _Y, "mask": _Z}, {}, (_Z, None),
    ),
    "a mask": (lambda q, k, eps=1e-9, seen=None: (eps, seen), {"query": _X, "key": _Y, "mask": _Z}, {}, (1e-9, _Z)),
}  # fmt: skip


@pytest.mark.parametrize(("function", "given", "defaults", "wanted"), _EXTRAS.values(), ids=_EXTRAS)
def test_an_argument_takes_the_one_parameter_that_can_hold_it(
    function: Any, given: dict[str, Any], defaults: dict[str, Scalar], wanted: Any
) -> None:
    """Its default tells it apart, wherever it stands among the author's own."""
    order = (*given, *(name for name in defaults if name not in given))

    assert _call(function, given, order, defaults) == wanted


@pytest.mark.parametrize(
    ("function", "given", "missing"),
    [
        (lambda q, k, trace=None, seen=None: q, {"query": _X, "key": _Y, "mask": _Z}, "mask"),  # either could be it
        (lambda q, k, chunk=64, reach=2: q, {"query": _X, "key": _Y, "window": 3}, "window"),
        (lambda q, k, chunk=64, reach=2: q, {"query": _X, "key": _Y, "window": 2}, "window"),  # as it happens, equal
        (lambda a, b, c, d=1, e=2: a, {"query": _X, "key": _Y}, "query"),  # `c` would stay empty
    ],
)
def test_an_argument_is_never_guessed(function: Any, given: dict[str, Any], missing: str) -> None:
    """Where several parameters could hold it, or too few, the call is refused, and told which one has no place."""
    with pytest.raises(ArgumentMismatch, match=f"must take an argument `{missing}`"):
        _call(function, given)


def test_one_designs_width_is_anothers() -> None:
    """What the contract calls `d_in` is `d_model` in many designs; where the number fits, position decides."""

    def wide(d_model: int, d_k: int, d_v: int) -> Any:
        return d_model, d_k, d_v

    def headed(d_model: int, d_head: int, init_range: float = 0.02) -> Any:
        return d_model, d_head

    assert _call(wide, {"d_in": 3, "d_out_kq": 2, "d_out_v": 4}) == (3, 2, 4)
    assert _call(headed, {"d_in": 3, "d_out": 2}) == (3, 2)
    with pytest.raises(ArgumentMismatch):
        _call(lambda d_model, num_heads: d_model, {"d_in": 3, "d_out": 2})


def test_a_name_that_says_something_else_is_never_taken_by_position() -> None:
    """Neither `dropout` nor another convention of masks stands in the place of a mask; the text says which."""
    order, given = ("query", "key", "mask"), {"query": _X, "key": _Y, "mask": _Z}

    with pytest.raises(ArgumentMismatch, match=r"`mask`.*yours takes: query, key, dropout"):
        _call(lambda query, key, dropout=None: query, given, order)
    with pytest.raises(ArgumentMismatch, match="`valid_lens` is a count of the first tokens"):
        _call(lambda query, key, valid_lens=None: query, given, order)
    with pytest.raises(ArgumentMismatch, match="True masks"):
        _call(lambda query, key, key_padding_mask=None: query, given, order)


def test_a_width_goes_by_position_whatever_width_its_name_says() -> None:
    """What one book calls `d_in` is `d_model` in another, with or without further arguments that have defaults."""

    def own(d_in: int, num_heads: int, groups: int, d_out: int | None = None, dtype: Any = None) -> Any:
        return d_in, num_heads, groups, d_out, dtype

    assert _call(own, {"d_model": 8, "num_heads": 4, "num_kv_heads": 2}) == (8, 4, 2, None, None)


def test_a_query_is_the_state_that_asks_and_keys_are_what_it_asks_whatever_their_order() -> None:
    """A published attention of an encoder and a decoder calls them so, in either order."""
    given, order = {"encoder_outputs": _X, "decoder_hidden": _Y}, ("encoder_outputs", "decoder_hidden")

    assert _call(lambda query, values: (values, query), given, order) == (_X, _Y)
    assert _call(lambda keys, query: (keys, query), given, order) == (_X, _Y)


def test_a_number_of_arguments_that_does_not_fit_names_both_lists() -> None:
    """What is needed and not given is named, with all that is taken and all that is given."""
    with pytest.raises(ArgumentMismatch, match=r"needs `z`.*it takes `query`, `key`, `z`; provided are `query`, `key`"):
        _call(lambda query, key, z: query, {"query": _X, "key": _Y})


def test_open_keywords_get_nothing_of_ours_while_something_is_needed() -> None:
    """`**kwargs` never swallows what belongs to a parameter of another name."""
    given = {"query": _X, "key": _Y}

    assert _call(lambda x, y, **rest: (x, y, rest), given) == (_X, _Y, {})
    with pytest.raises(ArgumentMismatch, match="needs `b`, `c`"):
        _call(lambda query, b, c, **rest: rest, given)


def test_an_argument_at_its_default_may_be_missing() -> None:
    """A function without a mask serves the cases without a mask."""
    assert _call(lambda query: query, {"query": _X, "mask": None}, defaults={"mask": None}) is _X


def test_an_argument_that_is_needed_and_missing_is_named() -> None:
    """The message says what is missing, what is accepted too, and what there is."""
    with pytest.raises(ArgumentMismatch) as caught:
        _call(lambda query, key: query, {"query": _X, "key": _Y, "mask": _Z}, defaults={"mask": None})

    text = str(caught.value)
    assert text.startswith("`f` must take an argument `mask`")
    assert "attn_mask" in text
    assert "yours takes: query, key; provided: query, key, mask" in text


def test_a_default_is_supplied_where_the_student_has_none() -> None:
    """`qkv_bias` without a default in the code gets the contract's."""
    order, defaults = _WIDTHS, {"qkv_bias": False}

    def f(d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool) -> Any:
        return d_in, d_out, context_length, dropout, qkv_bias

    assert _call(f, {"d_in": 1, "d_out": 2, "context_length": 3, "dropout": 0.0}, order, defaults) == (
        1,
        2,
        3,
        0.0,
        False,
    )


def test_a_number_is_not_taken_for_a_boolean_default() -> None:
    """0 is not False: an argument counts as left out only at exactly its default."""
    with pytest.raises(ArgumentMismatch, match="`qkv_bias`"):
        _call(lambda d_in: d_in, {"d_in": 1, "qkv_bias": 0}, defaults={"qkv_bias": False})


def test_exceptions_of_the_function_come_through() -> None:
    """A TypeError inside the code is the code's, not a mismatch."""

    def f(query: Any, key: Any) -> Any:
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        _call(f, {"query": 1, "key": 2})


def test_words_of_other_designs_stand_for_what_has_no_word_of_its_own() -> None:
    """Keys and a query are an encoder's outputs and a decoder's state; a letter and a width say nothing else."""
    order, given = ("encoder_outputs", "decoder_hidden"), {"encoder_outputs": _X, "decoder_hidden": _Y}

    assert _call(lambda query, keys: (keys, query), given, order) == (_X, _Y)
    assert _call(lambda memory, attention_hidden_state: (memory, attention_hidden_state), given, order) == (_X, _Y)
    assert _call(lambda h, s: (h, s), given, order) == (_X, _Y)
    assert _call(lambda d_model, d_k, d_v: (d_model, d_k, d_v), {"d_in": 5, "d_out_kq": 2, "d_out_v": 3}) == (5, 2, 3)


def test_a_word_for_what_comes_in_is_never_a_mask() -> None:
    """Where a mask is given, a `value` in its place is refused, and the text names both lists."""
    with pytest.raises(ArgumentMismatch, match=r"`mask`.*yours takes: query, key, value"):
        _call(lambda query, key, value: query, {"query": _X, "key": _Y, "mask": _Z}, ("query", "key", "mask"))


class _Forgetful:
    def forward(query, key, mask=None) -> Any:  # noqa: N805 - that is the mistake
        return query, key, mask


class _Careful:
    def forward(self, query, key) -> Any:
        return query, key


class _Unlucky:
    def __init__(d_in, d_out) -> None:  # noqa: N805 - as above
        """Take its own object for a width."""


def test_a_method_without_self_is_told_so() -> None:
    """Python gives the object to the first parameter, whatever its name, so that one seems to be missing."""
    with pytest.raises(ArgumentMismatch, match=r"has no `self`.*before `query`"):
        _call(_Forgetful().forward, {"query": _X, "key": _Y, "mask": _Z})
    with pytest.raises(ArgumentMismatch, match=r"has no `self`.*before `d_in`"):
        _call(_Unlucky, {"d_in": 1, "d_out": 2})


def test_a_method_with_self_is_told_what_it_lacks() -> None:
    """Its first parameter is none of the contract's."""
    with pytest.raises(ArgumentMismatch, match="must take an argument `mask`"):
        _call(_Careful().forward, {"query": _X, "key": _Y, "mask": _Z})
