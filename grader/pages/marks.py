"""Which lines of the editor a report marks, and what is said there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.judge.report import Report, Verdict
from grader.pages.wording import View, clean

_LINE = re.compile(r"line (\d+)\b")
_NOT_OF_THE_FILE = re.compile(r"(\w|\bcell \d+, )\Z")  # before it: another word, or a notebook's cell
_BEFORE = 20  # characters, in which that stands
_MOST = 20


def marks(report: Report) -> list[View]:
    """Return the lines to mark, the most important first: each once, with the message that names it."""
    found: dict[int, str] = {}
    for line, message in _named(report):
        found.setdefault(line, message)
    first = list(found.items())[:_MOST]
    return [{"line": line, "message": clean(text, 600), "severity": "error"} for line, text in first]


def _named(report: Report) -> Iterator[tuple[int, str]]:
    if report.location and report.location.line:
        titles = [one.title for one in report.diagnosis] or [report.location.title]
        yield report.location.line, "\n".join(titles)
    failed = (check.message for check in report.checks if check.status is Verdict.FAILED)
    for text in (report.reason, *failed):
        for place in _LINE.finditer(text):
            if not _NOT_OF_THE_FILE.search(text[max(0, place.start() - _BEFORE) : place.start()]):
                yield int(place[1]), text
                break
