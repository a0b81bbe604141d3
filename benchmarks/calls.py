"""Which system calls honest code makes behind the walls, with which arguments, over every example.

Attaches strace to a running zygote, runs each answer of `exercises/*/examples/` through the sandbox, and
compares what the children asked for with the list in `grader/sandbox/walls/calls.py`. `--write` keeps the
record in `tests/sandbox/honest_calls.json`, from which the tests take what the filter must let through.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import typer

from grader.box.run import Limits
from grader.examples import read_examples
from grader.exercise.catalog import ROOT, Catalog
from grader.judge.sheet import draw_up
from grader.sandbox.runner import Sandbox
from grader.sandbox.walls.calls import COMPUTE
from tests.sandbox.user_story import innermost

RECORD = ROOT / "tests" / "sandbox" / "honest_calls.json"
_LIMITS = Limits(cpu_seconds=60, wall_seconds=300)  # strace makes everything slower
_MANY = 16  # more values than that are sizes or the like
_ADDRESS = 1 << 32  # a value from here on is an address, or what an unused register held
_CALL = re.compile(r"(\d+) +(\w+)\(([^)<]*)\)?.*?(?:= (-?\w+)(?: (E\w+))?.*)?$")
_PRCTL_FILTER = (22, 2)  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER: what comes after it happens behind the walls


@dataclass(slots=True)
class Seen:
    """What was seen of one call: how often, how often it was refused, and the values of each argument."""

    count: int = 0
    refused: int = 0
    values: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def arguments(self) -> list[list[int] | str]:
        """For each argument its values in their order, or `any` where there are many, or addresses."""
        found = [sorted(self.values[place]) for place in sorted(self.values)]
        return ["any" if len(values) > _MANY or values[-1] >= _ADDRESS else values for values in found]


def calls(every: int = 1, *, write: bool = False) -> None:
    """Print what honest code asks the kernel for, and what of it the list does not have."""
    with tempfile.NamedTemporaryFile("r", suffix=".strace", encoding="ascii", errors="replace") as trace:
        runs = _record(trace.name, every)
        seen = read(trace)
    typer.echo(f"{runs} runs")
    for name, call in sorted(seen.items(), key=lambda item: -item[1].count):
        known = "" if name in COMPUTE.table else "  not on the list"
        typer.echo(f"{name:<18}{call.count:>8} times, {call.refused} refused{known}")
        typer.echo("".join(f"    {place}: {_shown(found)}\n" for place, found in enumerate(call.arguments)), nl=False)
    for name in sorted(set(COMPUTE.table) - set(seen)):
        typer.echo(f"{name:<18} on the list, not seen")
    if write:
        granted = {name: call.arguments for name, call in sorted(seen.items()) if not call.refused}
        RECORD.write_text(json.dumps(granted, indent=1) + "\n", encoding="utf-8")


def _record(trace: str, every: int) -> int:
    """Run every so-many-th example of each exercise with strace at the zygote; return how many ran."""
    runs = 0
    with Sandbox() as sandbox:
        zygote = innermost(sandbox._zygote._process.pid)
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-e", "raw=all", "-o", trace, "-p", str(zygote)])
        while not _is_traced(zygote):
            time.sleep(0.01)
        for exercise in Catalog.load().values():
            plan = draw_up(exercise, seed=20_260).plan
            for example in read_examples(exercise.folder)[::every]:
                sandbox.run(plan, example.path.read_text(encoding="utf-8"), _LIMITS)
                runs += 1
    tracer.wait()
    return runs


def _is_traced(process: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return "TracerPid:\t0\n" not in status


def read(lines: Iterable[str]) -> dict[str, Seen]:
    """Return what a trace says of processes from the moment on when they have loaded the filter."""
    seen: dict[str, Seen] = defaultdict(Seen)
    for name, arguments, error in _behind_the_walls(lines):
        call = seen[name]
        call.count += 1
        call.refused += error == "EPERM"
        for place, value in enumerate(arguments):
            call.values[place][value] += 1
    return dict(seen)


def _behind_the_walls(lines: Iterable[str]) -> Iterator[tuple[str, tuple[int, ...], str | None]]:
    inside: set[str] = set()
    for line in lines:
        found = _CALL.match(line)
        if found is None:  # a signal, the end of a process, or the second half of a call that was interrupted
            continue
        process, name, text, _, error = found.groups()
        arguments = tuple(int(word, 0) for word in text.replace(" ", "").split(",") if word)
        if process in inside:
            yield name, arguments, error
        if name == "prctl" and arguments[:2] == _PRCTL_FILTER:
            inside.add(process)


def _shown(found: list[int] | str) -> str:
    return found if isinstance(found, str) else " ".join(map(hex, found))
