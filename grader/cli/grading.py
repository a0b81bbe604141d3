"""`python -m grader grade`: grade files on one's own machine."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from grader import local
from grader.box.run import Box
from grader.cli import as_json, as_text
from grader.exercise.spec import Device
from grader.judge.text import clean
from grader.local import LocalGrader, WrongUse

if TYPE_CHECKING:
    from grader.judge.report import Report

BANNER = """\
-----------------------------------------------------------------------------
 No sandbox here: your file runs as an ordinary program, and can do
 what you can do. Grade only files that you would run yourself.
 `python -m grader doctor` says what is missing.
-----------------------------------------------------------------------------
"""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("grade")(grade_files)


def grade_files(
    exercise: Annotated[str, typer.Argument(help="The exercise's id, such as causal_attention.")],
    files: Annotated[list[Path], typer.Argument(help="One or more .py files with your answer.")],
    seed: Annotated[int, typer.Option(help="What the tensors are drawn from, 0 or more.")] = local.SEED,
    device: Annotated[Device, typer.Option(help="Where your code runs too, beside the verdict on the CPU.")] = "cpu",
    json: Annotated[bool, typer.Option("--json", help="Write one JSON object per file and line.")] = False,
    plots: Annotated[Path | None, typer.Option(help="Write the pictures of each report into this folder.")] = None,
) -> None:
    """Grade files, each by itself; exits with 0 whatever the scores are."""
    found = local.find_exercise(exercise)
    local.check_seed(seed)
    local.check_device(device, found)
    sources = [(path, local.read_file(path)) for path in files]
    tell = as_json.tell if json else as_text.tell
    with LocalGrader(device) as own:
        # Here and not above: the judge brings torch, and the box imports it at the same time.
        from grader.judge.grade import grade, prepare

        local.use_one_thread()
        prepared = iter([prepare(found, seed)])  # for the first file, while the box still warms up
        warn_without_walls(own.box, *(place.box for place in own.places))
        for path, source in sources:
            take = partial(next, prepared, None)
            report = grade(found, source, seed=seed, box=own.box, places=own.places, take=take)
            tell(path, found.title, report)
            if plots is not None:
                # JSON has standard output for itself.
                _draw(report, plots, path, sys.stderr if json else sys.stdout)


def _draw(report: Report, folder: Path, path: Path, said: TextIO) -> None:
    """Write the pictures of a report, and say which.

    Raises:
        WrongUse: the folder cannot be written to.
    """
    from grader.cli.plots import save  # here: it brings the judge, and so torch

    try:
        written = save(report.figures, folder, path.stem)
    except OSError as error:
        raise WrongUse(f"no pictures can be written to {str(folder)!r}: {error.strerror}") from error
    if not written:
        said.write("no pictures: too little of your code ran for one\n")
    for picture in written:
        said.write(f"wrote {clean(str(picture))}\n")


def warn_without_walls(*boxes: Box) -> None:
    """Write a banner to standard error if the code about to run can do what its owner can do in any of the boxes."""
    if not all(local.has_walls(box) for box in boxes):
        sys.stderr.write(BANNER)
