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
    "d_in": ("in_dim", "in_features", "dim_in", "input_size", "in_size", "n_in", "in_channels", "d_input"),
    "d_out": (
        "out_dim",
        "out_features",
        "dim_out",
        "output_size",
        "out_size",
        "n_out",
        "out_channels",
        "d_output",
        "head_size",
    ),
    "d_model": (
        "dim",
        "model_dim",
        "emb_dim",
        "n_embd",
        "embed_size",
        "hidden_size",
        "embedding_dim",
        "hid_dim",
        "num_hiddens",
        "d_embed",
        "emb_size",
        "dim_model",
        "n_hidden",
        "hidden_units",
        "d_hid",
        "model_dimension",
    ),
    "num_heads": ("heads", "n_head", "nheads", "num_attention_heads", "nb_heads", "n_attn_heads", "number_of_heads"),
    "num_kv_heads": ("n_kv_heads", "kv_heads", "num_key_value_heads", "n_kv_head", "num_kv_groups", "h_kv"),
    "context_length": (
        "max_seq_len",
        "max_length",
        "ctx_len",
        "seq_length",
        "max_seq_length",
        "sequence_length",
        "n_ctx",
        "ctx_size",
        "max_context_length",
    ),
    "max_len": (
        "max_seq_len",
        "max_length",
        "seq_length",
        "max_seq_length",
        "sequence_length",
        "max_sequence_length",
        "max_seq",
        "max_positions",
        "n_positions",
        "n_position",
    ),
    "dropout": (
        "dropout_p",
        "drop_rate",
        "dropout_prob",
        "drop_prob",
        "attn_pdrop",
        "drop",
        "p_drop",
        "dropout_ratio",
        "dropout_probability",
    ),
    "p": ("dropout_p", "drop_rate", "drop_prob", "prob", "rate", "dropout_prob"),
    "pad_idx": (
        "pad",
        "padding_idx",
        "pad_token_id",
        "pad_token",
        "padding_index",
        "pad_index",
        "pad_value",
        "src_pad_idx",
        "trg_pad_idx",
        "pad_token_idx",
        "ignore_index",
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
        "steps",
        "n_steps",
        "num_iterations",
        "iterations",
        "num_iters",
        "n_iters",
        "n_iter",
        "iters",
        "n",
        "epochs",
        "num_epochs",
        "max_iter",
        "max_steps",
        "T",
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
        "encoder_output",
        "enc_outputs",
        "enc_output",
        "encoder_states",
        "encoder_hidden_states",
        "keys",
        "key",
        "values",
        "value",
        "memory",
    ),
    "decoder_hidden": (
        "decoder_state",
        "dec_hidden",
        "decoder_hidden_state",
        "hidden",
        "query",
        "queries",
        "attention_hidden_state",
    ),
    "encoder_dim": ("enc_dim", "encoder_hidden_dim", "enc_hidden_dim", "key_size", "key_dim", "memory_dim"),
    "decoder_dim": ("dec_dim", "decoder_hidden_dim", "dec_hidden_dim", "query_size", "query_dim"),
    "attention_dim": ("attn_dim", "attention_size"),
    "training": ("train", "is_training", "is_train"),
    "x_1": ("x1", "x", "x_q", "tgt", "target"),
    "x_2": ("x2", "context", "y", "x_kv", "src", "source", "memory"),
}
# What these hold is another convention than a mask in which True may be seen, so no position makes one of them a mask.
CONVENTIONS: Mapping[str, str] = {
    **dict.fromkeys(("valid_lens", "valid_len", "valid_lengths", "lengths", "seq_lens"), "a count of the first tokens"),
    **dict.fromkeys(("key_padding_mask", "src_key_padding_mask"), "PyTorch's mask, in which True masks"),
}
# Words for whatever comes in, and for widths: each may stand for any such argument that has no word of its own.
WORDS = tuple(
    frozenset(name for word in words for group in ARGUMENTS if word in group for name in (*group, *FURTHER[word]))
    for words in (("query", "key", "value"), ("d_in", "d_out", "d_model"))
)
# Names that say what they are wherever they stand, as `x`, `context` and a single letter do not.
TELLING = frozenset(
    name
    for group in (*ARGUMENTS, *(FURTHER[key] for key in ("mask", "dropout", "pad_idx", "causal", "cache", "training")))
    for name in group
    if len(name) > 1
) | {
    *("mask", "causal", "is_causal", "cache", "training", "attn_bias", "scale", "eps", "epsilon", "dtype", "device"),
    *("need_weights", "return_weights", "return_attention", "return_attn", "verbose", "debug"),
}

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

OUT = (
    "W_out", "W_o", "W_O", "output_projection", "out_proj", "proj", "c_proj", "to_out", "w_o", "wo", "Wo", "WO",
    "o_proj", "out", "output", "out_linear", "linear_out", "output_proj", "output_linear", "output_layer", "out_layer",
    "w_out", "weight_out", "out_weight", "fc", "fc_out", "fc_o", "o", "projection", "final", "final_linear",
    "out_projection", "final_proj", "combine", "combine_heads", "unify_heads", "unifyheads", "head_proj", "o_linear",
    "dense",
)  # fmt: skip
_OUT_WORDS = ("out", "o", "O", "output", "proj", "W_out", "W_o", "W_O")

LISTS = ("linears", "linear_layers", "projections", "projs", "layers")  # of one layer for each weight, in their order
FUSED: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("W_query", "W_key", "W_value"),
        ("qkv", "c_attn", "in_proj", "to_qkv", "W_qkv", "qkv_proj", "in_proj_weight", "w_qkv", "Wqkv", "qkv_linear",
         "qkv_layer", "qkv_projection", "proj_qkv", "W_QKV", "wqkv", "query_key_value"),
    ),
    (("W_key", "W_value"), ("kv", "to_kv", "W_kv", "kv_proj", "w_kv", "c_kv", "kv_linear", "Wkv")),
    (("W_query", "W_key", "W_value"), LISTS),
    (("W_query", "W_key", "W_value", "W_out"), LISTS),
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
    return tuple(dict.fromkeys((name, *names, *_OWN.get(name, ()))))


@cache
def exact_names(name: str) -> tuple[str, ...]:
    """Return the paths of a weight that is kept as torch's own layer keeps it, or as a norm written by hand does."""
    owner, _, last = name.rpartition(".")
    return (name, *(f"{owner}.{other}" if owner else other for other in _BY_HAND.get(last, ())))


@cache
def bias_names(name: str) -> tuple[str, ...]:
    """Return the names of a bias that is a parameter of its own beside the weight `name`."""
    if name == "W_out":
        return tuple(pattern.format(word) for pattern in _BIAS_PATTERNS for word in _OUT_WORDS)
    words = (*_PROJECTIONS.get(name, ()), name, *_BIAS_WORDS.get(name, ()))
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


@cache
def fused_words(leaf: str) -> frozenset[str]:
    """Return the names of all fused projections, `leaf` being `weight`, or of their biases."""
    return frozenset(word for _, names in FUSED for word in (names if leaf == "weight" else fused_bias_names(names)))
