"""What the zygote imports and runs once, so that no child has to: a child cannot open a file any more.

Whatever is not imported here ends in a clean ModuleNotFoundError inside a run.
"""

from __future__ import annotations

import gc
import importlib
import linecache
import random
import sys

import numpy
import torch
from torch import Tensor
from torch.nn import functional

from grader.box import held, traps
from grader.box.wire import child
from grader.sandbox import gaps
from grader.sandbox.denied import replace_denied
from grader.sandbox.no_compiler import replace_unused, skip_compilation
from grader.sandbox.rehearsal import rehearse

# Standard library and torch modules that submissions import, and those that torch imports at its first use.
_MODULES = (
    "abc", "array", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses", "decimal", "enum",
    "fractions", "functools", "heapq", "inspect", "itertools", "json", "linecache", "logging", "math", "numbers",
    "operator", "random", "re", "statistics", "string", "textwrap", "time", "traceback", "types", "typing",
    "typing_extensions", "unittest", "warnings", "weakref", "encodings.idna", "encodings.latin_1",
    "cProfile", "getpass", "pstats", "shlex", "sysconfig",
    "numpy", "numpy.fft", "numpy.ma", "numpy.polynomial", "numpy.random", "numpy.testing", "safetensors.torch",
    "torch._refs", "torch._decomp.decompositions_for_jvp", "torch.func", "torch.optim", "torch.utils.checkpoint",
    "torch.utils.flop_counter", "torch.utils.serialization", "torch.nn.utils.prune", "torch.nn.attention",
    "torch.nn.attention.flex_attention", "torch.nn.attention.bias", "torch.nn.utils.parametrizations", "torch.fx",
    "torch.distributions", "torch.sparse", "torch.masked", "torch.testing", "torch.utils.benchmark",
)  # fmt: skip
_OPTIONAL = ("einops", "einops.layers.torch", "jaxtyping")


def warm_up(*, brief: bool = False) -> None:
    """Import and run whatever sets itself up at its first use, a `brief` time only what runs cannot do without."""
    torch.set_num_threads(1)
    replace_unused()
    for name in _MODULES:
        importlib.import_module(name)
    for name in _OPTIONAL:
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            importlib.import_module(name)
    skip_compilation()
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        _compute(dtype)
    _transform()
    if not brief:
        _recur()
    _raise_and_format()
    replace_denied()
    traps.prepare()  # after all that was run above, which needs what they forbid
    random.seed(0)  # what a submission draws from these two is the same in every run
    numpy.random.seed(0)
    # Python keeps what it has looked up in classes. What it kept during imports is in the way of what a run looks up:
    # each name that a child throws out is a page to copy, for its count of references.
    sys._clear_type_cache()
    held.hold()
    gc.freeze()  # as a child does: the measuring of memory looks at what was made since, and here that is all of torch
    rehearse(times=1 if brief else 12)  # bytecode is rewritten from the eighth time on
    child.ours()
    linecache.cache.clear()  # the source of what is trapped; a child can open no file, so Python would forget it there
    gaps.blank_freed()
    gaps.fill()


def _compute(dtype: torch.dtype) -> None:
    """Run what an attention block is made of, forwards and backwards, in an order that answers nothing; and a step."""
    layer = torch.nn.Linear(4, 4).to(dtype)
    x = torch.ones(2, 3, 4, dtype=dtype, requires_grad=True)
    one, other, third = layer(x), layer(x), layer(x)
    table = torch.einsum("bqd,bkd->bqk", one, other).masked_fill(torch.ones(3, 3).triu(1).bool(), float("-inf"))
    drawn = functional.dropout(torch.softmax(third, dim=-1), 0.1, training=True)
    heads = functional.layer_norm((table.exp() @ drawn).view(2, 3, 2, 2).transpose(1, 2).reshape(2, 3, 4), (4,))
    functional.gelu(heads).pow(2).mean().backward()  # type: ignore[no-untyped-call]
    torch.optim.AdamW(layer.parameters()).step()


def _recur() -> None:
    """Run an LSTM in single precision: its library writes its code at the first use, which takes 30 ms."""
    torch.nn.LSTM(12, 12)(torch.ones(2, 3, 12))


class _Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, value: Tensor) -> Tensor:
        return value * 2

    @staticmethod
    def backward(ctx: object, upstream: Tensor) -> Tensor:
        return upstream * 2


def _transform() -> None:
    """Run what lives beside plain autograd: functions of one's own, torch.func, checkpoints, complex numbers."""
    x = torch.ones(2, 4, requires_grad=True)
    _Double.apply(x).sum().backward()  # type: ignore[no-untyped-call]
    torch.func.vmap(torch.func.grad(lambda row: row.softmax(-1).sum()))(x.detach())
    torch.utils.checkpoint.checkpoint(torch.tanh, x, use_reentrant=False).sum().backward()
    turned = torch.view_as_complex(x.detach().view(2, 2, 2)) * torch.polar(torch.ones(2), torch.ones(2))
    torch.view_as_real(turned).numpy()
    torch.nn.MultiheadAttention(4, 2, batch_first=True)(x[None], x[None], x[None])
    repr(x)


def _raise_and_format() -> None:
    """Format an exception once: it imports what that takes."""
    import traceback

    try:
        torch.ones(2, 3) @ torch.ones(2, 3)
    except RuntimeError:
        traceback.format_exc()
