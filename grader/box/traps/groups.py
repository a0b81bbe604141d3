"""Which operations are ready-made answers, in groups that an exercise forbids by name. Needs no torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.errors import AuthorError


@dataclass(frozen=True, slots=True)
class Group:
    """Operations that are forbidden together.

    Attributes:
        family: a regular expression for names; an operator of torch's registry belongs to the group if all of its name
            without namespace and overload matches, and so does a Python function of torch that is loaded.
        called: regular expressions for names of the family, each with a template for what a student calls it; the
            first that matches is taken.
        functions: Python functions that do the same by themselves under other names, by their full name.
        classes: Python classes that cannot be constructed or called, by their full name.
        modules: modules that would be imported late; whatever is taken from them is trapped.
        includes: groups without which this one would have a hole.
        layouts: how dispatch keys begin at which every operator is trapped, but those that `looks` takes.
        looks: a regular expression for names, of operators that go by no number in such a tensor.
    """

    family: str
    called: tuple[tuple[str, str], ...]
    functions: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    looks: str = ""

    def among(self, names: Iterable[str]) -> set[str]:
        """Return which of many plain names the family takes."""
        found = re.finditer(f"^(?:{self.family})$", "\n".join(names), re.IGNORECASE | re.MULTILINE)
        return {match[0] for match in found}

    def covers(self, name: str, key: str) -> bool:
        """Return whether an operator is trapped at a dispatch key for the layout of its tensors."""
        return key.startswith(self.layouts) and not re.fullmatch(self.looks, base(name))

    def public(self, name: str) -> str:
        """Return what a student calls an operator of the family."""
        space = name.rpartition("::")[0]
        if space not in ("", "aten", "onnx"):
            return f"torch.ops.{space}.{base(name)}"
        matches = ((re.fullmatch(pattern, base(name), re.IGNORECASE), template) for pattern, template in self.called)
        return next(match.expand(template) for match, template in matches if match)


def base(name: str) -> str:
    """Return an operator's name without its namespace and its overload: `softmax` of `aten::softmax.int_out`."""
    return name.rpartition("::")[2].partition(".")[0]


_F = "torch.nn.functional"
_SDPA = f"{_F}.scaled_dot_product_attention"
_FLEX = "torch._higher_order_ops.flex_attention"

_ATTENTION = Group(
    family=r".*(attention|multi_?head|transformer_encoder|rotary).*",
    called=(
        ("_native_multi_head.*|_triton_.*|_transformer_encoder_layer_fwd", r"torch.\g<0>"),
        ("Attention", "torch.onnx.ops.attention"),
        (".*rotary.*", "torch.onnx.ops.rotary_embedding"),
        (".*", _SDPA),
    ),
    functions=(
        f"{_FLEX}.sdpa_dense",
        f"{_FLEX}.sdpa_dense_backward",
        f"{_FLEX}.FlexAttentionHOP.__call__",
        f"{_FLEX}.FlexAttentionBackwardHOP.__call__",
        "torch.ao.nn.quantizable.modules.activation.MultiheadAttention._forward_impl",
        "torch.onnx.ops.attention",
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
        "torch.onnx.ops",
        "torch.onnx.ops._impl",
        "torch._inductor.fx_passes.fuse_attention",
    ),
)

_SOFTMAX = Group(
    # A binary cross entropy normalises nothing: it is a sigmoid. A loss of alignments (CTC) sums exponentials of rows.
    family=r".*(soft_?max|soft_?min|log_?(cum)?sum_?exp|(?<!binary_)cross_entropy|ctc_loss).*",
    called=(
        ("special_(.*)", r"torch.special.\g<1>"),
        ("_sparse_((?:log_)?softmax)", r"torch.sparse.\g<1>"),
        ("cross_entropy_loss", f"{_F}.cross_entropy"),
        (".*", r"torch.\g<0>"),
    ),
    functions=("torch.distributions.transforms.SoftmaxTransform._call",),
    classes=(
        *(f"torch.nn.{name}" for name in ("Softmax", "Softmax2d", "Softmin", "LogSoftmax", "CrossEntropyLoss")),
        *(f"torch.nn.{name}" for name in ("AdaptiveLogSoftmaxWithLoss", "CTCLoss")),
    ),
    modules=(
        "scipy.special",
        "torch._inductor.inductor_prims",
        "torch.distributed.tensor.parallel.loss",
        "torch.nn.modules.linear_cross_entropy",
    ),
    includes=("attention",),  # attention over an identity is a softmax, in a kernel that calls no other
)

_DROPOUT = Group(
    family="(?!.*attention).*dropout.*",  # a kernel of attention without dropout is attention
    called=((".*", r"torch.\g<0>"),),
    classes=tuple(
        f"torch.nn.{name}"
        for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
    ),
)

# What leads below the traps, by functions of Python, by modules that come late, or by memory that is written at any
# address; no group that an exercise names. The operators go by numbers in a tensor without a look at them, as
# `tests/box/index_fuzz.py` finds. Tensors of the layouts have indices or sizes whose memory others may change once they
# have been checked. What `looks` takes is enough for the gradient of `nn.Embedding(..., sparse=True)`.
BELOW = Group(
    family=(
        r"_?(embedding_bag|ctc_loss|segment_reduce)\w*|lu_unpack|_convert_indices_\w+|"
        r"_reinterpret_tensor|resize_storage_bytes_|"
        r"(adaptive_|fractional_)?max_pool\dd(_with_indices)?_backward"
    ),
    called=(
        (r"_?(embedding_bag|ctc_loss|(?:adaptive_|fractional_)?max_pool\dd)\w*", rf"{_F}.\g<1>"),
        (r"_?(.*)", r"torch.\g<1>"),
    ),
    functions=tuple(f"torch.utils.cpp_extension.{name}" for name in ("load", "load_inline")),
    modules=("torch.utils.cpp_extension", "cffi", "_cffi_backend", "numba", "onnxruntime"),
    layouts=("Sparse", "NestedTensor", "Quantized"),
    looks=(
        r"_sparse_coo_tensor_with_dims(_and_tensors)?|_?(indices|values|nnz)|_coalesced_|is_coalesced|(sparse|dense)_dim|"
        r"_dim[IV]|detach|clone|_to_copy|zero_|empty\w*"
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
