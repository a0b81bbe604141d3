"""Plays a file of events: a term with its own clock, through the same calls as the pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from grader.service.classes.answers import Classes
from grader.service.classes.events import wrong_fields
from grader.service.classes.requests import ClassRefusal
from grader.store.engine import Database


class BadEvents(ValueError):
    """A file cannot be played; the text names the line and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """A line of a file: what is asked, by whom, and when, in seconds since the epoch."""

    at: float
    by: str
    do: str
    fields: Mapping[str, Any]


def read_events(content: bytes) -> list[TimedEvent]:
    """Read a whole file of events, an object a line; empty lines are passed over.

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
            event = _read(row)
            if events and event.at < events[-1].at:
                raise BadEvents("its time is earlier than that of the line before")
        except BadEvents as wrong:
            raise BadEvents(f"line {number}: {wrong}") from None
        events.append(event)
    return events


def play(database: Database, events: list[TimedEvent]) -> Iterator[Mapping[str, Any]]:
    """Do one event after the other, each at its own time, and yield what each answers."""
    now = 0.0

    def clock() -> float:
        return now

    asked, before = Classes(database, clock=clock), database.clock
    database.clock = clock
    try:
        for number, event in enumerate(events, start=1):
            now = event.at
            yield {"n": number, "do": event.do, **_answer(asked, event)}
    finally:
        database.clock = before


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
    return TimedEvent(_time(found["at"]), found["by"], found["do"], fields)


def _time(text: str) -> float:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise BadEvents(f"`at` is {text[:40]!r}; expected: a time such as 2026-09-25T23:59:00-04:00") from None
    if at.tzinfo is None:
        raise BadEvents(f"`at` is {text[:40]!r}, a time without offset; expected: 2026-09-25T23:59:00-04:00")
    return at.timestamp()


def _whole(text: str) -> int | Decimal:
    # More digits than Python turns into an int at once are no number of any field.
    return int(text) if len(text) < 1000 else Decimal(text)


def _no_number(text: str) -> None:
    raise BadEvents(f"no JSON ({text} is no number)")
