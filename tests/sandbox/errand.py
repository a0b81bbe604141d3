"""A plan of one call, its right answer, and what a run of it came to in one word."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.box.plan import Call, Entry, Kind, Plan, TensorSpec
from grader.box.run import Ending, Limits, Run

# No verdict may hang on how busy the machine is: only what must end by a clock is given little time.
LIMITS = Limits(cpu_seconds=5, wall_seconds=30, memory_bytes=128 << 20)
SHORT = replace(LIMITS, cpu_seconds=1, wall_seconds=2)

HONEST = """
# the word is kestrel, said the submission before
from dataclasses import replace

import torch

def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
"""


def plan(forbidden: tuple[str, ...] = ()) -> Plan:
    """Return the plan: one call of `attend`, in float64."""
    generator = torch.Generator().manual_seed(7)
    names = ("q", "k", "v")
    arguments = {name: torch.randn(2, 3, 4, dtype=torch.float64, generator=generator) for name in names}
    call = Call("case/plain", None, arguments, (TensorSpec("output:context", ("B", "T", "d"), (2, 3, 4)),))
    return Plan(Entry("attend", Kind.FUNCTION, names), (), (call,), forbidden)


def verdict(run: Run) -> str:
    """Say in a word or two how a run of `plan` went.

    `right`, `wrong`, `error TYPE`; `unanswered` where all was said to be done and nothing was; `through` where an
    attack says that it got what it wanted; or how the run ended early.
    """
    if run.ending is not Ending.FINISHED:
        return str(run.ending)
    call = run.observations.calls.get("case/plain")
    raised = run.observations.loading or (call.raised if call is not None else None)
    if raised is not None:
        return "through" if raised.message.startswith("through: ") else f"error {raised.type}"
    if call is None:
        return "unanswered"
    seen = call.slots["output:context"].tensor
    given = plan().calls[0].arguments
    right = torch.softmax(given["q"] @ given["k"].mT / 2, dim=-1) @ given["v"]  # type: ignore[union-attr,operator]
    return "right" if seen is not None and torch.allclose(seen, right, rtol=0, atol=1e-12) else "wrong"
