"""`attention-gym grade`: grade files on one's own machine, and say it to people or, as JSON, to programs."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TextIO

import typer

from grader import local
from grader.box.run import Box
from grader.cli import text
from grader.cli.text import said_of
from grader.errors import GraderFault, SandboxUnavailable
from grader.exercise.spec import Device
from grader.judge.report import Report
from grader.judge.text import one_line
from grader.local import LocalGrader, WrongUse

MISUSED = 2
BANNER = """\
-----------------------------------------------------------------------------
 No sandbox here: your file runs as an ordinary program, and can do
 what you can do. Grade only files that you would run yourself.
 `attention-gym doctor` says what is missing.
-----------------------------------------------------------------------------
"""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("grade")(grade_files)


def grade_files(
    exercise: Annotated[str, typer.Argument(help="The exercise's id, such as causal_attention.")],
    files: Annotated[list[Path], typer.Argument(help="One or more .py files with your answer.")],
    seed: Annotated[
        int | None, typer.Option(help="What the tensors are drawn from; a new one if it is left out.")
    ] = None,
    device: Annotated[Device, typer.Option(help="Where your code runs too, beside the verdict on the CPU.")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object per file and line.")] = False,
    plots: Annotated[Path | None, typer.Option(help="Write the pictures of each report into this folder.")] = None,
) -> None:
    """Grade files, each by itself, all on the same tensors.

    Exits with 0 whatever the scores are, with 2 if a file could not be graded.
    """
    found = local.find_exercise(exercise)
    drawn = local.some_seed(seed)
    local.check_device(device, found)
    sources, graded = dict(_readable(files)), 0
    if not sources:
        raise typer.Exit(MISUSED)
    tell = tell_as_json if as_json else text.tell
    with LocalGrader(device) as own:
        # Here and not above: the judge brings torch, and the box imports it at the same time.
        from grader.judge.grade import grade

        local.use_one_thread()
        said = sys.stderr if as_json else sys.stdout  # JSON has standard output for itself
        pictures = Pictures(plots, tuple(sources), said)
        warn_without_walls(own.box, *(place.box for place in own.places))
        for path, source in sources.items():
            try:
                report = grade(found, source, seed=drawn, box=own.box, places=own.places)
                tell(path, found.title, report)
                pictures.draw(report, path)
                graded += 1
            except SandboxUnavailable:  # for none of the files, and none of ours is to blame
                raise
            except GraderFault as fault:
                _complain(f"{str(path)!r} could not be graded; this is our fault and not the file's: {fault}")
            except WrongUse as refusal:
                _complain(str(refusal))
    if graded < len(files):
        raise typer.Exit(MISUSED)


def _readable(files: Sequence[Path]) -> Iterator[tuple[Path, bytes]]:
    """Yield each file with what it holds; of one that cannot be graded say why, so that the others still are."""
    seen: dict[tuple[int, int], Path] = {}
    for path in files:
        try:
            source, lies = local.read_file(path), path.stat()
            if path.is_symlink():
                raise WrongUse(
                    f"{str(path)!r} is a link to {os.readlink(path)!r}; name that file, if it is to be graded"
                )
            first = seen.setdefault((lies.st_dev, lies.st_ino), path)
            if first is not path:
                raise WrongUse(f"{str(path)!r} is the same file as {str(first)!r}, and is graded as that")
        except (OSError, WrongUse) as refusal:
            _complain(str(refusal))
        else:
            yield path, source


def _complain(why: str) -> None:
    """Say on standard error, in one line, why a file has no report; the others still get theirs."""
    sys.stderr.write(f"{one_line(why)}\n")


class Pictures:
    """Writes the pictures of the reports of one call, each into a file of its own, and says which."""

    def __init__(self, folder: Path | None, files: Sequence[Path], said: TextIO) -> None:
        """Write into the folder, if there is one."""
        self._folder, self._said = folder, said
        self._names = dict(zip(files, _told_apart(files), strict=True))
        self._written: set[Path] = set()

    def draw(self, report: Report, file: Path) -> None:
        """Write those of the report on a file.

        Raises:
            WrongUse: the folder cannot be written to.
        """
        if self._folder is None:
            return
        from grader.cli.plots import save  # here: it brings the judge, and so torch

        try:
            written = save(report.figures, self._folder, self._names[file], self._written)
        except OSError as error:
            raise WrongUse(f"no pictures can be written to {str(self._folder)!r}: {error.strerror}") from error
        if not written:
            self._said.write("no pictures: too little of your code ran for one\n")
        for picture, was_there in written.items():
            self._said.write(f"{said_of(picture, was_there)}\n")
        self._written.update(written)


def _told_apart(files: Sequence[Path]) -> list[str]:
    """Return a name for each file: its own without the ending, or with its folders if another file has the same."""
    whole = [Path(os.path.abspath(file)) for file in files]
    above = os.path.commonpath([file.parent for file in whole])
    own = Counter(file.stem for file in whole)
    return [
        file.stem if own[file.stem] == 1 else "-".join(file.relative_to(above).with_suffix("").parts) for file in whole
    ]


def warn_without_walls(*boxes: Box) -> None:
    """Write a banner to standard error if the code about to run can do what its owner can do in any of the boxes."""
    if not all(local.has_walls(box) for box in boxes):
        sys.stderr.write(BANNER)


def tell_as_json(path: Path, title: str, report: Report) -> None:
    """Write the report on the file at `path` to standard output, as one JSON object on one line."""
    sys.stdout.write(to_line(path, report) + "\n")
    sys.stdout.flush()


def to_line(path: Path, report: Report) -> str:
    """Return the report as one line of plain ASCII, which no terminal and no line splitter can spoil.

    Its keys stay as they are. The stages of a location are a picture, as heat maps are, and left out.
    """
    place = report.location
    said = {
        "file": str(path),
        "exercise": report.exercise,
        "status": report.status,
        "score": report.score,
        "reason": report.reason,
        "dimensions": {dimension: asdict(points) for dimension, points in report.dimensions.items()},
        "checks": [asdict(check) for check in report.checks],
        "diagnosis": [
            {"mistake": one.mistake, "message": f"{one.title}\n\n{one.message}".strip(), "certain": one.certain}
            for one in report.diagnosis
        ],
        "location": place and {key: getattr(place, key) for key in ("step", "title", "message", "line")},
        "advice": report.advice,
        "clues": [asdict(clue) for clue in report.clues],
        "panels": [{**asdict(panel), "within": panel.within} for panel in report.panels],
        "mapping": dict(report.mapping),
        "output": report.output,
        "seed": report.seed,
        "device": report.device,
        "dtype": report.dtype,
        "box": report.box,
        "seconds": report.seconds,
    }
    return json.dumps(said, allow_nan=False)
