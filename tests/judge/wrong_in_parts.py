"""Two answers in a way of their own, for tests that change them: one right, one with heads in the wrong order."""

from __future__ import annotations

from benchmarks.located import outcome_of, wrong_answer
from grader.exercise.catalog import Exercise
from grader.judge.explain.location import locate
from grader.judge.report import Location

ATTENTION = """
import torch
from torch import nn
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query, self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias), nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = torch.einsum("bqd,bkd->bqk", q / q.shape[-1] ** 0.5, k)
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
        e = (scores - scores.amax(-1, keepdim=True)).exp()
        total = e.sum(dim=-1, keepdim=True) # of each query
        weights = self.dropout(e / total)
        return weights @ v
"""

HEADS = """
import torch
from torch import nn
class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, max_len=512, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.W_query, self.W_key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_value, self.W_out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
    def forward(self, x):
        batch, time, d_model = x.shape
        heads, width = self.num_heads, d_model // self.num_heads
        projected = [layer(x) for layer in (self.W_query, self.W_key, self.W_value)]
        # The axes of time and heads are never exchanged.
        q, k, v = (one.reshape(batch, heads, time, width) for one in projected)
        scores = q @ k.mT / width**0.5
        scores = scores + torch.full((time, time), float("-inf")).triu(1)
        weights = scores.softmax(-1)
        context = (self.dropout(weights) @ v).transpose(1, 2).reshape(batch, time, d_model)
        return self.W_out(context), weights
"""


def located(exercise: Exercise, text: str) -> Location | None:
    """Return what is told of where an answer begins to differ, run in this process."""
    return locate(wrong_answer(exercise, text, outcome_of(exercise, text)))


def change(source: str, *edits: tuple[str, str]) -> str:
    """Return `source` with texts exchanged, each of which must be there."""
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    return source
