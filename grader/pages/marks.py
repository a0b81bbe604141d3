"""Which lines of the editor a report marks, and what is said there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.judge.report import Report, Verdict
from grader.pages.wording import View, clean

_LINE = re.compile(r"(\bcell \d+, )?\bline (\d+)\b")  # lines of a notebook's cell are none of the file
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
            if not place[1]:
                yield int(place[2]), text
                break
