"""What the workers of a GPU cost, what a GPU's rounding is, and whether the walls hold around its driver.

Needs a GPU. With `--device cpu` the same code runs around no driver at all, which shows that it runs, and no more.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
import typer

from benchmarks.latency import EXERCISE
from grader.box.run import Box, Ending, Limits
from grader.examples import read_examples
from grader.exercise.catalog import ROOT, Catalog, Exercise, read_exercise
from grader.judge.completion import PANEL_DTYPE, DevicePlace
from grader.judge.grade import grade
from grader.judge.report import DevicePanel
from grader.judge.sheet import draw_up
from grader.sandbox.choice import choose_box
from grader.sandbox.gpu import there_is_a_gpu
from grader.sandbox.gpu.box import DeviceBox
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict

NO_GPU = 3  # the exit code where there is none
AREAS = ("files", "network", "processes", "kernel", "resources", "forging", "leaks")
GENEROUS = Limits(cpu_seconds=60.0, wall_seconds=60.0)


def gpu(rounds: int = 10, attacks: int = 5, exercises: int = 100, answers: int = 1, device: str = "cuda") -> None:
    """Print the tables: costs in turn, panels of every exercise that allows a GPU, attacks on a worker's walls.

    Args:
        rounds: how often each way is timed.
        attacks: how many of each area of the corpus are tried.
        exercises: of how many exercises the panels are made.
        answers: how many right answers of each, beside its reference; each takes two workers.
        device: `cuda`; `cpu` rehearses.
    """
    torch.set_num_threads(1)
    if device == "cuda" and not there_is_a_gpu():
        typer.echo("no GPU that torch can use here, so nothing was measured")
        raise typer.Exit(NO_GPU)
    with DeviceBox(device, workers=2) as box:
        box.pool.wait()
        sandbox = choose_box(allow_plain=False)
        _costs(box, sandbox, rounds)
        _panels(box, sandbox, exercises, answers)
        _walls(box, attacks)


def _costs(box: DeviceBox, sandbox: Box, rounds: int) -> None:
    exercise = read_exercise(ROOT / "exercises" / EXERCISE)
    source = exercise.reference_path.read_text(encoding="utf-8")
    job = draw_up(exercise, 1).in_dtype(PANEL_DTYPE).plan
    there = replace(job, device=box.device)
    _finished(partial(box.run, there, source, GENEROUS))  # the first run of a driver is no typical one
    in_sandbox, warm, warming = [], [], []
    for _ in range(rounds):
        in_sandbox.append(_timed(partial(_finished, partial(sandbox.run, job, source, GENEROUS))))
        box.pool.wait()
        warm.append(_timed(partial(_finished, partial(box.run, there, source, GENEROUS))))
        warming.append(_timed(box.pool.wait))
    cold = [one + two for one, two in zip(warming, warm, strict=True)]
    side_by_side = _timed(partial(_crowd, box, there, source, count=2 * rounds))
    typer.echo(f"{EXERCISE}, every call, {PANEL_DTYPE}, {rounds} rounds in turn, {box.name}")
    typer.echo(f"{'way':<46}{'median ms':>10}{'p95 ms':>10}{'ratio':>12}")
    base = statistics.median(in_sandbox)
    for way, seconds in (
        ("(a) the sandbox's warm child, CPU", in_sandbox),
        ("(b) a worker that waits, warm", warm),
        ("(c) a worker's warm-up", warming),
        ("(d) a worker that is not ready: (c) and (b)", cold),
    ):
        ordered = sorted(seconds)
        p95 = ordered[round(0.95 * (len(ordered) - 1))]
        middle = statistics.median(ordered)
        typer.echo(f"{way:<46}{middle * 1000:>10.1f}{p95 * 1000:>10.1f}{middle / base:>10.1f} a")
    one_by_one = statistics.median(cold) * 2 * rounds
    typer.echo(
        f"{2 * rounds} jobs through {box.pool.size} workers: {2 * rounds / side_by_side:.2f} a second,"
        f" {one_by_one / side_by_side:.2f} times as fast as one after the other"
    )


def _crowd(box: DeviceBox, job: object, source: str, *, count: int) -> None:
    with ThreadPoolExecutor(box.pool.size) as threads:
        list(threads.map(lambda _: _finished(partial(box.run, job, source, GENEROUS)), range(count)))


def _panels(box: DeviceBox, sandbox: Box, count: int, answers: int) -> None:
    allowed = [one for one in Catalog.load().values() if "cuda" in one.spec.devices][:count]
    typer.echo(f"\npanels of {len(allowed)} exercises: the worst error, as a share of its bound (1: at the bound)")
    typer.echo(f"{'exercise':<34}{'verdict':>10}{'CPU f32':>10}{box.device + ' f32':>10}{'right answers within':>24}")
    for exercise in allowed:
        right = [example.path for example in read_examples(exercise.folder) if example.loses is None][:answers]
        own = _panels_of(exercise, exercise.reference_path, box, sandbox)
        others = [_panels_of(exercise, path, box, sandbox)[-1:] for path in right]
        within = sum(bool(panels) and panels[0].within for panels in others)
        shares = "".join(f"{_share(panel):>10}" for panel in own) or f"{'missing':>30}"
        typer.echo(f"{exercise.id:<34}{shares}{f'{within} of {len(right)}':>24}")
        for panel in own:
            if panel.note:
                typer.echo(f"    the reference on {panel.device}: {panel.note}")


def _panels_of(exercise: Exercise, answer: Path, box: DeviceBox, sandbox: Box) -> tuple[DevicePanel, ...]:
    places = (DevicePlace("cpu", PANEL_DTYPE, sandbox), DevicePlace(box.device, PANEL_DTYPE, box, apart=True))
    return grade(exercise, answer.read_bytes(), seed=1, box=sandbox, places=places).panels


def _share(panel: DevicePanel) -> str:
    shares = [
        reading.error / reading.bound for reading in panel.readings if reading.error is not None and reading.bound
    ]
    return f"{max(shares):.2g}" if shares and not panel.note else "none"


def _walls(box: DeviceBox, count: int) -> None:
    typer.echo(f"\nattacks on a worker's walls, {count} of each area at most")
    typer.echo(f"{'area':<14}{'tried':>8}{'as said':>10}{'otherwise':>12}{'got through':>14}{'honest after':>14}")
    for area in AREAS:
        found = [(path, _attacked(box, path)) for path in _corpus(area, count)]
        through = [path.stem for path, (said, _) in found if said == "through"]
        other = [f"{path.stem} ({said})" for path, (said, expected) in found if said not in (*expected, "through")]
        honest = verdict(box.run(replace(plan(), device=box.device), HONEST, GENEROUS))
        fit = len(found) - len(through) - len(other)
        typer.echo(f"{area:<14}{len(found):>8}{fit:>10}{len(other):>12}{len(through):>14}{honest:>14}")
        if names := ", ".join((*through, *other)):
            typer.echo(f"    {names}")


def _corpus(area: str, count: int) -> Iterator[Path]:
    yield from sorted((ROOT / "tests" / "hostile" / area).glob("*.py"))[:count]


def _attacked(box: DeviceBox, attack: Path) -> tuple[str, list[str]]:
    source = attack.read_text(encoding="utf-8")
    expected = re.search(r"^Expected: (.+)$", source, re.MULTILINE)
    run = box.run(replace(plan(), device=box.device), source, LIMITS)
    return verdict(run), expected[1].split(" or ") if expected else []


def _finished(run: Callable[[], object]) -> None:
    done = run()
    if done.ending is not Ending.FINISHED or done.observations.loading is not None:  # type: ignore[attr-defined]
        raise SystemExit(f"the benchmark's own answer did not come to its end: {done}")


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
