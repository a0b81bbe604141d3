"""What the command line says: a report for people, and lines and files whose names others may have prepared.

What failed comes first; colours only on a terminal.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from grader.checks.finding import Verdict
from grader.judge.report import HALVED, WHY, CheckResult, DevicePanel, Flag, Property, Report, Status
from grader.judge.text import one_line
from grader.local import WrongUse

BAR = 24  # characters
COLUMNS = 100
ORDER = (Verdict.FAILED, Verdict.BROKEN, Verdict.SKIPPED, Verdict.PASSED)
MARKS = {Verdict.FAILED: "✗", Verdict.BROKEN: "!", Verdict.SKIPPED: "-", Verdict.PASSED: "✓"}
STYLES = {Verdict.FAILED: "red", Verdict.BROKEN: "magenta", Verdict.SKIPPED: "yellow", Verdict.PASSED: "green"}


def echo(text: str, *, err: bool = False) -> None:
    """Write a line; a control in it, which would be obeyed by a terminal or forge another line, is written out."""
    typer.echo(one_line(text), err=err)


def write_anew(path: Path, content: bytes) -> bool:
    """Make `path` a new file, and return whether there was one; a link goes, and what it leads to stays as it is.

    Raises:
        OSError: it cannot be written; what was there is there still.
    """
    draft = path.parent / f".{secrets.token_hex(8)}.draft"
    try:
        with draft.open("xb") as file:  # x: nothing that is there already is opened, be it a link
            file.write(content)
        was_there = os.path.lexists(path)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise
    return was_there


def said_of(path: Path, was_there: bool) -> str:
    """Return what is said of a file that was written."""
    return f"wrote {one_line(str(path))}{', in place of the one that was there' if was_there else ''}"


# ---- a report


def tell(path: Path, title: str, report: Report) -> None:
    """Write the report on the file at `path` to standard output."""
    place = f"  {title}, seed {report.seed}, {report.device}, {report.box}, {report.seconds:.2f} s"
    head = Text(one_line(str(path)), "bold") + Text(place, "dim")
    console = Console(highlight=False)
    for line in (head, *body(report), Text()):
        # Text, never markup: a report quotes the student's code.
        console.print(line, soft_wrap=True)


def body(report: Report) -> Iterator[Text]:
    """Yield the lines of a report, from its score to what the code printed."""
    if report.reason:
        yield Text(f"{report.status}: ", "bold red") + Text(report.reason, "default")
    if report.status not in (Status.REJECTED, Status.UNGRADABLE):
        yield from _score(report)
    if report.diagnosis or report.location:  # first: it is what a student needs, and the checks fill a screen
        yield from _causes(report)
        yield Text()
    ordered = sorted(report.checks, key=lambda check: ORDER.index(check.status))
    lost = [check for check in ordered if check.status is not Verdict.PASSED]
    for message, alike in groupby(lost, key=lambda check: check.message):
        yield from _checks(message, list(alike))
    for dimension, many in Counter(check.dimension for check in ordered[len(lost) :]).items():
        yield _marked(Verdict.PASSED, f"{dimension}: {many} passed")
    yield from _properties(report.properties)
    why, title = ([WHY], "Ready-made steps") if report.flag is Flag.READY_MADE else ([], "Seen in your code")
    yield from _section(title, [*why, *(f"- {clue.text}" for clue in report.clues)])
    yield from _section("Advice (costs no points)", [f"- {line}" for line in report.advice])
    yield from _panels(report.panels)
    yield from _section("Weights found", [f"{name}: {place}" for name, place in report.mapping.items()])
    yield from _section("Your code printed", report.output.splitlines(), keep=True)


def _score(report: Report) -> Iterator[Text]:
    yield Text(f"{report.score:g} of 100", "bold green" if report.score == 100 else "bold")
    for dimension, points in report.dimensions.items():
        full = int(BAR * points.earned / points.possible)  # rounded down: a full bar is full marks
        bar = Text("█" * full, "green") + Text("░" * (BAR - full), "dim")
        yield Text(f"  {dimension:10}") + bar + Text(f" {points.earned:g} of {points.possible:g}")
    if report.halved:
        yield from _indented(HALVED, 2)


def _causes(report: Report) -> Iterator[Text]:
    together = len(report.diagnosis) == 2  # what is said of two at once is not of both
    for place, likely in zip(("the first by itself", "the second by itself"), report.diagnosis, strict=False):
        sure = "What happened" if likely.certain else "What may have happened"
        if together:
            sure = f"Two mistakes together{'' if likely.certain else ', perhaps'}: {place}"
        yield Text()
        yield Text(f"{sure}: ", "bold cyan") + Text(likely.title, "bold")
        yield from _indented(likely.message)
    if report.location is not None and report.diagnosis:
        yield Text(f"{report.location.title}.")
    elif report.location is not None:
        yield from _section(f"Where it begins: {report.location.title}", report.location.message.split("\n\n"))


def _checks(message: str, checks: Sequence[CheckResult]) -> Iterator[Text]:
    """Yield checks with their points, and below them the message that all of them have."""
    for check in checks:
        yield _marked(check.status, check.name) + Text(f"  {check.earned:g} of {check.possible:g}", "dim")
    each = f"all {len(checks)}: " if message and len(checks) > 1 else ""
    yield from _indented(f"{each}{message}")


def _marked(verdict: Verdict, what: str) -> Text:
    return Text(f"{MARKS[verdict]} ", STYLES[verdict]) + Text(what, "default")


def _properties(properties: Sequence[Property]) -> Iterator[Text]:
    if not properties:
        return
    yield Text()
    yield Text("What your attention does in the cases that look at it", "bold")
    for one in properties:
        verdict = {True: Verdict.PASSED, False: Verdict.FAILED, None: Verdict.SKIPPED}[one.holds]
        yield Text("    ") + _marked(verdict, one.title)
        yield from _indented(one.teaches, 6, "dim")
        yield from _indented(one.message, 6)


def _panels(panels: Sequence[DevicePanel]) -> Iterator[Text]:
    """Yield a table for each device: how far each output and gradient strays, and what it may."""
    if not panels:
        return
    yield Text()
    yield Text("Other devices (cost no points)", "bold")
    for panel in panels:
        mark = Verdict.PASSED if panel.within else Verdict.FAILED
        head = f"{panel.device}, {panel.dtype}"
        yield Text(f"    {MARKS[mark]} ", STYLES[mark]) + Text(head, "default") + Text(f"  {panel.box}", "dim")
        yield from _indented(panel.note, 6)
        for reading in panel.readings:
            error = "nothing to compare" if reading.error is None else f"{reading.error:.1e} of {reading.bound:.1e}"
            style = "default" if reading.within else "red"
            yield Text(f"      {reading.name:28} {error}", style) + Text(f"  ({reading.case})", "dim")


def _section(title: str, lines: Sequence[str], keep: bool = False) -> Iterator[Text]:
    if not lines:
        return
    yield Text()
    yield Text(title, "bold")
    for line in lines:
        yield from [Text(f"    {line}")] if keep else _indented(line)


def _indented(text: str, by: int = 4, style: str = "") -> Iterator[Text]:
    return (Text(f"{' ' * by}{line}", style) for line in _wrap(text))


def _wrap(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in textwrap.wrap(line, COLUMNS) or [""]]


def write_json(answer: Mapping[str, Any]) -> None:
    """Write an object in a line of its own, whatever its length."""
    sys.stdout.write(f"{json.dumps(answer)}\n")


def content_of(file: str, most: int) -> bytes:
    """Return what a file or standard input holds, of a larger one so much that its reader sees it is too large."""
    if file == "-":
        return sys.stdin.buffer.read(most + 1)
    try:
        if not stat.S_ISREG(Path(file).stat().st_mode):  # a folder; or a pipe, which nobody may ever fill
            raise WrongUse(f"{file!r} is no ordinary file")
        with Path(file).open("rb") as opened:
            return opened.read(most + 1)
    except FileNotFoundError:
        raise WrongUse(f"there is no file {file!r}") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a zero in it
        raise WrongUse(f"{file!r} cannot be read: {getattr(error, 'strerror', None) or error}") from error
