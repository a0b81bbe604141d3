"""Two classes with people in every role, some work and a regrade, and a way to ask them at any time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from grader.service.classes.answers import Classes
from grader.service.classes.replay import TermClock, TimedEvent, play
from grader.service.classes.requests import ClassRefusal
from grader.store.engine import Database
from grader.store.tables import AuditRow, Base

ROSTER = "email,name,section\nada@x.edu,Ada,A1\nben@x.edu,Ben,A1\ncleo@x.edu,Cleo,A2\ngone@x.edu,Gone,A1\n"
LATE = {"per_day": "0.10", "at_most": "1", "of": "earned", "bank_max": 2, "cutoff": 3}
OPENED = "2026-09-20T12:00"  # A-1 may be handed in then, in UTC as all times here
ASSIGNMENT: Mapping[str, Any] = {
    "items": {"softmax": "4.5", "sdpa": "5.5"}, "opens": "2026-09-14T00:00", "due": "2026-09-25T23:59",
    "section_due": {}, "grace": 0, "late": LATE, "count": "best", "attempts": None, "show": "at_once",
}  # fmt: skip
SETTING_UP: tuple[tuple[str, str, str, Mapping[str, Any]], ...] = (
    ("2026-09-01T08:00", "admin", "class", {
        "class": "A", "name": "Class A", "zone": "America/New_York", "bank": 4, "sections": ["A1", "A2"]}),
    ("2026-09-01T08:00", "admin", "class", {
        "class": "B", "name": "Class B", "zone": "Europe/Berlin", "bank": 1, "sections": []}),
    ("2026-09-01T08:00", "admin", "staff", {"class": "A", "person": "iris@x.edu", "name": "Iris",
                                            "role": "instructor"}),
    ("2026-09-01T08:00", "admin", "staff", {"class": "B", "person": "bo@x.edu", "name": "Bo", "role": "instructor"}),
    ("2026-09-01T09:00", "iris@x.edu", "import", {"class": "A", "csv": ROSTER}),
    ("2026-09-01T09:00", "bo@x.edu", "import", {
        "class": "B", "csv": "email,name\nbea@x.edu,Bea\nnobody@x.edu,Nobody\n"}),
    ("2026-09-01T10:00", "iris@x.edu", "staff", {
        "class": "A", "person": "one@x.edu", "name": "One", "role": "assistant", "sections": ["A1"]}),
    ("2026-09-01T10:00", "iris@x.edu", "staff", {
        "class": "A", "person": "two@x.edu", "name": "Two", "role": "assistant", "sections": ["A2"]}),
    ("2026-09-02T10:00", "iris@x.edu", "member", {"class": "A", "person": "gone@x.edu", "act": "leave"}),
    ("2026-09-02T10:00", "bo@x.edu", "member", {"class": "B", "person": "nobody@x.edu", "act": "leave"}),
    ("2026-09-03T10:00", "iris@x.edu", "assign", {"class": "A", "assignment": "A-1", **ASSIGNMENT}),
    ("2026-09-03T10:00", "iris@x.edu", "assign", {"class": "A", "assignment": "A-2", **ASSIGNMENT, "attempts": 1,
                                                  "items": {"causal": "20"}, "due": "2026-10-09T23:59"}),
    ("2026-09-03T10:00", "bo@x.edu", "assign", {"class": "B", "assignment": "B-1", **ASSIGNMENT}),
    ("2026-09-18T10:00", "ada@x.edu", "hand_in", {"class": "A", "person": "ada@x.edu", "assignment": "A-1",
                                                  "exercise": "softmax", "id": "h1", "scores": {"1": 80, "2": 90}}),
    ("2026-09-18T11:00", "ada@x.edu", "hand_in", {"class": "A", "person": "ada@x.edu", "assignment": "A-2",
                                                  "exercise": "causal", "id": "h2", "score": "70"}),
    ("2026-09-18T12:00", "iris@x.edu", "override", {"class": "A", "person": "ben@x.edu", "assignment": "A-1",
                                                    "points": "7.25", "reason": "asked", "revision": 0}),
    ("2026-09-19T08:00", "iris@x.edu", "regrade", {"class": "A", "exercise": "causal", "change": "c0",
                                                   "reason": "a look"}),
    ("2026-09-19T08:30", "iris@x.edu", "apply", {"class": "A", "change": "c0"}),
    ("2026-09-19T09:00", "admin", "version", {"exercise": "softmax", "version": "2"}),
    ("2026-09-19T10:00", "iris@x.edu", "regrade", {"class": "A", "exercise": "softmax", "change": "c1",
                                                   "reason": "a case was wrong"}),
)  # fmt: skip


def seconds(time: str) -> float:
    """Return a time in UTC, `2026-09-20T12:00`, in seconds since the epoch."""
    return datetime.fromisoformat(f"{time}+00:00").timestamp()


def events(rows: tuple[tuple[str, str, str, Mapping[str, Any]], ...]) -> list[TimedEvent]:
    """Return rows of time, asker, event and fields as `play` takes them."""
    return [TimedEvent(seconds(at), by, do, fields) for at, by, do, fields in rows]


@dataclass
class School:
    """Both classes of `SETTING_UP` in a database, and the time there."""

    database: Database
    now: float = seconds(OPENED)

    def set_up(self) -> None:
        answers = list(play(self.database, events(SETTING_UP), TermClock()))
        assert all(one["ok"] for one in answers), [one for one in answers if not one["ok"]]

    def ask(self, by: str, do: str, *, at: str = "", **fields: Any) -> dict[str, Any]:
        """Ask and return the answer, with `ok` and for a refusal its `code`; the class is given as `class_`."""
        self.now = seconds(at) if at else self.now
        named = {name.rstrip("_"): value for name, value in fields.items()}
        try:
            return {"ok": True, **Classes(self.database, clock=lambda: self.now).do(by, do, named)}
        except ClassRefusal as refusal:
            return {"ok": False, "code": refusal.code, **refusal.more}

    def code(self, by: str, do: str, *, at: str = "", **fields: Any) -> str:
        """Ask and return the code of the refusal; `ok` for none."""
        answer = self.ask(by, do, at=at, **fields)
        return "ok" if answer["ok"] else str(answer["code"])

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return all that is stored, but the audit."""
        with self.database.read() as session:
            return {
                table.name: sorted((tuple(line) for line in session.execute(select(table))), key=repr)
                for table in Base.metadata.sorted_tables
                if table.name != AuditRow.__tablename__
            }

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Fail if something is stored meanwhile, but lines of the audit."""
        before = self.rows()
        yield
        assert self.rows() == before
