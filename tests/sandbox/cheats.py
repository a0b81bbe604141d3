"""The routes to ready-made answers in `tests/hostile/cheating/`, read; plans for them; what a run came to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from grader.box.observations import Blame
from grader.box.plan import Call, Entry, Kind, Plan, TensorSpec
from grader.box.run import Ending, Limits, Run

FOLDER = Path(__file__).parents[1] / "hostile" / "cheating"
LIMITS = Limits(cpu_seconds=5, wall_seconds=10, memory_bytes=512 << 20)
FORBIDDEN: Mapping[str, tuple[str, ...]] = {
    "attention": ("attention",),
    "softmax": ("softmax", "attention"),
    "dropout": ("attention", "dropout"),
}
ENTRIES: Mapping[str, str] = {"attention": "attend", "softmax": "softmax", "dropout": "drop"}
_HEAD = re.compile(r'"""(.+)\n\nGroup: (\w+)\nExpected: (.+)\nStopped by: (.+)\n(?:Without traps: (.+)\n)?"""\n')
_CLOSE = 1e-2  # what quantised kernels give is the ready-made answer all the same


@dataclass(frozen=True, slots=True)
class Route:
    """One file: its strategy, the group it is about, and what must come of it with traps and without."""

    name: str
    strategy: str
    group: str
    expected: str
    stoppers: tuple[str, ...]
    free: str
    source: str


def routes() -> list[Route]:
    """Return all routes; a file without a head of the agreed form has an empty strategy."""
    return [_read(path) for path in sorted(FOLDER.glob("*.py"))]


def _read(path: Path) -> Route:
    source = path.read_text(encoding="utf-8")
    head = _HEAD.match(source)
    strategy, group, expected, stoppers, free = head.groups() if head else ("", "", "", "", "")
    return Route(path.stem, strategy, group, expected, tuple(stoppers.split(", ")), free or "right", source)


def plan(group: str, *, trapped: bool = True) -> Plan:
    """Return a plan of one call, of the function that a route of `group` must define."""
    arguments = _arguments(group)
    shape = tuple(next(iter(arguments.values())).shape)
    call = Call("case/plain", None, arguments, (TensorSpec("output:answer", (), shape),), training=True)
    entry = Entry(ENTRIES[group], Kind.FUNCTION, tuple(arguments))
    return Plan(entry, (), (call,), FORBIDDEN[group] if trapped else ())


def verdict(run: Run, group: str) -> str:
    """Say how a run of `plan` went: `right`, `wrong`, `forbidden`, `error TYPE`, or how it ended early."""
    raised = run.observations.loading
    if raised is None and run.ending is not Ending.FINISHED:
        return str(run.ending)
    call = run.observations.calls.get("case/plain")
    raised = raised or (call.raised if call else None)
    if raised is not None:
        return "forbidden" if raised.blame is Blame.FORBIDDEN else f"error {raised.type}"
    assert call is not None
    answer = call.slots["output:answer"].tensor
    return "right" if answer is not None and _is_ready_made(answer.double(), group) else "wrong"


def _arguments(group: str) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(7)
    shapes = {"q": (2, 3, 4), "k": (2, 3, 4), "v": (2, 3, 4)} if group == "attention" else {"x": (3, 5)}
    return {name: torch.randn(shape, dtype=torch.float64, generator=generator) for name, shape in shapes.items()}


def _is_ready_made(answer: Tensor, group: str) -> bool:
    given = _arguments(group)
    if group == "dropout":
        return bool(((answer == 0) | ((answer - 2 * given["x"]).abs() < _CLOSE)).all())
    if group == "softmax":
        right = torch.softmax(given["x"], -1)
    else:
        right = torch.softmax(given["q"] @ given["k"].mT / 2, -1) @ given["v"]
    return torch.allclose(answer, right, rtol=0, atol=_CLOSE)
