"""Plays a file of events: a term with its own clock, through the same calls as the pages."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from grader.errors import GraderFault
from grader.service.classes.answers import Classes
from grader.service.classes.events import wrong_fields
from grader.service.classes.requests import ClassRefusal, SourceGrading
from grader.store import submissions
from grader.store.engine import Database
from grader.store.records import SubmissionId

LONGEST_SECONDS = 900.0  # that a source may wait and be graded
LOOK_SECONDS = 0.01
FIRST_TIME, LAST_TIME = datetime(1970, 1, 1, tzinfo=UTC), datetime(2999, 12, 31, tzinfo=UTC)


class BadEvents(ValueError):
    """A file cannot be played; the text names the line and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """A line of a file: what is asked, by whom, and when, in seconds since the epoch."""

    at: float
    by: str
    do: str
    fields: Mapping[str, Any]


def read_events(content: bytes, folder: Path = Path()) -> list[TimedEvent]:
    """Read a whole file of events, an object a line; empty lines are passed over. Its `source_file`s are in `folder`.

    Raises:
        BadEvents: a line is no JSON object, has an unknown `do` or wrong fields, or goes back in time.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        raise BadEvents(f"line {line}: no UTF-8") from None
    events: list[TimedEvent] = []
    for number, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            event = _with_source(_read(row), folder)
            if events and event.at < events[-1].at:
                raise BadEvents("its time is earlier than that of the line before")
        except BadEvents as wrong:
            raise BadEvents(f"line {number}: {wrong}") from None
        events.append(event)
    return events


class TermClock:
    """The clock of a term: it stands at the time of the present event."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time, in seconds since the epoch."""
        return self.now


def play(
    database: Database, events: list[TimedEvent], clock: TermClock | None = None, grading: SourceGrading | None = None
) -> Iterator[Mapping[str, Any]]:
    """Do one event after the other, each at its own time, and yield what each answers.

    What is to be graded is so before the next event, by `grading`, whose queue has the same clock: a source that is
    handed in, and a regrade, whose answer then says what it would change. That is what is applied later.
    """
    clock = clock or TermClock()
    asked, before = Classes(database, clock=clock, grading=grading), database.clock
    database.clock = clock
    seen: dict[str, str] = {}  # what the regrades of sources would change, by the regrade
    try:
        for number, event in enumerate(events, start=1):
            clock.now = event.at
            named = f"{event.fields.get('class')} {event.fields.get('change')}"
            if event.do == "apply" and named in seen:
                event = replace(event, fields={"seen": seen[named], **event.fields})
            answer = _answer(asked, event)
            if answer["ok"] and event.fields.get("source") is not None:
                _await_grading(database, SubmissionId(event.fields["id"]))
            if answer["ok"] and event.do == "regrade" and "waiting" in answer:
                answer = _await_change(asked, event)
                seen[named] = answer["seen"]
            yield {"n": number, "do": event.do, **answer}
    finally:
        database.clock = before


def _await_grading(database: Database, id: SubmissionId) -> None:
    end = time.monotonic() + LONGEST_SECONDS
    while True:
        with database.read() as session:
            found = submissions.outcome(session, id)
        if found.state.final and (found.report is None or found.report.complete):
            return
        if time.monotonic() > end:
            raise GraderFault(f"submission {id} was not graded within {LONGEST_SECONDS:.0f} s")
        time.sleep(LOOK_SECONDS)


def _await_change(asked: Classes, event: TimedEvent) -> Mapping[str, Any]:
    """Return what a regrade would change, once all of it is graded."""
    end = time.monotonic() + LONGEST_SECONDS
    look = replace(event, do="change", fields={name: event.fields[name] for name in ("class", "change")})
    while (answer := _answer(asked, look)).get("waiting"):
        if time.monotonic() > end:
            raise GraderFault(f"{answer['waiting']} gradings of a regrade did not end within {LONGEST_SECONDS:.0f} s")
        time.sleep(LOOK_SECONDS)
    return answer


def _answer(asked: Classes, event: TimedEvent) -> Mapping[str, Any]:
    try:
        return {"ok": True, **asked.do(event.by, event.do, event.fields)}
    except ClassRefusal as refusal:
        return {"ok": False, "code": refusal.code, **refusal.more, "why": str(refusal)}


def _read(line: str) -> TimedEvent:
    try:
        found = json.loads(line, parse_float=Decimal, parse_int=_whole, parse_constant=_no_number)
    except (ValueError, RecursionError) as wrong:
        raise BadEvents(f"no JSON ({wrong})") from None
    if not isinstance(found, dict):
        raise BadEvents("an object is expected")
    for name in ("at", "do", "by"):
        if not isinstance(found.get(name), str):
            raise BadEvents(f"the field `{name}` is missing, or no text")
    fields = {name: value for name, value in found.items() if name not in ("at", "do", "by")}
    if wrong_field := wrong_fields(found["do"], fields):
        raise BadEvents(wrong_field)
    return TimedEvent(read_time(found["at"]), found["by"], found["do"], fields)


def _with_source(event: TimedEvent, folder: Path) -> TimedEvent:
    """Return an event with the text of its source file, if it names one."""
    named = event.fields.get("source_file")
    if not isinstance(named, str):
        return event
    try:
        source = (folder / named).read_text(encoding="utf-8", errors="surrogateescape")
    except (OSError, ValueError) as wrong:
        raise BadEvents(f"`source_file` {named[:80]!r} cannot be read: {wrong}") from None
    fields = {name: value for name, value in event.fields.items() if name != "source_file"}
    return replace(event, fields={**fields, "source": source})


def read_time(text: str) -> float:
    """Return a time with its offset in seconds since the epoch; BadEvents for any other text."""
    try:
        at = datetime.fromisoformat(text.upper())  # RFC 3339 takes `z` for `Z`
    except ValueError:
        raise BadEvents(f"`at` is {text[:40]!r}; expected: a time such as 2026-09-25T23:59:00-04:00") from None
    if at.tzinfo is None:
        raise BadEvents(f"`at` is {text[:40]!r}, a time without offset; expected: 2026-09-25T23:59:00-04:00")
    if not FIRST_TIME <= at <= LAST_TIME:
        raise BadEvents(f"`at` is {text[:40]!r}; a time from 1970 to 2999 is expected")
    return at.timestamp()


def _whole(text: str) -> int | Decimal:
    # More digits than Python turns into an int at once are no number of any field.
    return int(text) if len(text) < 1000 else Decimal(text)


def _no_number(text: str) -> None:
    raise BadEvents(f"no JSON ({text} is no number)")
