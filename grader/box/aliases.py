"""The customary names: one table for arguments, one for weights. Add a name here and nowhere else.

The names of a group stand for each other, whichever of them an exercise uses; the further names are understood for
one name only, because elsewhere they mean something else (`dim` is an axis to softmax and a width to a module).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

ARGUMENTS: tuple[tuple[str, ...], ...] = (
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
FURTHER: Mapping[str, tuple[str, ...]] = {
    "d_in": ("in_dim", "in_features", "dim_in"),
    "d_out": ("out_dim", "out_features", "dim_out"),
    "d_model": ("dim", "model_dim", "emb_dim"),
    "num_heads": ("heads", "n_head", "nheads"),
    "context_length": ("max_seq_len", "max_length", "ctx_len"),
    "max_len": ("max_seq_len", "max_length"),
    "dropout": ("dropout_p", "drop_rate"),
    "query": ("queries",),
    "key": ("keys",),
    "value": ("values",),
    "mask": ("attn_mask", "attention_mask"),
    "d_out_kq": ("d_kq", "d_k"),
    "d_out_v": ("d_v",),
    "dim": ("axis",),
    "x_1": ("x1", "x", "x_q", "tgt", "target"),
    "x_2": ("x2", "context", "y", "x_kv", "src", "source", "memory"),
}

_PROJECTIONS = {
    "W_query": ("query", "q", "Q", "queries"),
    "W_key": ("key", "k", "K", "keys"),
    "W_value": ("value", "v", "V", "values"),
}
_PATTERNS = (
    "W_{}", "weight_{}", "{}_weight", "w_{}", "{}_proj", "{}", "to_{}", "W{}", "w{}", "{}_linear", "linear_{}",
    "{}_layer", "{}_projection", "proj_{}", "{}_weights", "{}s", "fc_{}", "{}_net", "lin_{}", "{}_lin", "{}_w", "{}_W",
)  # fmt: skip
_BIAS_PATTERNS = ("b_{}", "bias_{}", "{}_bias", "b{}", "{}_b")

OUT = (
    "W_out", "W_o", "W_O", "output_projection", "out_proj", "proj", "c_proj", "to_out", "w_o", "wo", "Wo", "WO",
    "o_proj", "out", "output", "out_linear", "linear_out", "output_proj", "output_linear", "output_layer", "out_layer",
    "w_out", "weight_out", "out_weight", "fc", "fc_out", "fc_o", "o", "projection", "final", "final_linear",
    "out_projection", "final_proj", "combine", "combine_heads", "unify_heads", "unifyheads", "head_proj", "o_linear",
    "dense",
)  # fmt: skip
_OUT_WORDS = ("out", "o", "O", "output", "proj", "W_out", "W_o", "W_O")

FUSED: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("W_query", "W_key", "W_value"),
        ("qkv", "c_attn", "in_proj", "to_qkv", "W_qkv", "qkv_proj", "in_proj_weight", "w_qkv", "Wqkv", "qkv_linear",
         "qkv_layer", "qkv_projection", "proj_qkv", "W_QKV", "wqkv", "query_key_value"),
    ),
    (("W_key", "W_value"), ("kv", "to_kv", "W_kv", "kv_proj", "w_kv", "c_kv", "kv_linear", "Wkv")),
)  # fmt: skip


@cache
def argument_names(name: str) -> tuple[str, ...]:
    """Return the names under which the contract's argument `name` is understood, the contract's first."""
    group = next((group for group in ARGUMENTS if name in group), (name,))
    return (name, *(other for other in group if other != name), *FURTHER.get(name, ()))


@cache
def weight_names(name: str) -> tuple[str, ...]:
    """Return the names under which the contract's weight `name` is looked for, the contract's first."""
    if name == "W_out":
        return OUT
    words = _PROJECTIONS.get(name, ())
    names = (pattern.format(word) for pattern in _PATTERNS for word in words)
    return tuple(dict.fromkeys((name, *names)))


@cache
def bias_names(name: str) -> tuple[str, ...]:
    """Return the names of a bias that is a parameter of its own beside the weight `name`."""
    if name == "W_out":
        return tuple(pattern.format(word) for pattern in _BIAS_PATTERNS for word in _OUT_WORDS)
    words = (*_PROJECTIONS.get(name, ()), name)
    return tuple(pattern.format(word) for pattern in _BIAS_PATTERNS for word in words)


@cache
def fused_bias_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a bias that is a parameter of its own beside a fused projection called one of `names`."""
    return tuple(pattern.format(name) for pattern in _BIAS_PATTERNS for name in names)


@cache
def known_words(names: tuple[str, ...]) -> frozenset[str]:
    """Return every name that says which of the contract's weights `names`, or which bias of theirs, a parameter is."""
    fused = [aliases for members, aliases in FUSED if set(members) <= set(names)]
    groups = (*((*weight_names(name), *bias_names(name)) for name in names), *fused, *map(fused_bias_names, fused))
    return frozenset(word for group in groups for word in group)
