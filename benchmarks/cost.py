"""What one grade of a right answer costs in processor time, stage by stage, in both processes.

Processor time is the figure that a noisy machine touches least. With `--against` another checkout of the project does
the same work in turn, in a process of its own, so that both meet the same noise; the ratios are this tree's time over
the other's.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import torch
import typer

from grader.box.run import Limits
from grader.checks.evidence import Evidence
from grader.exercise.catalog import ROOT, Catalog
from grader.judge.grade import grade, observe_reference
from grader.judge.sheet import draw_up
from grader.judge.verdicts import judge
from grader.sandbox.choice import choose_box

try:
    from grader.sandbox.handles import ChildHandle
except ImportError:  # the other tree's
    from grader.sandbox.child_handle import ChildHandle  # type: ignore[import-not-found,no-redef]

STAGES = ("draw", "reference", "child", "judge", "parent", "total", "wall")
_WARM_UP = 4
_NOTHING = 0.01  # milliseconds
_IDLE = typer.Option("--idle", help="Seconds without work before each grade, in which children are made ready as well.")
_AGAINST = typer.Option("--against", help="Another checkout of the project, to be measured in turn with this one.")


def cost(
    exercises: Annotated[list[str] | None, typer.Argument(help="All of them, if none is named.")] = None,
    rounds: int = 9,
    idle: Annotated[float, _IDLE] = 0.0,
    against: Annotated[Path | None, _AGAINST] = None,
) -> None:
    """Print the median milliseconds of each stage: `parent` is a whole grade here, `total` that and the child's.

    The fork itself, some 2.5 ms of the zygote's, is in none of them.
    """
    workers = [_Worker(ROOT), *([_Worker(against.resolve())] if against else [])]
    typer.echo(f"{'exercise':<30}" + "".join(f"{stage:>10}" for stage in STAGES))
    ratios = []
    for name in exercises or Catalog.load():
        taken = _in_turn(workers, name, rounds, idle)
        medians = [statistics.median(column) for column in zip(*taken[0], strict=True)]
        typer.echo(f"{name:<30}" + "".join(f"{one:>10.1f}" for one in medians))
        if against:
            ratios.append([_ratio(*columns) for columns in zip(*map(_columns, taken), strict=True)])
            typer.echo(f"{'  over the other tree':<30}" + "".join(f"{one:>10.2f}" for one in ratios[-1]))
    if ratios:
        overall = [statistics.median(column) for column in zip(*ratios, strict=True)]
        typer.echo(f"{'median ratio':<30}" + "".join(f"{one:>10.2f}" for one in overall))


class _Worker:
    """A process that grades in one checkout, and tells what each grade took."""

    def __init__(self, tree: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve())],
            cwd=tree,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, name: str, seed: int, idle: float) -> list[float]:
        """Return the milliseconds of one grade, by stage."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(name, seed, idle, file=self._process.stdin, flush=True)
        return [float(one) for one in self._process.stdout.readline().split()]


def _in_turn(workers: list[_Worker], name: str, rounds: int, idle: float) -> list[list[list[float]]]:
    taken: list[list[list[float]]] = [[] for _ in workers]
    for seed in range(_WARM_UP + rounds):
        for worker, times in zip(workers, taken, strict=True):
            told = worker.ask(name, seed, idle)
            if seed >= _WARM_UP:
                times.append(told)
    return taken


def _columns(rows: list[list[float]]) -> list[tuple[float, ...]]:
    return list(zip(*rows, strict=True))


def _ratio(ours: tuple[float, ...], theirs: tuple[float, ...]) -> float:
    """Return the median ratio; NaN for a stage that the other tree does not have."""
    if max(theirs) < _NOTHING:
        return math.nan
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


def _work() -> None:
    """Grade what is asked for on the input, a line each."""
    torch.set_num_threads(1)
    box, catalog = choose_box(allow_plain=False), Catalog.load()
    for line in sys.stdin:
        name, seed, idle = line.split()
        print(*_stages(catalog[name], int(seed), box, float(idle)), flush=True)


def _stages(exercise: Any, seed: int, box: Any, idle: float) -> list[float]:
    source = f"{exercise.reference_path.read_text(encoding='utf-8')}\n# {seed}\n"  # nobody sends what another has sent
    draw, sheet = _spent(lambda: draw_up(exercise, seed))
    reference, (expected, rounded) = _spent(lambda: observe_reference(exercise, sheet.plan))
    limits = Limits(**exercise.spec.limits.model_dump())  # children are ready for such limits
    with patch.object(ChildHandle, "early_facts", lambda _self: None, create=True):  # else its end would not be counted
        run = box.run(sheet.plan, source, limits)
    evidence = Evidence(sheet.plan, run.observations, expected, rounded, sheet.free)
    judging, _ = _spent(lambda: judge(sheet.items, evidence))
    time.sleep(idle)
    start = time.perf_counter()
    parent, report = _spent(lambda: grade(exercise, source, seed=seed, box=box))
    wall = time.perf_counter() - start
    if report.score != 100:
        raise SystemExit(f"the reference of {exercise.id} earned {report.score}: {report.reason}")
    spent = (draw, reference, run.cpu_seconds, judging, parent, parent + run.cpu_seconds, wall)
    return [1000 * one for one in spent]


def _spent(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


if __name__ == "__main__":
    _work()
