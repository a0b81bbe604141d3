"""Every example's whole report, written into files, or compared with the files of another commit.

    git worktree add ../before COMMIT && cd ../before && python -m benchmarks verdicts --write /tmp/before
    python -m benchmarks verdicts --against /tmp/before

Two reports are equal if points, messages, causes, lines, advice and pictures are; what a clock or the memory of the
process has measured is left out. Searches get a hundred times the seconds that they get in a service, so that a busy
machine finds what a quiet one does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from benchmarks.evenly import evenly
from grader.errors import GraderFault
from grader.examples import read_examples
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.explain.budget import USUAL
from grader.judge.grade import decide
from grader.local import exercise_ids
from grader.sandbox.runner import Sandbox

_SEED = 1
_OF_THIS_RUN = frozenset({"seconds", "box"})  # keys that say how it was graded, at any depth
_MEASURED = re.compile(r"[\d.]+ (?:s|MiB)\b")  # in the notes of pictures
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
    if against is not None and (missing := [name for name in ids if not _file(against, name).is_file()]):
        raise typer.BadParameter(f"{against} has no reports on {', '.join(missing)}; write them with `--write` first")
    equal, different = 0, []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for name, now in zip(ids, pool.map(partial(_reports, each=each), ids), strict=True):
            if write is not None:
                write.mkdir(parents=True, exist_ok=True)
                _file(write, name).write_text(json.dumps(now, sort_keys=True, indent=0), encoding="utf-8")
            if against is not None:
                before = json.loads(_file(against, name).read_text(encoding="utf-8"))
                paths = now if each else {**before, **now}  # an example that is gone differs as well
                differing = {path: list(_differences(before.get(path), now.get(path))) for path in paths}
                different += [(path, where) for path, where in differing.items() if where]
                equal += sum(not where for where in differing.values())
            typer.echo(f"{name:<32}{len(now):>6}")
    for path, where in different[:_MOST_SHOWN]:
        typer.echo(f"{path}: {'; '.join(where[:3])}")
    if against is not None:
        typer.echo(f"{equal} reports are equal, {len(different)} differ")
        raise typer.Exit(bool(different))


def _file(folder: Path, exercise: str) -> Path:
    return folder / f"{exercise}.json"


def _reports(name: str, each: int) -> Reports:
    """Return the reports on an exercise's examples, as JSON has them."""
    torch.set_num_threads(1)
    exercise = read_exercise(ROOT / "exercises" / name, ROOT)
    examples = read_examples(exercise.folder)
    reports: Reports = {}
    with Sandbox() as box:  # each has a process of its own, with torch loaded
        for example in evenly(examples, each or len(examples)):
            path = str(example.path.relative_to(ROOT))
            try:
                report, complete = decide(exercise, example.path.read_bytes(), seed=_SEED, box=box, budget=_PATIENT)
                reports[path] = json.loads(json.dumps(asdict(complete() if complete else report)))
            except GraderFault as fault:
                reports[path] = {"fault": str(fault)}
    return reports


def _differences(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield where two reports differ, with both values."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now} - _OF_THIS_RUN):
            yield from _differences(before.get(key), now.get(key), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for index, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _differences(one, other, f"{path}[{index}]")
    elif _comparable(before, path) != _comparable(now, path):
        yield f"{path}: {str(before)[:160]!r} before, {str(now)[:160]!r} now"


def _comparable(value: Any, path: str) -> Any:
    """Return a value of a report as what it is compared by: NaN is equal to NaN, and a measured note to any other."""
    is_measured = isinstance(value, str) and path.endswith(".note") and _MEASURED.search(value)
    return "measured" if is_measured else repr(value)
