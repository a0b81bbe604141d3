"""Every example's report as a program gets it, written down, or held against what another commit wrote down.

    git worktree add ../before COMMIT && cd ../before && python -m benchmarks verdicts --write /tmp/before
    python -m benchmarks verdicts --against /tmp/before

Two reports are equal if nothing differs but how long they took: points, messages, causes, lines, advice, pictures.
Searches get a hundred times the seconds that they get in a service, so that a busy machine finds what a quiet one does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from grader.errors import GraderFault
from grader.examples import read_examples
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.explain.budget import USUAL
from grader.judge.grade import decide
from grader.local import exercise_ids
from grader.sandbox.choice import choose_box

_SEED = 1
_OF_THIS_RUN = frozenset({"seconds", "box"})  # keys that say how it was graded, at any depth
_MOST_SHOWN = 20
_PATIENT = replace(USUAL, rerun_seconds=100 * USUAL.rerun_seconds)

Reports = dict[str, Any]  # by the example's path


def verdicts(
    exercises: Annotated[list[str] | None, typer.Argument(help="ids; all if left out")] = None,
    write: Annotated[Path | None, typer.Option(help="write the reports into this folder")] = None,
    against: Annotated[Path | None, typer.Option(help="compare with the reports in this folder")] = None,
    each: Annotated[int, typer.Option(help="examples of each exercise, evenly chosen; 0: all")] = 0,
    workers: Annotated[int, typer.Option(help="processes")] = 2,
) -> None:
    """Grade the examples, and print how many reports differ from those of another commit."""
    ids = exercises or list(exercise_ids())
    equal, different = 0, []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for name, found in zip(ids, pool.map(partial(_reports, each=each), ids), strict=True):
            if write is not None:
                write.mkdir(parents=True, exist_ok=True)
                (write / f"{name}.json").write_text(json.dumps(found, sort_keys=True, indent=0), encoding="utf-8")
            if against is not None:
                before = json.loads((against / f"{name}.json").read_text(encoding="utf-8"))
                differing = [(path, list(_differences(before.get(path), one))) for path, one in found.items()]
                different += [(path, where) for path, where in differing if where]
                equal += sum(not where for _, where in differing)
            typer.echo(f"{name:<32}{len(found):>6}")
    for path, where in different[:_MOST_SHOWN]:
        typer.echo(f"{path}: {'; '.join(where[:3])}")
    if against is not None:
        typer.echo(f"{equal} reports are equal, {len(different)} differ")
        raise typer.Exit(bool(different))


def _reports(name: str, each: int) -> Reports:
    """Return the reports on an exercise's examples, as JSON has them."""
    torch.set_num_threads(1)
    exercise = read_exercise(ROOT / "exercises" / name, ROOT)
    box = choose_box(allow_plain=False)
    reports: Reports = {}
    for example in _chosen(read_examples(exercise.folder), each):
        path = str(example.path.relative_to(ROOT))
        try:
            report, complete = decide(exercise, example.path.read_bytes(), seed=_SEED, box=box, budget=_PATIENT)
            reports[path] = _plain(asdict(complete() if complete else report))
        except GraderFault as fault:
            reports[path] = {"fault": str(fault)}
    return reports


def _chosen(examples: Sequence[Any], each: int) -> Sequence[Any]:
    return examples[:: max(1, len(examples) // each)][:each] if each else examples


def _plain(value: Any) -> Any:
    """Return a report without what belongs to one run, in the types of JSON."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items() if key not in _OF_THIS_RUN}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _differences(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield where two reports differ, with both values."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            yield from _differences(before.get(key), now.get(key), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for index, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _differences(one, other, f"{path}[{index}]")
    elif before != now and not (before != before and now != now):
        yield f"{path}: {str(before)[:160]!r} before, {str(now)[:160]!r} now"
