"""What the zygote imports and runs once, so that no child has to: a child cannot open a file any more.

Whatever is not imported here ends in a clean ModuleNotFoundError inside a run. Small jobs of our own are run as well,
from their bytes to the frames of the answer: Python rewrites its bytecode for what it meets while it runs, torch
registers and allocates at its first use. What has been done here is shared by all children; else each would do it
again, in memory of its own, a page fault at a time. Their code computes nothing that an exercise asks for: children can
find it in their memory.
"""

from __future__ import annotations

import gc
import importlib
import linecache
import random
import sys
import traceback
from functools import partial

import numpy
import torch
from torch import Tensor
from torch.nn import functional

from grader.box import held, traps
from grader.box.faults import SUBMISSION
from grader.box.keys import call_name, output_key
from grader.box.kinds import Kind
from grader.box.loading import load
from grader.box.observe import observe
from grader.box.plan import Build, Call, Entry, Plan, TensorSpec, Weight
from grader.box.wire import child
from grader.box.wire.answer import pack
from grader.box.wire.job import decode_job, encode_job
from grader.sandbox.interior import replace_denied, replace_unused, skip_compilation
from grader.sandbox.zygote_memory import blank_freed, take_freed

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
_WIDTH, _ROWS = 4, (2, 3)
_REHEARSALS = 12  # Python rewrites a function's bytecode from the eighth call on; later each child would, in its memory
_LAYER = """
import math
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.W_key = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.W_value = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.W_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(8, 8), diagonal=1).bool())

    def forward(self, x):
        B, T, d = x.shape
        parts = [self.split(layer(x)) for layer in (self.W_query, self.W_key, self.W_value)]
        drawn = self.dropout(torch.softmax(parts[0] / math.sqrt(d), dim=-1)).masked_fill(torch.isnan(parts[1]), 0.0)
        table = (x @ x.transpose(1, 2)).masked_fill(self.mask[:T, :T], -torch.inf)
        merged = (drawn * parts[2] + parts[1].exp()).transpose(1, 2).contiguous().view(B, T, d)
        return self.W_out(merged), torch.tanh(table.detach().exp())

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.num_heads, -1).transpose(1, 2)
"""
_FUNCTION = """
import torch


def function(x, y=None):
    if x.requires_grad:
        return torch.einsum("bti,bti->bt", x, x * 2.0).sum(dim=-1)
    raise ValueError("no gradient is wanted of this one")
"""


def warm_up() -> None:
    """Import and run whatever sets itself up at its first use."""
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
    torch.nn.LSTM(12, 12)(torch.ones(2, 3, 12))  # its library writes its code at the first use, which takes 30 ms
    try:
        torch.ones(2, 3) @ torch.ones(2, 3)
    except RuntimeError:
        traceback.format_exc()  # imports what that takes
    replace_denied()
    traps.prepare()  # after all that was run above, which needs what they forbid
    random.seed(0)  # what a submission draws from these two is the same in every run
    numpy.random.seed(0)
    # Python keeps what it has looked up in classes. What it kept during imports is in the way of what a run looks up:
    # each name that a child throws out is a page to copy, for its count of references.
    sys._clear_type_cache()
    held.hold()
    gc.freeze()  # as a child does: the measuring of memory looks at what was made since, and here that is all of torch
    _rehearse()
    child.ours()
    linecache.cache.clear()  # the source of what is trapped; a child can open no file, so Python would forget it there
    blank_freed()
    take_freed()


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


def _rehearse() -> None:
    for job in _REHEARSALS * (encode_job(_layer(), _LAYER), encode_job(_function(), _FUNCTION)):
        plan, source = decode_job(job)
        for event in observe(plan, partial(load, source, plan.entries, lambda _loaded: None), whole=True):
            pack(event, plan)
    del sys.modules["submission"], linecache.cache[SUBMISSION]


def _layer() -> Plan:
    sizes = {"d_model": _WIDTH, "num_heads": 2, "qkv_bias": True}
    matrix, bias = torch.ones(_WIDTH, _WIDTH, dtype=torch.float64), torch.ones(_WIDTH, dtype=torch.float64)
    weights = tuple(Weight(f"W_{name}", matrix, bias) for name in ("query", "key", "value", "out"))
    builds = (Build("doubles", sizes, weights), Build("singles", sizes, weights, dtype="float32"))
    x = torch.ones(*_ROWS, _WIDTH, dtype=torch.float64)
    outputs = (
        TensorSpec(output_key("context"), (), (*_ROWS, _WIDTH)),
        TensorSpec(output_key("weights"), (), (2, 3, 3)),
    )
    plain = Call(call_name("case", "base"), "doubles", {"x": x}, outputs, grad_outputs=(x, None), wants=("x",))
    calls = (
        plain,
        Call(call_name("case", "again"), "doubles", {"x": x}, outputs),
        Call(call_name("case", "strided"), "doubles", {"x": x}, outputs, non_contiguous=True),
        Call(call_name("case", "training"), "doubles", {"x": x}, outputs, training=True, max_elements=1000),
        Call(call_name("case", "single"), "singles", {"x": x}, outputs, dtype="float32"),
    )
    constructor = ("d_model", "num_heads", "dropout", "qkv_bias")
    return Plan(Entry("Layer", Kind.MODULE, ("x",), constructor, {"dropout": 0.0}), builds, calls)


def _function() -> Plan:
    x = torch.ones(*_ROWS, _WIDTH, dtype=torch.float64)
    output = (TensorSpec(output_key("context"), (), (2,)),)
    calls = (
        Call(
            call_name("case", "base"),
            None,
            {"x": x, "y": None},
            output,
            grad_outputs=(torch.ones(2, dtype=torch.float64),),
            wants=("x",),
        ),
        Call(call_name("case", "refused"), None, {"x": x, "y": None}, output),
    )
    return Plan(Entry("function", Kind.FUNCTION, ("x", "y")), (), calls)
