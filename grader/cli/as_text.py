"""A report for people: what failed comes first; colours only on a terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.checks.finding import Verdict
from grader.judge.clues import WHY, Flag
from grader.judge.report import HALVED, CheckResult, DevicePanel, Diagnosis, Points, Property, Report, Status
from grader.judge.text import one_line

BAR = 24  # characters
COLUMNS = 100
ORDER = (Verdict.FAILED, Verdict.BROKEN, Verdict.SKIPPED, Verdict.PASSED)
MARKS = {Verdict.FAILED: "✗", Verdict.BROKEN: "!", Verdict.SKIPPED: "-", Verdict.PASSED: "✓"}
PLACES = ("the first by itself", "the second by itself")  # of two at once: what is said is not of both
STYLES = {Verdict.FAILED: "red", Verdict.BROKEN: "magenta", Verdict.SKIPPED: "yellow", Verdict.PASSED: "green"}


def tell(path: Path, title: str, report: Report) -> None:
    """Write the report on the file at `path` to standard output."""
    console = Console(highlight=False)
    for line in (_head(path, title, report), *body(report), Text()):
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
    yield from _notes(report)


def remarks(report: Report) -> Iterator[Text]:
    """Yield what a report says beside its checks: diagnosis, advice, mapping, and what the code printed."""
    yield from _causes(report)
    yield from _notes(report)


def _causes(report: Report) -> Iterator[Text]:
    for place, likely in enumerate(report.diagnosis):
        yield from _diagnosis(likely, PLACES[place] if len(report.diagnosis) == len(PLACES) else "")
    if report.location is not None and report.diagnosis:
        yield Text(f"{report.location.title}.")
    elif report.location is not None:
        yield from _section(f"Where it begins: {report.location.title}", report.location.message.split("\n\n"))


def _notes(report: Report) -> Iterator[Text]:
    why = [WHY] if report.flag is Flag.READY_MADE else []
    yield from _section(
        "Ready-made steps" if why else "Seen in your code", [*why, *(f"- {c.text}" for c in report.clues)]
    )
    yield from _section("Advice (costs no points)", [f"- {line}" for line in report.advice])
    yield from _panels(report.panels)
    yield from _section("Weights found", [f"{name}: {place}" for name, place in report.mapping.items()])
    yield from _section("Your code printed", report.output.splitlines(), keep=True)


def _head(path: Path, title: str, report: Report) -> Text:
    place = f"  {title}, seed {report.seed}, {report.device}, {report.box}, {report.seconds:.2f} s"
    return Text(one_line(str(path)), "bold") + Text(place, "dim")


def _score(report: Report) -> Iterator[Text]:
    style = "bold green" if report.score == 100 else "bold"
    yield Text(f"{report.score:g} of 100", style)
    for dimension, points in report.dimensions.items():
        yield Text(f"  {dimension:10}") + _bar(points) + Text(f" {points.earned:g} of {points.possible:g}")
    if report.halved:
        yield from (Text(f"  {line}") for line in _wrap(HALVED))


def _bar(points: Points) -> Text:
    full = int(BAR * points.earned / points.possible)  # rounded down: a full bar is full marks
    return Text("█" * full, "green") + Text("░" * (BAR - full), "dim")


def _checks(message: str, checks: Sequence[CheckResult]) -> Iterator[Text]:
    """Yield checks with their points, and below them the message that all of them have."""
    for check in checks:
        points = f"  {check.earned:g} of {check.possible:g}"
        yield _marked(check.status, check.name) + Text(points, "dim")
    each = f"all {len(checks)}: " if message and len(checks) > 1 else ""
    yield from (Text(f"    {line}") for line in _wrap(f"{each}{message}"))


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
        yield from (Text(f"      {line}", "dim") for line in _wrap(one.teaches))
        yield from (Text(f"      {line}") for line in _wrap(one.message))


def _diagnosis(likely: Diagnosis, place: str) -> Iterator[Text]:
    sure = "What happened" if likely.certain else "What may have happened"
    if place:
        sure = f"Two mistakes together{'' if likely.certain else ', perhaps'}: {place}"
    yield Text()
    yield Text(f"{sure}: ", "bold cyan") + Text(likely.title, "bold")
    yield from (Text(f"    {line}") for line in _wrap(likely.message))


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
        yield from (Text(f"      {line}") for line in _wrap(panel.note))
        for reading in panel.readings:
            error = "nothing to compare" if reading.error is None else f"{reading.error:.1e} of {reading.bound:.1e}"
            style = "default" if reading.within else "red"
            yield Text(f"      {reading.name:28} {error}", style) + Text(f"  ({reading.case})", "dim")


def _section(title: str, lines: list[str], keep: bool = False) -> Iterator[Text]:
    if not lines:
        return
    yield Text()
    yield Text(title, "bold")
    for line in lines:
        yield from (Text(f"    {part}") for part in ([line] if keep else _wrap(line)))


def _wrap(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in textwrap.wrap(line, COLUMNS) or [""]]
