"""How long one grade takes: in this process, through the sandbox, in a cold pytest process, and by Otter-Grader.

The job is causal multi-head attention. (a) and (b) are taken in turn in one warm process, so that noise hits both; both
draw the tensors, judge and draw the figures. (a) runs the reference and then the submission, (b) runs them side by
side, one grade right after the other. The next line is (b) after half a second without work. (c) and (d) start Python
anew each time.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer

from benchmarks import otter
from grader.box.inline import InlineBox
from grader.box.run import Box
from grader.exercise.catalog import ROOT, Exercise, read_exercise
from grader.judge.grade import grade
from grader.sandbox.choice import choose_box

EXERCISE = "multi_head_attention_causal"
_WARM_UP = 3
_IDLE = 0.5  # seconds

_OTTER = typer.Option("--otter", help="Install Otter-Grader into a throw-away environment, and have it grade as well.")


def latency(rounds: int = 40, cold_rounds: int = 5, with_otter: Annotated[bool, _OTTER] = False) -> None:
    """Print median and 95th percentile of the ways, and their ratios."""
    torch.set_num_threads(1)
    exercise = read_exercise(ROOT / "exercises" / EXERCISE)
    answer = exercise.reference_path
    box = choose_box(allow_plain=False)
    warm, boxed, rested = _in_turn(rounds, exercise, answer.read_text(encoding="utf-8"), box)
    cold = [_timed(lambda: _cold_pytest(answer)) for _ in range(cold_rounds)]
    others = _otter(exercise, answer, cold_rounds) if with_otter else []
    cases = len(exercise.spec.cases)
    typer.echo(f"{EXERCISE}: {cases} cases, {rounds} rounds in turn ({cold_rounds} cold), {box.name}")
    typer.echo(f"{'way':<46}{'median ms':>10}{'p95 ms':>10}{'ratio':>16}")
    base, through, ready = (statistics.median(way) for way in (warm, boxed, rested))
    _row("(a) warm process, no sandbox", warm, "1 a")
    _row("(b) through the sandbox, as the service does", boxed, f"{through / base:.2f} a")
    _row("    the same, after half a second without work", rested, f"{ready / base:.2f} a")
    _row("(c) cold pytest process", cold, _to_both(cold, through, ready))
    if others:
        _row("(d) `otter run`, fewer checks of each case", others, _to_both(others, through, ready))


def _in_turn(rounds: int, exercise: Exercise, source: str, box: Box) -> list[list[float]]:
    """Return the seconds of the three ways."""
    ways: list[tuple[Box, float]] = [(InlineBox(), 0.0), (box, 0.0), (box, _IDLE)]
    taken: list[list[float]] = [[] for _ in ways]
    for seed in range(rounds + _WARM_UP):
        for (chosen, idle), times in zip(ways, taken, strict=True):
            time.sleep(idle)
            seconds = _timed(partial(_grade, exercise, source, seed, chosen))
            if seed >= _WARM_UP:
                times.append(seconds)
    return taken


def _grade(exercise: Exercise, source: str, seed: int, box: Box) -> None:
    report = grade(exercise, f"{source}\n# {seed}\n", seed=seed, box=box)  # nobody sends what another has sent
    if report.score != 100:
        raise SystemExit(f"the benchmark's own answer earned {report.score}: {report.reason}")


def _cold_pytest(answer: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--exercise", EXERCISE, str(answer)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def _otter(exercise: Exercise, answer: Path, rounds: int) -> list[float]:
    """Return the seconds of `otter run` on the same cases; the first run, which fills caches, does not count."""
    with tempfile.TemporaryDirectory(prefix="otter-") as made:
        folder = Path(made)
        command = otter.prepare(otter.install(folder / "environment"), folder / "work", exercise, answer.read_text())
        runs = [
            _timed(lambda: otter.grade(command, folder / "work", len(exercise.spec.cases))) for _ in range(rounds + 1)
        ]
        return runs[1:]


def _to_both(seconds: list[float], through: float, ready: float) -> str:
    """Return a way's median over (b), and over (b) on a rested machine."""
    return " and ".join(f"{statistics.median(seconds) / one:.0f} b" for one in (through, ready))


def _timed(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _row(way: str, seconds: list[float], ratio: str) -> None:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    typer.echo(f"{way:<46}{statistics.median(ordered) * 1000:>10.1f}{p95 * 1000:>10.1f}{ratio:>16}")
