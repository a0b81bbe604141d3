"""Hands the contract's arguments to the student's function under the names that it uses.

Exact names first, then aliases within the contract's own groups. What is left over is bound by position where as many
parameters are left, unless a name says that it is something else; so is the one argument of a function, and a lone
tensor among scalars. `**kwargs` receives canonical names, once every parameter that needs a value has one.

An author's own parameters have defaults. So those without are the exercise's first ones, in its order. One that has the
default of the exercise stands for that argument, and each of the others for what it can hold, if no other one can.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter
from types import FunctionType
from typing import Any

from torch import Tensor

from grader.box.plan import Argument, Scalar
from grader.errors import ArgumentMismatch

# Customary names: those of a group stand for each other, whichever of them an exercise uses. Add a name here, or below.
_GROUPS: tuple[tuple[str, ...], ...] = (
    ("d_in", "input_dim"),
    ("d_out", "output_dim"),
    ("d_model", "embed_dim", "hidden_dim"),
    ("num_heads", "n_heads", "nhead", "h"),
    ("context_length", "block_size", "max_len", "seq_len"),
    ("qkv_bias", "bias"),
    ("dropout", "dropout_rate", "p", "attn_dropout"),
    ("pad_idx", "pad_id"),
    ("query", "q", "Q"),
    ("key", "k", "K"),
    ("value", "v", "V"),
)
# Understood for one name only: elsewhere they mean something else, as `dim` is an axis to softmax, a width to a module.
_FURTHER: Mapping[str, tuple[str, ...]] = {
    "d_in": ("in_dim", "in_features", "dim_in", "input_size", "in_size", "n_in", "in_channels", "d_input"),
    "d_out": (
        "out_dim", "out_features", "dim_out", "output_size", "out_size", "n_out", "out_channels", "d_output",
        "head_size",
    ),
    "d_model": (
        "dim", "model_dim", "emb_dim", "n_embd", "embed_size", "hidden_size", "embedding_dim", "hid_dim", "num_hiddens",
        "d_embed", "emb_size", "dim_model", "n_hidden", "hidden_units", "d_hid", "model_dimension",
    ),
    "num_heads": ("heads", "n_head", "nheads", "num_attention_heads", "nb_heads", "n_attn_heads", "number_of_heads"),
    "num_kv_heads": ("n_kv_heads", "kv_heads", "num_key_value_heads", "n_kv_head", "num_kv_groups", "h_kv"),
    "context_length": (
        "max_seq_len", "max_length", "ctx_len", "seq_length", "max_seq_length", "sequence_length", "n_ctx", "ctx_size",
        "max_context_length",
    ),
    "max_len": (
        "max_seq_len", "max_length", "seq_length", "max_seq_length", "sequence_length", "max_sequence_length",
        "max_seq", "max_positions", "n_positions", "n_position",
    ),
    "dropout": (
        "dropout_p", "drop_rate", "dropout_prob", "drop_prob", "attn_pdrop", "drop", "p_drop", "dropout_ratio",
        "dropout_probability",
    ),
    "p": ("dropout_p", "drop_rate", "drop_prob", "prob", "rate", "dropout_prob"),
    "pad_idx": (
        "pad", "padding_idx", "pad_token_id", "pad_token", "padding_index", "pad_index", "pad_value", "src_pad_idx",
        "trg_pad_idx", "pad_token_idx", "ignore_index",
    ),
    "query": ("queries",),
    "key": ("keys",),
    "value": ("values",),
    "mask": ("attn_mask", "attention_mask"),
    "d_out_kq": ("d_kq", "d_k"),
    "d_out_v": ("d_v",),
    "dim": ("axis",),
    "d_k": ("dk", "dim_k", "d_key", "key_dim", "d_keys", "d_head", "head_dim", "d_kq"),
    "f": ("func", "fn", "function", "objective", "loss_fn", "loss", "cost"),
    "x0": ("x_0", "x_init", "init", "initial", "start", "x_start", "initial_x", "x"),
    "learning_rate": ("lr", "eta", "alpha", "step_size", "rate"),
    "num_steps": (
        "steps", "n_steps", "num_iterations", "iterations", "num_iters", "n_iters", "n_iter", "iters", "n", "epochs",
        "num_epochs", "max_iter", "max_steps", "T",
    ),
    "window": ("window_size",),
    "block_size": ("tile_size", "chunk_size"),
    "causal": ("is_causal",),
    "cache": ("past", "past_kv", "past_key_value", "past_key_values", "layer_past", "state", "memory"),
    "vocab_size": ("num_embeddings", "vocabulary_size", "vocab", "n_vocab", "num_words"),
    "max_distance": ("max_relative_position", "max_relative_distance", "max_dist", "clip_distance", "max_rel_pos"),
    "source": ("src", "source_module", "from_module", "linear", "module_from"),
    "target": ("tgt", "dst", "dest", "destination", "target_module", "to_module", "module_to"),
    "encoder_outputs": (
        "encoder_output", "enc_outputs", "enc_output", "encoder_states", "encoder_hidden_states", "keys", "key",
        "values", "value", "memory",
    ),
    "decoder_hidden": (
        "decoder_state", "dec_hidden", "decoder_hidden_state", "hidden", "query", "queries", "attention_hidden_state",
    ),
    "encoder_dim": ("enc_dim", "encoder_hidden_dim", "enc_hidden_dim", "key_size", "key_dim", "memory_dim"),
    "decoder_dim": ("dec_dim", "decoder_hidden_dim", "dec_hidden_dim", "query_size", "query_dim"),
    "attention_dim": ("attn_dim", "attention_size"),
    "training": ("train", "is_training", "is_train"),
    "x_1": ("x1", "x", "x_q", "tgt", "target"),
    "x_2": ("x2", "context", "y", "x_kv", "src", "source", "memory"),
}  # fmt: skip
# What these hold is another convention than a mask in which True may be seen, so no position makes one of them a mask.
_CONVENTIONS: Mapping[str, str] = {
    **dict.fromkeys(("valid_lens", "valid_len", "valid_lengths", "lengths", "seq_lens"), "a count of the first tokens"),
    **dict.fromkeys(("key_padding_mask", "src_key_padding_mask"), "PyTorch's mask, in which True masks"),
}
# Words for whatever comes in, and for widths: each may stand for any such argument that has no word of its own.
_WORDS = tuple(
    frozenset(name for word in words for group in _GROUPS if word in group for name in (*group, *_FURTHER[word]))
    for words in (("query", "key", "value"), ("d_in", "d_out", "d_model"))
)
# Names that say what they are wherever they stand, as `x`, `context` and a single letter do not.
_TELLING = frozenset(
    name
    for group in (*_GROUPS, *(_FURTHER[key] for key in ("mask", "dropout", "pad_idx", "causal", "cache", "training")))
    for name in group
    if len(name) > 1
) | {
    *("mask", "causal", "is_causal", "cache", "training", "attn_bias", "scale", "eps", "epsilon", "dtype", "device"),
    *("need_weights", "return_weights", "return_attention", "return_attn", "verbose", "debug"),
}
_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


@cache
def argument_names(name: str) -> tuple[str, ...]:
    """Return the names under which the contract's argument `name` is understood, the contract's first."""
    group = next((group for group in _GROUPS if name in group), (name,))
    return (name, *(other for other in group if other != name), *_FURTHER.get(name, ()))


def call_with(
    function: Callable[..., Any],
    given: Mapping[str, Argument],
    *,
    order: tuple[str, ...],
    defaults: Mapping[str, Scalar],
    described: str,
) -> Any:
    """Call `function` with the arguments `given` by canonical name and return what it returns.

    Args:
        order: the contract's arguments, in its order.
        defaults: the contract's default values.
        described: what the function is called in messages.

    Raises:
        ArgumentMismatch: the function lacks an argument that is given and differs from its default.
        Anything that `function` raises.
    """
    parameters = _parameters(function)
    if parameters is None or (parameters and parameters[0].kind is Parameter.VAR_POSITIONAL):
        last = max((order.index(name) for name in given), default=-1)  # only positions say what is what
        known = (name for name in order[: last + 1] if name in given or name in defaults)
        return function(*(given.get(name, defaults.get(name)) for name in known))
    if len(given) == 1 and (single := _only_parameter(parameters)) is not None:
        (value,) = given.values()
        return function(**{single.name: value}) if single.kind is Parameter.KEYWORD_ONLY else function(value)
    try:
        arguments = _match(parameters, given, order=order, defaults=defaults, described=described)
    except ArgumentMismatch as error:
        if first := _in_place_of_self(function, order):
            raise ArgumentMismatch(
                f"{described} has no `self`: `self` must be the first parameter of every method, before `{first}`; "
                f"without it Python takes `{first}` for the object itself"
            ) from error
        raise
    positional = [
        arguments.pop(p.name) for p in parameters if p.kind is Parameter.POSITIONAL_ONLY and p.name in arguments
    ]
    return function(*positional, **arguments)


def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...] | None:
    """Return the parameters of whatever can be called, None where it has no signature, as some builtins."""
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _in_place_of_self(function: Callable[..., Any], order: tuple[str, ...]) -> str:
    """Return the first parameter of a method or a constructor if it is one of the contract's; else nothing."""
    method = getattr(function, "__wrapped__", function)
    own = vars(function).get("__init__") if isinstance(function, type) else getattr(method, "__func__", None)
    first = own.__code__.co_varnames[:1] if type(own) is FunctionType and own.__code__.co_argcount else ()
    return next((name for name in first if any(name in argument_names(one) for one in order)), "")


def _only_parameter(parameters: tuple[Parameter, ...]) -> Parameter | None:
    plain = [p for p in parameters if p.kind not in _VARIADIC]
    required = [p for p in plain if p.default is Parameter.empty]
    if len(required) == 1:
        return required[0]
    return plain[0] if plain and not required else None


def _match(
    parameters: tuple[Parameter, ...],
    given: Mapping[str, Argument],
    *,
    order: tuple[str, ...],
    defaults: Mapping[str, Scalar],
    described: str,
) -> dict[str, Argument]:
    named = {p.name: p for p in parameters if p.kind not in _VARIADIC}
    open_ended = any(p.kind is Parameter.VAR_KEYWORD for p in parameters)
    stands_for = _parameter_of(named, given, order, defaults, open_ended=open_ended)
    arguments: dict[str, Argument] = {}
    for name in order:
        parameter = stands_for.get(name)
        if name in given and parameter:
            arguments[parameter] = given[name]
        elif name in given and not open_ended and not _is_default(name, given[name], defaults):
            raise ArgumentMismatch(_lacking(name, described, tuple(named), order))
        elif parameter and name in defaults and named[parameter].default is Parameter.empty:
            arguments[parameter] = defaults[name]
    lacking = [name for name, p in named.items() if p.default is Parameter.empty and name not in arguments]
    if lacking:  # nothing of ours is for its `**kwargs` then
        what, takes, gives = (", ".join(f"`{name}`" for name in these) for these in (lacking, named, order))
        raise ArgumentMismatch(
            f"{described} needs {what}, which is not provided: it takes {takes}; provided are {gives}"
        )
    return arguments | ({name: given[name] for name in given if name not in stands_for} if open_ended else {})


def _parameter_of(
    named: Mapping[str, Parameter],
    given: Mapping[str, Argument],
    order: tuple[str, ...],
    defaults: Mapping[str, Scalar],
    *,
    open_ended: bool,
) -> dict[str, str]:
    """Return the parameter for each argument of the contract: by its names, and where the number fits by position."""
    by_name = {name: _called(name, named, order) for name in order}
    stands_for = {name: parameter for name, parameter in by_name.items() if parameter}
    tensors = [name for name, value in given.items() if isinstance(value, Tensor)]
    if len(tensors) == 1 and tensors[0] not in stands_for and not open_ended:  # a lone one, whatever its name
        lone = next((parameter for parameter in named if parameter not in stands_for.values()), None)
        stands_for |= {tensors[0]: lone} if lone else {}
    left = [name for name in order if name not in stands_for]
    free = [name for name in named if name not in stands_for.values() and not _means_another(name, left)]
    needed = [name for name in free if named[name].default is Parameter.empty]
    asked = [name for name in left if given.get(name) is not None]
    if len(left) == len(free):
        stands_for |= zip(left, free, strict=True)
    elif len(left) < len(free) and len(needed) <= len(left):
        values = {name: {**given, **defaults}.get(name) for name in left}
        stands_for |= _by_defaults(values, {name: named[name].default for name in free}, defaults)
    elif len(needed) == len(asked):
        stands_for |= zip(asked, needed, strict=True)
    return stands_for


def _called(name: str, named: Mapping[str, Parameter], order: tuple[str, ...]) -> str | None:
    """Return the parameter that is called so; an alias never takes a name that the contract itself uses."""
    if name in named:
        return name
    return next((alias for alias in argument_names(name) if alias in named and alias not in order), None)


def _means_another(name: str, left: list[str]) -> bool:
    """Whether a parameter's name says that it is something else than what is `left`, whatever its place."""
    if name in _CONVENTIONS:
        return True
    if name not in _TELLING or any(name in argument_names(other) for other in left):
        return False
    alike = next((words for words in _WORDS if name in words), frozenset())
    return not any(alike and (other in alike or other not in _TELLING) for other in left)


def _by_defaults(
    left: Mapping[str, Argument], free: Mapping[str, object], defaults: Mapping[str, Scalar]
) -> dict[str, str]:
    """Return the parameter for each argument for which there is one only, whatever the values of this call.

    Args:
        left: arguments that no parameter is called by, with the default of the exercise, or else what is given.
        free: the defaults of more parameters than these, which are called by no argument, in their order.
        defaults: the arguments that have a default in the exercise.
    """
    stands_for = dict(zip(left, (name for name, own in free.items() if own is Parameter.empty), strict=False))
    for fits, these in ((_is_equal, defaults), (_is_alike, left), (_is_none, left), (_is_number, left)):
        spare = {name: own for name, own in free.items() if name not in stands_for.values()}
        holders = {
            name: [one for one, own in spare.items() if fits(value, own)]
            for name, value in left.items()
            if name in these and name not in stands_for
        }
        for name, its in holders.items():
            alike = [other for other, others in holders.items() if others == its]
            if len(its) == len(alike):  # as many parameters as there are arguments like it
                stands_for[name] = its[alike.index(name)]
    return stands_for


def _is_equal(value: Argument, default: object) -> bool:
    return _is_alike(value, default) and not isinstance(value, Tensor) and value is not None and value == default


def _is_alike(value: Argument, default: object) -> bool:
    return type(value) is type(default) or (isinstance(value, Tensor) and default is None)


def _is_none(value: Argument, default: object) -> bool:
    return default is None


def _is_number(value: Argument, default: object) -> bool:
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in (value, default))


def _is_default(name: str, value: Argument, defaults: Mapping[str, Scalar]) -> bool:
    if value is None:  # nothing is handed over; TOML has no word for such a default
        return True
    return name in defaults and type(value) is type(defaults[name]) and value == defaults[name]


def _lacking(name: str, described: str, parameters: tuple[str, ...], order: tuple[str, ...]) -> str:
    takes, gives = (", ".join(names) or "nothing" for names in (parameters, order))
    also = ", ".join(argument_names(name)[1:])
    hint = f" (also accepted: {also})" if also else ""
    other = next((one for one in parameters if one in _CONVENTIONS), "")
    why = f". `{other}` is {_CONVENTIONS[other]}; this exercise has another convention" if other else ""
    if not parameters and described == "`forward`":
        why = ". Is `self` missing, the first parameter of every method?"
    return f"{described} must take an argument `{name}`{hint}; yours takes: {takes}; provided: {gives}{why}"
