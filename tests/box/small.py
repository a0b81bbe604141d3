"""A small plan with one of everything, for tests of what travels."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.box.plan import Build, Call, Entry, Kind, Plan, TensorSpec, Weight


def numbers(*shape: int, seed: int = 0) -> Tensor:
    """Return standard normal numbers in float64."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def attention_plan() -> Plan:
    """Return a plan of one build and two calls, the first with a backward pass."""
    build = Build("d_in=3", {"d_in": 3, "d_out": 2}, (Weight("W_query", numbers(3, 2), numbers(2)),))
    outputs = (
        TensorSpec("output:context", ("time", "d_out"), (4, 2)),
        TensorSpec("output:weights", ("time", "time"), (4, 4)),
    )
    first = Call(
        name="small/base",
        build="d_in=3",
        arguments={"x": numbers(4, 3), "mask": torch.ones(4, 4, dtype=torch.bool).tril(), "dim": -1},
        outputs=outputs,
        grad_outputs=(numbers(4, 2), None),
        wants=("x",),
    )
    second = Call(
        name="small/again",
        build="d_in=3",
        arguments={"x": numbers(4, 3), "mask": None},
        outputs=outputs,
        dtype="float32",
        training=True,
        non_contiguous=True,
        seed=7,
    )
    entry = Entry("Attention", Kind.MODULE, ("x", "mask", "dim"), ("d_in", "d_out"), {"mask": None})
    return Plan(entry, (build,), (first, second), ("attention",))
