"""How long one grade of each exercise takes through the sandbox, for a right answer and for wrong ones.

The right answer is the reference. The wrong ones are among `exercises/*/examples/`: there the report also looks
for a known mistake, and for two, which a right answer is spared.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import torch
import typer

from benchmarks.evenly import evenly
from grader.box.run import Box
from grader.examples import read_examples
from grader.exercise.catalog import Catalog, Exercise
from grader.judge.grade import grade
from grader.sandbox.choice import choose_box

_LONG_SECONDS = 1.0  # a grade that takes longer is timed once
_WRONG = 8  # examples per exercise


def grades(rounds: int = 9) -> None:
    """Print the median milliseconds of a right answer and of wrong ones, exercise by exercise."""
    torch.set_num_threads(1)
    box, medians = choose_box(allow_plain=False), {}
    typer.echo(f"{rounds} rounds of the right answer, up to {_WRONG} wrong ones, {box.name}")
    typer.echo(f"{'exercise':<32}{'right ms':>10}{'wrong ms':>10}{'slowest':>10}")
    for name, exercise in Catalog.load().items():
        right = _right(exercise, box, rounds)
        wrong = [_timed(exercise, box, path, 1) for path in _wrong(exercise)]
        medians[name] = statistics.median(right)
        typer.echo(f"{name:<32}{medians[name]:>10.0f}{statistics.median(wrong):>10.0f}{max(wrong):>10.0f}")
    ordered = sorted(medians.values())
    typer.echo(f"median of all exercises: {statistics.median(ordered):.0f} ms")


def _right(exercise: Exercise, box: Box, rounds: int) -> Sequence[float]:
    source = exercise.reference_path.read_bytes()
    first = [_timed(exercise, box, source, seed) for seed in range(2)]  # these warm everything up
    if min(first) > _LONG_SECONDS * 1000:
        return first
    return [_timed(exercise, box, source, seed) for seed in range(2, rounds + 2)]


def _wrong(exercise: Exercise) -> Sequence[bytes]:
    examples = [example.path.read_bytes() for example in read_examples(exercise.folder) if example.loses is not None]
    return evenly(examples, _WRONG)


def _timed(exercise: Exercise, box: Box, source: bytes, seed: int) -> float:
    """Return the milliseconds of one grade."""
    start = time.perf_counter()
    grade(exercise, source, seed=seed, box=box)
    return (time.perf_counter() - start) * 1000
