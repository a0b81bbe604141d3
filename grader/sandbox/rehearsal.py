"""Runs small jobs of our own in the zygote, from their bytes to the frames of the answer, before any submission comes.

Python rewrites its bytecode for what it meets while it runs, torch registers and allocates at its first use. What has
been done here is shared by all children; else each would do it again, in memory of its own, a page fault at a time. The
code below computes nothing that an exercise asks for: children can find it in their memory.
"""

from __future__ import annotations

import linecache
import sys
from functools import partial

import torch

from grader.box import arguments
from grader.box.faults import SUBMISSION
from grader.box.keys import call_name, output_key
from grader.box.kinds import Kind
from grader.box.loading import load
from grader.box.observations import Loaded
from grader.box.observe import observe
from grader.box.plan import Build, Call, Entry, Plan, TensorSpec, Weight
from grader.box.wire.answer import pack
from grader.box.wire.job import decode_job, encode_job

_WIDTH, _ROWS = 4, (2, 3)

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


def rehearse(times: int) -> None:
    """Run both jobs so many times, and leave nothing of them behind."""
    jobs = [encode_job(_layer(), _LAYER), encode_job(_function(), _FUNCTION)]
    for _ in range(times):
        for job in jobs:
            plan, source = decode_job(job)
            for event in observe(plan, partial(load, source, plan.entries, _forgotten), whole=True):
                pack(event, plan)
    del sys.modules["submission"], linecache.cache[SUBMISSION]
    arguments.forget()


def _forgotten(_loaded: Loaded) -> None:
    """Take what is told of a file, and forget it."""


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
