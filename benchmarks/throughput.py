"""How many grades a second come out of so many slots, and how much memory each child has to itself.

The job is that of `latency`. Slots are threads of grading processes that have a sandbox each, as in the service; every
grade is whole: tensors, reference, run, verdict, figures. Memory is what the kernel counts as private and dirty in a
child, looked at every millisecond while right answers to several exercises run.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import torch
import typer

from benchmarks.latency import EXERCISE
from grader.box.run import Box
from grader.exercise.catalog import ROOT, Catalog, Exercise, read_exercise
from grader.judge.grade import grade
from grader.sandbox.choice import choose_box

_SLOTS = (1, 2, 3, 4)
_EVERY = 5  # each fifth exercise has its children weighed
_GENERATION = 3  # below this process: the zygote as it was started, the zygote in its namespaces, the child


def throughput(
    seconds: float = 8.0,
    each: Annotated[int, typer.Option(help="Slots of one grading process.")] = 1,
) -> None:
    """Print the grades a second and the milliseconds of one, slots by slots, and the memory of children."""
    torch.set_num_threads(1)
    box = choose_box(allow_plain=False)
    _print_rates(seconds, each)
    _print_memory(box)


def _print_rates(seconds: float, each: int) -> None:
    processes = [ProcessPoolExecutor(1, get_context("spawn")) for _ in range(-(-_SLOTS[-1] // each))]
    for ready in [process.submit(_warm_up) for process in processes]:
        ready.result()
    typer.echo(f"{EXERCISE}, {seconds:g} s each, {each} slots a process, {os.cpu_count()} cores")
    typer.echo(f"{'slots':<8}{'grades/s':>10}{'ratio':>8}{'median ms':>12}{'p95 ms':>10}")
    alone = 0.0
    for slots in _SLOTS:
        shares = [min(each, slots - first) for first in range(0, slots, each)]
        running = [process.submit(_busy, share, seconds) for process, share in zip(processes, shares, strict=False)]
        taken = [one for done in running for one in done.result()]
        rate = len(taken) / seconds
        alone = alone or rate
        p95 = sorted(taken)[round(0.95 * (len(taken) - 1))]
        typer.echo(f"{slots:<8}{rate:>10.1f}{rate / alone:>8.2f}{statistics.median(taken):>12.1f}{p95:>10.1f}")
    for process in processes:
        process.shutdown()


@cache
def _job() -> tuple[Exercise, str, Box]:
    """Return the exercise, its right answer and the sandbox of a grading process."""
    torch.set_num_threads(1)
    exercise = read_exercise(ROOT / "exercises" / EXERCISE)
    return exercise, exercise.reference_path.read_text(encoding="utf-8"), choose_box(allow_plain=False)


def _warm_up() -> None:
    exercise, source, box = _job()
    for seed in range(5):
        grade(exercise, source, seed=seed, box=box)
    time.sleep(1.0)  # the zygote folds its memory while nothing else is to be done


def _busy(slots: int, seconds: float) -> list[float]:
    """Keep `slots` threads of this process grading; return the milliseconds of each grade that ended in time."""
    exercise, source, box = _job()
    end = time.perf_counter() + seconds

    def slot(number: int) -> list[float]:
        taken: list[float] = []
        for seed in count(number << 20):
            start = time.perf_counter()
            grade(exercise, f"{source}\n# {seed}\n", seed=seed, box=box)  # nobody sends what another has sent
            if time.perf_counter() > end:
                break
            taken.append((time.perf_counter() - start) * 1000)
        return taken

    with ThreadPoolExecutor(slots) as pool:
        return [one for taken in pool.map(slot, range(slots)) for one in taken]


def _print_memory(box: Box) -> None:
    chosen = list(Catalog.load().values())[::_EVERY]
    peaks = {exercise.id: peak for exercise in chosen if (peak := _peak(exercise, box))}
    if not peaks:
        typer.echo("memory of children: only root may look into them")
        return
    worst = max(peaks, key=lambda name: peaks[name])
    typer.echo(
        f"private memory of a child, peak: median {statistics.median(peaks.values()) / 1024:.1f} MiB over "
        f"{len(peaks)} exercises, most {peaks[worst] / 1024:.1f} MiB ({worst})"
    )


def _peak(exercise: Exercise, box: Box) -> int:
    """Return the most KiB of private memory that any child was seen to have during three grades."""
    seen, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.001):
            seen.extend(_private(pid) for pid in _descendants(os.getpid()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for seed in range(3):
            grade(exercise, exercise.reference_path.read_bytes(), seed=seed, box=box)
    finally:
        done.set()
        watcher.join()
    return max(seen)


def _descendants(pid: int, depth: int = 0) -> Iterator[int]:
    """Yield the children of zygotes: what is three generations below this process."""
    with contextlib.suppress(OSError):  # it ended meanwhile
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield from _descendants(child, depth + 1)
    if depth == _GENERATION:
        yield pid


def _private(pid: int) -> int:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Private_Dirty")).split()[1])
    return 0
