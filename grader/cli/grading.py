"""`python -m grader grade`: grade files at one's own desk."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from grader import desk
from grader.box.run import Box
from grader.cli import as_json, as_text
from grader.desk import Desk, Device

BANNER = """\
-----------------------------------------------------------------------------
 No sandbox on this machine: your file runs as an ordinary program, and can do
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
    seed: Annotated[int, typer.Option(help="What the tensors are drawn from, 0 or more.")] = desk.SEED,
    device: Annotated[Device, typer.Option(help="Where your code runs.")] = "cpu",
    json: Annotated[bool, typer.Option("--json", help="Write one JSON object per file and line.")] = False,
) -> None:
    """Grade files, each by itself; exits with 0 whatever the scores are."""
    found = desk.find_exercise(exercise)
    desk.check_seed(seed)
    desk.check_device(device)
    sources = [(path, desk.read_file(path)) for path in files]
    tell = as_json.tell if json else as_text.tell
    with Desk(device) as own:
        # Here and not above: the judge brings torch, and the box imports it at the same time.
        from grader.judge.grade import grade

        warn_without_walls(own.box)
        for path, source in sources:
            tell(path, found.title, grade(found, source, seed=seed, box=own.box, device=device))


def warn_without_walls(box: Box) -> None:
    """Write a banner to standard error if the code about to run can do what its owner can do."""
    if not desk.has_walls(box):
        sys.stderr.write(BANNER)
