"""A plan of one call, its right answer, and what a run of it came to in one word."""

from __future__ import annotations

import torch

from grader.box.plan import Call, Entry, Kind, Plan, Slot
from grader.box.run import Ending, Limits, Run

LIMITS = Limits(cpu_seconds=1, wall_seconds=2, memory_bytes=128 << 20)

HONEST = """
import torch

def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
"""


def plan(forbidden: tuple[str, ...] = ()) -> Plan:
    """Return the plan: one call of `attend`, in float64."""
    generator = torch.Generator().manual_seed(7)
    names = ("q", "k", "v")
    arguments = {name: torch.randn(2, 3, 4, dtype=torch.float64, generator=generator) for name in names}
    call = Call("case/plain", None, arguments, (Slot("output:context", ("B", "T", "d"), (2, 3, 4)),))
    return Plan(Entry("attend", Kind.FUNCTION, names), (), (call,), forbidden)


def verdict(run: Run) -> str:
    """Say in one word how a run of `plan` went: `right`, `wrong`, `error TYPE`, or how it ended early."""
    if run.ending is not Ending.FINISHED:
        return str(run.ending)
    if run.observations.loading is not None:
        return f"error {run.observations.loading.type}"
    call = run.observations.calls["case/plain"]
    if call.raised is not None:
        return f"error {call.raised.type}"
    seen = call.slots["output:context"].tensor
    given = plan().calls[0].arguments
    right = torch.softmax(given["q"] @ given["k"].mT / 2, dim=-1) @ given["v"]  # type: ignore[union-attr,operator]
    return "right" if seen is not None and torch.allclose(seen, right, rtol=0, atol=1e-12) else "wrong"
