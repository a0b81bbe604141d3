"""Traps for ready-made operations: in an exercise about attention, calling attention ends the call.

The traps sit in torch's dispatcher, below Python, so that `getattr`, `torch.ops`, a saved reference or a profiler's
detour reach them too. Python stubs stand where a ready-made answer is itself composed of harmless operations.
They hold for the life of the process; only a process that runs one submission installs them.

Code in this process can undo anything in this process. The traps raise the price; they are no wall.
"""

from __future__ import annotations

import ctypes
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from grader.errors import AuthorError, ForbiddenCall


@dataclass(frozen=True, slots=True)
class Group:
    """Operations that are forbidden together.

    Attributes:
        operators: names in the dispatcher's `aten`, each with what a student calls it.
        functions: Python functions, by their full name.
        classes: Python classes that cannot be constructed, by their full name.
        modules: modules that would be imported late; whatever is taken from them is trapped.
    """

    operators: Mapping[str, str]
    functions: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


_F = "torch.nn.functional"
_SDPA = f"{_F}.scaled_dot_product_attention"

_ATTENTION = Group(
    operators={
        "scaled_dot_product_attention": _SDPA,
        "_scaled_dot_product_attention_math": _SDPA,
        "_scaled_dot_product_attention_math_for_mps": _SDPA,
        "_scaled_dot_product_flash_attention": _SDPA,
        "_scaled_dot_product_flash_attention_for_cpu": _SDPA,
        "_scaled_dot_product_efficient_attention": _SDPA,
        "_scaled_dot_product_cudnn_attention": _SDPA,
        "_scaled_dot_product_fused_attention_overrideable": _SDPA,
        "_flash_attention_forward": _SDPA,
        "_efficient_attention_forward": _SDPA,
        "_cudnn_attention_forward": _SDPA,
        "_native_multi_head_attention": "torch._native_multi_head_attention",
        "_native_multi_head_attention.out": "torch._native_multi_head_attention",
        "_triton_multi_head_attention": "torch._triton_multi_head_attention",
        "_triton_scaled_dot_attention": "torch._triton_scaled_dot_attention",
        "_transformer_encoder_layer_fwd": "torch._transformer_encoder_layer_fwd",
        "_transformer_encoder_layer_fwd.out": "torch._transformer_encoder_layer_fwd",
    },
    functions=(
        f"{_F}.multi_head_attention_forward",
        "torch.nn.attention.flex_attention.flex_attention",
        "torch._higher_order_ops.flex_attention.math_attention",
        "torch._higher_order_ops.flex_attention.sdpa_dense",
        "torch._higher_order_ops.flex_attention.FlexAttentionHOP.__call__",
        "torch._decomp.decompositions.scaled_dot_product_flash_attention_for_cpu",
    ),
    classes=(
        "torch.nn.MultiheadAttention",
        "torch.nn.Transformer",
        "torch.nn.TransformerEncoder",
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.TransformerDecoder",
        "torch.nn.TransformerDecoderLayer",
    ),
    modules=("torch.nn.attention.flex_attention", "torch.nn.attention.varlen"),
)

_SOFTMAX = Group(
    operators={
        **_ATTENTION.operators,  # attention over an identity is a softmax, in a kernel that calls no other
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
        "special_softmax": "torch.special.softmax",
        "log_softmax.int": "torch.log_softmax",
        "log_softmax.int_out": "torch.log_softmax",
        "_log_softmax": "torch.log_softmax",
        "_log_softmax.out": "torch.log_softmax",
        "_sparse_log_softmax": "torch.sparse.log_softmax",
        "_sparse_log_softmax.int": "torch.sparse.log_softmax",
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
        "torch._refs.softmax",
        "torch._refs.log_softmax",
        "torch._refs.logsumexp",
        *(f"torch._refs.nn.functional.{name}" for name in ("softmax", "log_softmax", "softmin")),
        *(f"torch._refs.special.{name}" for name in ("softmax", "log_softmax", "logsumexp")),
        "torch._decomp.decompositions._softmax",
        "torch._decomp.decompositions._log_softmax",
    ),
    classes=(
        *(f"torch.nn.{name}" for name in ("Softmax", "Softmax2d", "Softmin", "LogSoftmax", "CrossEntropyLoss")),
        "torch.nn.AdaptiveLogSoftmaxWithLoss",
    ),
)

_DROPOUT = Group(
    operators={
        name: f"torch.{name.partition('.')[0]}"
        for name in (
            *("dropout", "dropout_", "native_dropout", "native_dropout.out", "_fused_dropout", "alpha_dropout"),
            *("alpha_dropout_", "feature_dropout", "feature_dropout_", "feature_alpha_dropout"),
            "feature_alpha_dropout_",
        )
    },
    functions=(
        *(f"{_F}.{name}" for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")),
        f"{_F}.feature_alpha_dropout",
        "torch._refs.nn.functional.dropout",
        "torch._decomp.decompositions.native_dropout",
    ),
    classes=tuple(
        f"torch.nn.{name}"
        for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
    ),
)

GROUPS: Mapping[str, Group] = {"attention": _ATTENTION, "softmax": _SOFTMAX, "dropout": _DROPOUT}

# Plain tensors with and without autograd; composed operators, also asked for by key; two ways of vmap; and the
# layouts whose kernels give plain numbers back.
_KEYS = (
    *("CPU", "AutogradCPU", "CompositeImplicitAutograd", "FuncTorchBatched", "FuncTorchVmapMode"),
    *("SparseCPU", "NestedTensorCPU"),
)


def check(groups: tuple[str, ...]) -> None:
    """Refuse groups that there are not; done before a job leaves, since in the child it would look like a crash.

    Raises:
        AuthorError: there is no such group.
    """
    for name in groups:
        if name not in GROUPS:
            raise AuthorError(f"there is no group of forbidden operations `{name}`; there are {', '.join(GROUPS)}")


def install(groups: tuple[str, ...]) -> None:
    """Trap every operation of `groups` in this process, for good; a trapped call raises `ForbiddenCall`.

    Raises:
        AuthorError: there is no such group.
    """
    check(groups)
    for group in (GROUPS[name] for name in groups):
        _trap_operators(group.operators)
        _trap_modules(group.modules)
        for function in group.functions:
            _trap_attribute(function, function)
        for kind in group.classes:
            _trap_attribute(f"{kind}.__init__", kind)
            _trap_attribute(f"{kind}.forward", kind)


def _trap_operators(operators: Mapping[str, str]) -> None:
    """Override the kernels; the registrations are raw and immortal, so there is no object whose end would undo them."""
    import torch  # here and not above: whoever reads a specification needs the names of the groups only

    traps = {operator: _trap(called) for operator, called in operators.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that a kernel is overridden: that is the point
        for key in _KEYS:
            library = torch._C._dispatch_library("IMPL", "aten", key, "", 0)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
            for operator, trap in traps.items():
                library.impl(operator, key, trap)


def _trap_modules(names: tuple[str, ...]) -> None:
    """Put a module full of traps wherever the real one is not loaded yet."""
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = _TrappedModule(name)


def _trap_attribute(path: str, called: str) -> None:
    """Replace a Python function or method where its module is loaded; unloaded ones cannot be loaded in the box."""
    names = path.split(".")
    place = next(".".join(names[:size]) for size in range(len(names), 0, -1) if ".".join(names[:size]) in sys.modules)
    owner: Any = sys.modules[place]
    *inner, last = path[len(place) + 1 :].split(".")
    for name in inner:
        owner = vars(owner).get(name)
        if owner is None:
            return
    if last in vars(owner):
        setattr(owner, last, _trap(called))


class _TrappedModule(types.ModuleType):
    """A module from which nothing can be taken; names that Python itself looks up are simply absent."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ForbiddenCall(f"{self.__name__}.{name}")


def _trap(called: str) -> Callable[..., NoReturn]:
    def trapped(*_arguments: object, **_options: object) -> NoReturn:
        raise ForbiddenCall(called)

    return trapped
