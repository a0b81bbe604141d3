"""Which operations are ready-made answers, in groups that an exercise forbids by name. Needs no torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.errors import AuthorError


@dataclass(frozen=True, slots=True)
class Group:
    """Operations that are forbidden together.

    Attributes:
        operators: names in the dispatcher, in `aten` unless they say otherwise, each with what a student calls it.
        functions: Python functions that do the same by themselves, by their full name.
        classes: Python classes that cannot be constructed or called, by their full name.
        modules: modules that would be imported late; whatever is taken from them is trapped.
        includes: groups without which this one would have a hole.
    """

    operators: Mapping[str, str]
    functions: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


_F = "torch.nn.functional"
_SDPA = f"{_F}.scaled_dot_product_attention"
_MHA = "torch._native_multi_head_attention"
_LAYER = "torch._transformer_encoder_layer_fwd"
_FLEX = "torch._higher_order_ops.flex_attention"
_DECOMPOSED = "torch._decomp.decompositions"

_ATTENTION = Group(
    operators={
        "scaled_dot_product_attention": _SDPA,
        **{
            f"_scaled_dot_product_{name}": _SDPA
            for name in (
                *("attention_math", "attention_math_for_mps", "flash_attention", "flash_attention.quantized"),
                *("flash_attention_for_cpu", "efficient_attention", "cudnn_attention"),
                *("fused_attention_overrideable", "flash_attention_backward", "flash_attention_for_cpu_backward"),
                *("efficient_attention_backward", "cudnn_attention_backward"),
                "fused_attention_overrideable_backward",
            )
        },
        "_flash_attention_forward": _SDPA,
        "_flash_attention_forward.quantized": _SDPA,
        "_flash_attention_forward_no_dropout_inplace": _SDPA,
        "_flash_attention_backward": _SDPA,
        "_efficient_attention_forward": _SDPA,
        "_efficient_attention_backward": _SDPA,
        "_cudnn_attention_forward": _SDPA,
        "_cudnn_attention_backward": _SDPA,
        "_native_multi_head_attention": _MHA,
        "_native_multi_head_attention.out": _MHA,
        "_triton_multi_head_attention": "torch._triton_multi_head_attention",
        "_triton_multi_head_attention.out": "torch._triton_multi_head_attention",
        "_triton_scaled_dot_attention": "torch._triton_scaled_dot_attention",
        "_triton_scaled_dot_attention.out": "torch._triton_scaled_dot_attention",
        "_transformer_encoder_layer_fwd": _LAYER,
        "_transformer_encoder_layer_fwd.out": _LAYER,
        "onnx::Attention.opset23": "torch.onnx.ops.attention",
    },
    functions=(
        f"{_F}.multi_head_attention_forward",
        "torch.nn.attention.flex_attention.flex_attention",
        f"{_FLEX}.math_attention",
        f"{_FLEX}._math_attention_inner",
        f"{_FLEX}.sdpa_dense",
        f"{_FLEX}.sdpa_dense_backward",
        f"{_FLEX}.FlexAttentionHOP.__call__",
        f"{_FLEX}.FlexAttentionBackwardHOP.__call__",
        f"{_DECOMPOSED}.scaled_dot_product_flash_attention_for_cpu",
        "torch.ao.nn.quantizable.modules.activation.MultiheadAttention._forward_impl",
        "torch.onnx.ops.attention",
        "torch.onnx.ops._impl.attention_23",
    ),
    classes=(
        "torch.nn.MultiheadAttention",
        "torch.nn.Transformer",
        "torch.nn.TransformerEncoder",
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.TransformerDecoder",
        "torch.nn.TransformerDecoderLayer",
        "torch.ao.nn.quantizable.MultiheadAttention",
    ),
    modules=(
        "torch.nn.attention.flex_attention",
        "torch.nn.attention.varlen",
        "torch.nn.attention.experimental",
        "torch._inductor.fx_passes.fuse_attention",
    ),
)

_SOFTMAX = Group(
    operators={
        "softmax.int": "torch.softmax",
        "softmax.int_out": "torch.softmax",
        "_softmax": "torch.softmax",
        "_softmax.out": "torch.softmax",
        "_safe_softmax": "torch.softmax",
        "_masked_softmax": "torch._masked_softmax",
        "_masked_softmax.out": "torch._masked_softmax",
        "_nested_tensor_softmax_with_shape": "torch.softmax",
        "_sparse_softmax": "torch.sparse.softmax",
        "_sparse_softmax.int": "torch.sparse.softmax",
        "_sparse_softmax.out": "torch.sparse.softmax",
        "special_softmax": "torch.special.softmax",
        "quantized::softmax": "torch.ops.quantized.softmax",
        "log_softmax.int": "torch.log_softmax",
        "log_softmax.int_out": "torch.log_softmax",
        "_log_softmax": "torch.log_softmax",
        "_log_softmax.out": "torch.log_softmax",
        "_sparse_log_softmax": "torch.sparse.log_softmax",
        "_sparse_log_softmax.int": "torch.sparse.log_softmax",
        "_sparse_log_softmax.out": "torch.sparse.log_softmax",
        "special_log_softmax": "torch.special.log_softmax",
        "logsumexp": "torch.logsumexp",
        "logsumexp.out": "torch.logsumexp",
        "special_logsumexp": "torch.special.logsumexp",
        "special_logsumexp.out": "torch.special.logsumexp",
        "_logcumsumexp": "torch.logcumsumexp",
        "logcumsumexp": "torch.logcumsumexp",
        "cross_entropy_loss": f"{_F}.cross_entropy",
    },
    functions=(
        *(f"{_F}.{name}" for name in ("softmax", "log_softmax", "softmin", "gumbel_softmax", "cross_entropy")),
        *(f"torch._refs.{name}" for name in ("softmax", "log_softmax", "logsumexp")),
        *(f"torch._refs.nn.functional.{name}" for name in ("softmax", "log_softmax", "softmin")),
        *(f"torch._refs.special.{name}" for name in ("softmax", "log_softmax", "logsumexp")),
        *(f"{_DECOMPOSED}.{name}" for name in ("_softmax", "_log_softmax", "safe_softmax")),
        "torch.distributions.transforms.SoftmaxTransform._call",
        "torch.distributed.tensor.parallel.loss._log_softmax",
    ),
    classes=(
        *(f"torch.nn.{name}" for name in ("Softmax", "Softmax2d", "Softmin", "LogSoftmax", "CrossEntropyLoss")),
        "torch.nn.AdaptiveLogSoftmaxWithLoss",
    ),
    modules=("scipy.special",),
    includes=("attention",),  # attention over an identity is a softmax, in a kernel that calls no other
)

_DROPOUT = Group(
    operators={
        **{
            name: f"torch.{name.partition('.')[0]}"
            for name in (
                *("dropout", "dropout_", "native_dropout", "native_dropout.out", "_fused_dropout"),
                *("_fused_dropout.out", "alpha_dropout", "alpha_dropout_", "feature_dropout", "feature_dropout_"),
                *("feature_alpha_dropout", "feature_alpha_dropout_"),
            )
        },
        "quantized::dropout": "torch.ops.quantized.dropout",
    },
    functions=(
        *(f"{_F}.{name}" for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")),
        f"{_F}.feature_alpha_dropout",
        "torch._refs.nn.functional.dropout",
        "torch._refs.nn.functional.alpha_dropout",
        *(f"{_DECOMPOSED}.{name}" for name in ("dropout", "native_dropout", "_fused_dropout_decomposition")),
    ),
    classes=tuple(
        f"torch.nn.{name}"
        for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
    ),
)

GROUPS: Mapping[str, Group] = {"attention": _ATTENTION, "softmax": _SOFTMAX, "dropout": _DROPOUT}


def check(groups: Iterable[str]) -> None:
    """Refuse groups that there are not; done before a job leaves, since in the child it would look like a crash.

    Raises:
        AuthorError: there is no such group.
    """
    for name in groups:
        if name not in GROUPS:
            raise AuthorError(f"there is no group of forbidden operations `{name}`; there are {', '.join(GROUPS)}")


def complete(groups: Iterable[str]) -> frozenset[str]:
    """Return the names of `groups` and of those that they include.

    Raises:
        AuthorError: there is no such group.
    """
    names = tuple(groups)
    check(names)
    return frozenset((*names, *(other for name in names for other in GROUPS[name].includes)))
