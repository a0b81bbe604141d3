"""The names of weights: whole names, which decide at once, the words in other names, and what a path says.

Add a customary name of a weight here and nowhere else; those of arguments stand in `arguments`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

_PROJECTIONS = {
    "W_query": ("query", "q", "Q", "queries"),
    "W_key": ("key", "k", "K", "keys"),
    "W_value": ("value", "v", "V", "values"),
}
# Elsewhere these mean something else, but the contract that has the weight leaves no doubt.
_OWN: Mapping[str, tuple[str, ...]] = {
    "W1": ("W_1", "w1", "w_1", "W_h", "W_encoder", "W_enc", "encoder_proj", "enc_proj", "encoder_projection",
           "encoder_linear", "linear_encoder", "U_a", "Ua"),
    "W2": ("W_2", "w2", "w_2", "W_s", "W_decoder", "W_dec", "decoder_proj", "dec_proj", "decoder_projection",
           "decoder_linear", "linear_decoder", "W_a", "Wa"),
    "W": ("W_a", "Wa", "w", "W_general", "general", "W_concat", "concat", "attn"),
    "v": ("V", "v_a", "V_a", "va", "Va", "v_t", "energy", "score", "score_proj"),
    "embedding": ("embed", "emb", "embeddings", "token_embedding", "token_embeddings", "word_embedding",
                  "word_embeddings", "tok_emb", "wte", "embedding_layer", "embedding_table", "lookup"),
    "relative_bias": ("rel_bias", "relative_biases", "relative_position_bias", "relative_attention_bias",
                      "rel_pos_bias", "relative_bias_table", "relative_position_bias_table", "rel_bias_table",
                      "relative_embedding", "relative_embeddings", "rel_emb", "bias_table", "position_bias"),
}  # fmt: skip
_BY_HAND: Mapping[str, tuple[str, ...]] = {
    "weight": ("gamma", "a_2", "alpha", "scale", "gain"),
    "bias": ("beta", "b_2", "shift"),
}
_BIAS_WORDS: Mapping[str, tuple[str, ...]] = {"W1": ("1", "h"), "W2": ("2", "s"), "W": ("a",), "v": ("a",)}
_PATTERNS = (
    "W_{}", "weight_{}", "{}_weight", "w_{}", "{}_proj", "{}", "to_{}", "W{}", "w{}", "{}_linear", "linear_{}",
    "{}_layer", "{}_projection", "proj_{}", "{}_weights", "{}s", "fc_{}", "{}_net", "lin_{}", "{}_lin", "{}_w", "{}_W",
)  # fmt: skip
_BIAS_PATTERNS = ("b_{}", "bias_{}", "{}_bias", "b{}", "{}_b")

_OUT = (
    "W_out", "W_o", "W_O", "output_projection", "out_proj", "proj", "c_proj", "to_out", "w_o", "wo", "Wo", "WO",
    "o_proj", "out", "output", "out_linear", "linear_out", "output_proj", "output_linear", "output_layer", "out_layer",
    "w_out", "weight_out", "out_weight", "fc", "fc_out", "fc_o", "o", "projection", "final", "final_linear",
    "out_projection", "final_proj", "combine", "combine_heads", "unify_heads", "unifyheads", "head_proj", "o_linear",
    "dense",
)  # fmt: skip
_OUT_WORDS = ("out", "o", "O", "output", "proj", "W_out", "W_o", "W_O")

LISTS = ("linears", "linear_layers", "projections", "projs", "layers")  # of one layer for each weight, in their order
FUSED: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (  # weights in their order, and the names of what has them
    (
        ("W_query", "W_key", "W_value"),
        ("qkv", "c_attn", "in_proj", "to_qkv", "W_qkv", "qkv_proj", "in_proj_weight", "w_qkv", "Wqkv", "qkv_linear",
         "qkv_layer", "qkv_projection", "proj_qkv", "W_QKV", "wqkv", "query_key_value"),
    ),
    (("W_key", "W_value"), ("kv", "to_kv", "W_kv", "kv_proj", "w_kv", "c_kv", "kv_linear", "Wkv")),
    (("W_query", "W_key", "W_value"), LISTS),
    (("W_query", "W_key", "W_value", "W_out"), LISTS),
)  # fmt: skip

# The words in a name that stands in no list: `toqueries`, `_W_q` and `attn_query_layer` all speak of queries.
_TOKENS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LETTERS = {
    "q": "query", "qs": "query", "k": "key", "ks": "key", "v": "value", "vs": "value", "o": "out",
}  # fmt: skip
_SYLLABLES = {
    "quer": "query", "key": "key", "val": "value", "out": "out", "concat": "out", "combine": "out", "unify": "out",
    "merge": "out", "final": "out", "energy": "score", "score": "score",
}  # fmt: skip
ROLES = {"W_query": "query", "W_key": "key", "W_value": "value", "W_out": "out"}
# Contracts without queries and keys of their own have them under other names; this only says what is tried first.
LIKELY = {"W1": ("key", "value"), "W2": ("query",), "v": ("value", "score"), "W": ("key", "query")}

_NUMBERED = re.compile(r"(?<=_)[0-9]+$")
_HEAD = re.compile(r"((attn_|attention_)?head_?)?(?P<number>[0-9]+)")


@cache
def weight_names(name: str) -> tuple[str, ...]:
    """Return the names under which the contract's weight `name` is looked for, the contract's first."""
    if name == "W_out":
        return _OUT
    names = (pattern.format(word) for pattern in _PATTERNS for word in _PROJECTIONS.get(name, ()))
    return tuple(dict.fromkeys((name, *names, *_OWN.get(name, ()))))


@cache
def exact_names(name: str) -> tuple[str, ...]:
    """Return the paths of a weight that is kept as torch's own layer keeps it, or as a norm written by hand does."""
    owner, _, last = name.rpartition(".")
    return (name, *(f"{owner}.{other}" if owner else other for other in _BY_HAND.get(last, ())))


@cache
def bias_names(name: str) -> tuple[str, ...]:
    """Return the names of a bias that is a parameter of its own beside the weight `name`."""
    words = _OUT_WORDS if name == "W_out" else (*_PROJECTIONS.get(name, ()), name, *_BIAS_WORDS.get(name, ()))
    return fused_bias_names(words)


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


@cache
def role(path: str) -> str:
    """Return what the last telling name of `path` speaks of: `query`, `key`, `value`, `out`, `score`; else nothing.

    A name that speaks of several things, `query_key_value`, says of none that it is that.
    """
    names = [part for part in path.split(".") if not part.isdigit() and part not in ("weight", "bias")]
    for name in reversed(names):
        meanings = {meaning for token in _TOKENS.findall(name) if (meaning := _meaning(token.lower()))}
        if meanings:
            return meanings.pop() if len(meanings) == 1 else ""
    return ""


def _meaning(token: str) -> str:
    spoken = (meaning for syllable, meaning in _SYLLABLES.items() if syllable in token)
    return _LETTERS.get(token) or next(spoken, "")


@lru_cache(maxsize=4096)  # a plan builds a dozen modules with the same paths
def stem(path: str, leaf: str, words: frozenset[str]) -> str | None:
    """Return the name that says what a parameter is: `attn.heads.0.q_proj.weight` is a `q_proj`.

    It is the last one among `words`, so that `query.linear.weight` is a `query`; else the last one. `leaf` is `weight`
    or `bias`; a path that ends in the other one has no stem. A trailing number is a head's.
    """
    parts = path.split(".")
    if parts[-1] in ("weight", "bias") and parts.pop() != leaf:
        return None
    names = [part for part in reversed(parts) if not part.isdigit()]
    return next((name for name in names if name in words), names[0] if names else None)


def is_item(path: str) -> bool:
    """Return whether the parameter, or the layer that owns it, is an item of a list: `qkv.0.weight`."""
    return path.removesuffix(".weight").rpartition(".")[2].isdigit()


def without_heads(path: str) -> str:
    """Return a path without the numbers of its heads: the same for all heads of a list, and for `q_0`, `q_1`."""
    return ".".join("#" if _HEAD.fullmatch(part) else _NUMBERED.sub("#", part) for part in path.split("."))


@lru_cache(maxsize=4096)
def head_number(path: str) -> int | None:
    """Return the last number in a path, which is the head's where there is one module per head: `heads.0`, `head_0`."""
    matches = (_HEAD.fullmatch(part) for part in path.split("."))
    numbers = [int(match["number"]) for match in matches if match]
    return numbers[-1] if numbers else None


def bias_beside(path: str) -> str:
    """Return where the bias beside the weight at `path` would be; empty where a parameter stands by itself."""
    owner, _, last = path.rpartition(".")
    return f"{owner}.bias" if owner and last == "weight" else ""
