"""A whole term of two classes, 300 people and 1,313 hand-ins, as the events that `class replay` plays.

Seventeen people have a name: what they do stands in `HANDED_IN`, and each is there for a rule that somebody might get
wrong. The others hand in each exercise once, a day before it is due, and have 50 or 100.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.term import dial

Event = dict[str, Any]
ZONES = {"A": ZoneInfo("America/New_York"), "B": ZoneInfo("Europe/Berlin")}
STAFF = {"A": "iris@uni.example", "B": "bo@uni.example"}
SECTION_1 = ("ada", "ben", "eve", "fay", "ivo", "kim", "moe", "nia", "oli")
SECTION_2 = ("cleo", "dov", "gus", "hana", "jun", "lea", "pia", "quy")
FORMULA = '=HYPERLINK("http://x","Kim")'
FILLERS, OTHERS = 183, 100  # a001 to a183 in class A, b001 to b100 in class B
ASSIGNMENTS: Mapping[str, Event] = {
    "A-1": {
        "items": {"softmax": "4.5", "sdpa": "5.5"}, "opens": "2026-09-14T00:00", "due": "2026-09-25T23:59",
        "grace": 15, "late": {"per_day": "0.10", "of": "earned", "bank_max": 0, "cutoff": 3},
    },
    "A-2": {
        "items": {"causal": "20"}, "opens": "2026-09-28T00:00", "due": "2026-10-09T23:59",
        "section_due": {"A2": "2026-10-10T23:59"},
        "late": {"per_day": "0.25", "of": "possible", "bank_max": 2, "cutoff": 3},
    },
    "A-3": {
        "items": {"heads": "30"}, "opens": "2026-10-12T00:00", "due": "2026-10-31T23:59",
        "late": {"per_day": "0.20", "of": "earned", "bank_max": 2, "cutoff": 2},
    },
    "A-4": {
        "items": {"rotary": "20"}, "opens": "2026-11-02T00:00", "due": "2026-11-13T23:59", "grace": 5,
        "late": {"per_day": "0", "of": "earned", "bank_max": 0, "cutoff": 0}, "count": "last", "attempts": 3,
    },
    "A-5": {
        "items": {"flash": "20"}, "opens": "2026-11-16T00:00", "due": "2026-12-04T23:59",
        "late": {"per_day": "0.20", "of": "earned", "bank_max": 2, "cutoff": 2}, "show": "after_publication",
    },
    "B-1": {
        "items": {"softmax": "10"}, "opens": "2026-10-05T00:00", "due": "2026-10-24T23:59",
        "late": {"per_day": "0.20", "of": "earned", "bank_max": 1, "cutoff": 2},
    },
}  # fmt: skip
# Who, and for each hand-in the exercise, the time and the score; `100>85`: 100 by the first version, 85 by the second.
HANDED_IN = {
    "A-1": """
        ada: softmax 09-20T10:00 100, sdpa 09-25T23:58 80, sdpa 09-26T00:10 100
        ben: softmax 09-19T10:00 100, sdpa 09-25T20:00 75, sdpa 09-27T12:00 100
        cleo: softmax 09-18T09:00 50, softmax 09-18T10:00 100, sdpa 09-25T20:00 90, sdpa 09-27T12:00 100
        dov: softmax 09-27T12:00 100, sdpa 09-27T12:00:30 100
        eve: softmax 09-29T00:14 100, sdpa 09-29T00:14:59 90, sdpa 09-29T00:15 100
        fay: softmax 09-24T10:00 95, sdpa 09-24T10:00 95
        gus: softmax 09-24T10:00 100, sdpa 09-24T10:00 85
        hana: softmax 09-24T10:00 100, sdpa 09-24T10:00 100
        ivo: softmax 09-24T10:00 100, sdpa 09-24T10:00 65
        jun: softmax 09-24T10:00 100, sdpa 09-24T10:00 100
        kim: softmax 09-24T10:00 100, sdpa 09-24T10:00 55
        nia: softmax 09-24T10:00 100, sdpa 09-24T10:00 100
        oli: softmax 09-24T10:00 100, sdpa 09-24T10:00 100
        pia: softmax 09-24T10:00 100, sdpa 09-24T10:00 70
        quy: softmax 09-24T10:00 100, sdpa 09-24T10:00 100
    """,
    "A-2": """
        ada: causal 10-08T10:00 100
        ben: causal 10-12T10:00 80
        cleo: causal 10-10T20:00 100>85
        dov: causal 10-10T12:00 60, causal 10-12T09:00 100>90
        eve: causal 10-09T23:59:30 100>50
        fay: causal 10-09T12:00 50, causal 10-11T12:00 55 aside 10-11T18:00
        gus: causal 10-08T10:00 100
        hana: causal 10-08T10:00 90
        ivo: causal 10-08T10:00 100
        jun: causal 10-10T20:00 100
        kim: causal 10-08T10:00 35
        lea: causal 10-14T10:00 100
        nia: causal 10-09T12:00 90>95, causal 10-10T12:00 100>90
        oli: causal 10-09T12:00 80, causal 10-11T12:00 100>75
        pia: causal 10-08T10:00 100
        quy: causal 10-08T10:00 100
    """,
    "A-3": """
        ada: heads 10-30T10:00 100
        ben: heads 11-01T23:30 100
        cleo: heads 11-02T00:30 100
        dov: heads 10-30T10:00 70
        eve: heads 11-01T23:59:59 100
        fay: heads 11-02T12:00 100
        gus: heads 11-05T12:00 100
        hana: heads 10-30T10:00 100
        ivo: heads 10-24T10:00 100, heads 11-02T10:00 100
        jun: heads 10-30T10:00 80
        kim: heads 10-30T10:00 45
        lea: heads 10-30T10:00 100
        nia: heads 10-30T10:00 100
        oli: heads 11-02T12:00 100
        pia: heads 10-30T10:00 100
        quy: heads 10-30T10:00 100
    """,
    "A-4": """
        ada: rotary 11-10T10:00 100, rotary 11-11T10:00 80
        ben: rotary 11-10T10:00 20, rotary 11-10T10:05 ungradable, rotary 11-10T10:10 40
        ben: rotary 11-10T10:15 ours, rotary 11-10T10:20 60, rotary 11-10T10:25 100
        cleo: rotary 11-09T10:00 25, rotary 11-09T11:00 50, rotary 11-09T12:00 75, rotary 11-12T12:00 100
        dov: rotary 11-14T00:04:30 90, rotary 11-14T00:05 100
        eve: rotary 11-12T10:00 100
        fay: rotary 11-12T10:00 100
        gus: rotary 11-12T10:00 100
        hana: rotary 11-12T10:00 100
        ivo: rotary 11-12T10:00 100
        jun: rotary 11-12T10:00 100
        kim: rotary 11-12T10:00 5
        lea: rotary 11-12T10:00 100
        nia: rotary 11-12T10:00 100
        oli: rotary 11-12T10:00 100
        quy: rotary 11-12T10:00 100
    """,
    "A-5": """
        ada: flash 12-01T10:00 100
        ben: flash 12-06T12:00 100
        cleo: flash 12-05T12:00 100
        dov: flash 12-06T23:59:59 100
        eve: flash 12-01T10:00 65
        fay: flash 12-06T12:00 100
        gus: flash 12-01T10:00 100
        hana: flash 12-01T10:00 100
        ivo: flash 12-01T10:00 100
        jun: flash 12-01T10:00 100
        kim: flash 12-01T10:00 15
        lea: flash 12-01T10:00 100
        nia: flash 12-01T10:00 100
        oli: flash 12-05T12:00 100
        pia: flash 12-01T10:00 100
        quy: flash 12-01T10:00 100
    """,
    "B-1": """
        hana: softmax 10-25T23:30 100
    """,
}
REGRADE = ("version", "regrade", "apply", "cancel_change")  # what the events of a regrade do


def given() -> list[Event]:
    """Return the term with the score of each hand-in given, in the order of time."""
    return [event for _, event in sorted(_Written().everything(), key=lambda row: row[0])]


def without_regrade(events: list[Event]) -> list[Event]:
    """Return a term in which nothing is graded a second time."""
    return [event for event in events if event["do"] not in REGRADE]


def with_sources(events: list[Event]) -> list[Event]:
    """Return a term with an answer in place of each given score.

    What is given as ungradable becomes a file without the function; a fault of ours, which no file can cause, stays.
    """
    return [{**_without(event, "score", "scores", "status"), "source": source} if (source := _source(event)) else event
            for event in events]  # fmt: skip


def lines(events: list[Event]) -> str:
    """Return events as a file of them."""
    return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events)


def mail(who: str) -> str:
    """Return somebody's address."""
    return f"{who}@uni.example"


@dataclass
class _Written:
    """The events of the term as they are written down, each with its time."""

    rows: list[tuple[float, Event]] = field(default_factory=list)
    number: int = 0  # of hand-ins so far

    def everything(self) -> list[tuple[float, Event]]:
        self.classes()
        self.rosters()
        self.decisions()
        for assignment, text in HANDED_IN.items():
            self.by_name(assignment, text)
        for number in range(1, FILLERS + 1):
            for place, key in enumerate((key for key in ASSIGNMENTS if key[0] == "A"), start=1):
                self.filler(f"a{number:03}", key, number, 50 if (number + place) % 4 == 0 else 100)
        for number in range(1, OTHERS + 1):
            self.filler(f"b{number:03}", "B-1", number, 50 if number % 4 == 0 else 100)
        self.end()
        return self.rows

    def put(self, wall: str, do: str, by: str = "", school_class: str = "A", /, **fields: Any) -> None:
        """Add an event at a wall time of its class, `09-25T23:59`; by the class's instructor unless said otherwise."""
        at = datetime.fromisoformat(f"2026-{wall}").replace(tzinfo=ZONES[school_class])
        named = {} if do in ("version", "delete", "aside") else {"class": school_class}
        event = {"at": at.isoformat(timespec="milliseconds"), "do": do, **named, "by": by or STAFF[school_class]}
        self.rows.append((at.timestamp(), {**event, **fields}))

    def classes(self) -> None:
        for key, bank, sections in (("A", 4, ["A1", "A2"]), ("B", 1, ["B1"])):
            zone = str(ZONES[key])
            self.put("09-01T09:00", "class", "admin", key, name=f"Class {key}", zone=zone, bank=bank, sections=sections)
        for key, name in (("A", "Iris"), ("B", "Bo")):
            staff = {"person": STAFF[key], "name": name, "role": "instructor"}
            self.put("09-01T10:00", "staff", "admin", key, **staff)
        assistant = {"person": mail("b001"), "name": "B001", "role": "assistant", "sections": ["A2"]}
        self.put("09-08T12:00", "staff", **assistant)
        for key, one in ASSIGNMENTS.items():
            late = {**one["late"], "at_most": "1"}
            values = {"grace": 0, "count": "best", "show": "at_once", **one, "late": late}
            self.put("09-09T10:00", "assign", "", key[0], assignment=key, **values)

    def rosters(self) -> None:
        """Import the classes: with mistakes, as they are, again, with Lea, without Ivo, and with him."""
        late = [row for row in _members() if row[0] != mail("lea")]
        wrong = [list(row) for row in late]
        wrong[15] = [mail("dov").upper(), "Again", wrong[15][2]]
        wrong[38] = ["ben@", "Ben", wrong[38][2]]
        moved = [(who, name, "A1" if who == mail("jun") else section) for who, name, section in _members()]
        stay = _csv(row for row in moved if row[0] != mail("ivo"))
        self.put("09-07T10:00", "import", csv=_csv(wrong))
        self.put("09-08T10:00", "import", csv=_csv(late))
        others = [mail("hana"), *(mail(f"b{number:03}") for number in range(1, OTHERS + 1))]
        self.put("09-08T10:30", "import", "", "B", csv=_csv((who, _name(who), "B1") for who in others))
        self.put("09-08T11:00", "import", csv=_csv(late))
        self.put("10-12T08:00", "import", csv=_csv(_members()))
        self.put("10-19T08:59", "import", csv=stay, dry_run=True)
        self.put("10-19T09:00", "import", csv=stay)
        self.put("11-02T09:00", "import", csv=_csv(moved))

    def decisions(self) -> None:
        """Grant extensions, excuse Pia, override Cleo's points, and do it again by an old revision."""
        for wall, who, assignment, what, value in (
            ("09-28T10:00", "dov", "A-1", "due", "2026-09-29T23:59"),
            ("10-20T10:00", "gus", "A-3", "due", "2026-11-04T23:59"),
            ("11-10T10:00", "cleo", "A-4", "attempts", 1),
            ("11-05T10:00", "pia", "A-4", "excused", True),
        ):
            fields = {"person": mail(who), "assignment": assignment, "field": what, "value": value, "reason": "ill"}
            if who == "dov":
                self.put("09-28T09:59", "whatif", change={"do": "except", **fields})
            self.put(wall, "except", **fields)
        for wall, points, reason in (
            ("11:00", "19.50", "argued the mask convention"),
            ("11:05", "18.00", "second tab"),
        ):
            cell = {"person": mail("cleo"), "assignment": "A-2"}
            self.put(f"10-20T{wall}", "override", **cell, points=points, reason=reason, revision=0)

    def by_name(self, assignment: str, text: str) -> None:
        """Hand in what rows of `HANDED_IN` say."""
        for row in text.strip().splitlines():
            who, _, every = row.strip().partition(": ")
            for one in every.split(", "):
                exercise, wall, result, *aside = one.split()
                id = self.hand_in(who, assignment, exercise, wall, result)
                if aside:
                    self.put(aside[1], "aside", mail(who), person=mail(who), id=id)

    def filler(self, who: str, assignment: str, number: int, score: int) -> None:
        """Hand in each item of an assignment, a day and so many minutes before it is due."""
        due = datetime.fromisoformat(ASSIGNMENTS[assignment]["due"])
        wall = (due - timedelta(hours=24, minutes=number)).isoformat()[5:]
        for exercise in ASSIGNMENTS[assignment]["items"]:
            self.hand_in(who, assignment, exercise, wall, str(score))

    def hand_in(self, who: str, assignment: str, exercise: str, wall: str, result: str) -> str:
        self.number += 1
        id = f"h{self.number:04}"
        first, _, second = result.partition(">")
        if not first.isdigit():
            given: Event = {"status": result}
        else:
            given = {"scores": {"1": int(first), "2": int(second)}} if second else {"score": int(first)}
        named = {"person": mail(who), "assignment": assignment, "exercise": exercise, "id": id}
        self.put(wall, "hand_in", mail(who), assignment[0], **named, **given)
        return id

    def end(self) -> None:
        """Publish, regrade, and ask for what there is."""
        ada, flash = mail("ada"), {"assignment": "A-5", "exercise": "flash"}
        self.put("12-07T11:59", "own", ada, person=ada)
        self.put("12-07T11:59", "board", ada, **flash)
        self.put("12-07T12:00", "publish", assignment="A-5", hold=[mail("kim")])
        self.put("12-07T12:01", "board", ada, **flash)
        self.put("12-07T12:02", "own", mail("kim"), person=mail("kim"))
        self.put("12-09T09:00", "release", assignment="A-5", person=mail("kim"))
        self.put("12-09T09:05", "board", **flash)
        self.put("12-09T10:00", "version", "admin", exercise="causal", version="2")
        self.regrade("12-09T10:30", "c1", reason="mask of the last row")
        self.put("12-09T11:00", "cancel_change", change="c1")
        self.put("12-10T09:00", "grades")
        self.put("12-10T09:00", "grades", "", "B")
        self.regrade("12-10T09:30", "c2", keep="better", reason="what if only upwards")
        self.put("12-10T09:40", "cancel_change", change="c2")
        self.regrade("12-10T10:00", "c3", reason="mask of the last row")
        again = {"person": mail("a001"), "exercise": "causal", "id": "p1", "score": 100}
        self.put("12-10T12:00", "hand_in", mail("a001"), **again)
        self.put("12-11T10:00", "apply", change="c3")
        self.put("12-11T10:01", "apply", change="c3")
        self.put("12-11T11:00", "grades")
        self.put("12-15T10:00", "delete", mail("quy"), person=mail("quy"))
        self.put("12-15T11:00", "grades")

    def regrade(self, wall: str, change: str, **more: str) -> None:
        self.put(wall, "regrade", exercise="causal", change=change, **more)


def _members() -> list[tuple[str, str, str]]:
    """Return class A with all who are in it at some time: address, name, and section at first."""
    named = {**dict.fromkeys(SECTION_1, "A1"), **dict.fromkeys(SECTION_2, "A2")}
    fillers = {f"a{number:03}": "A1" if number % 2 else "A2" for number in range(1, FILLERS + 1)}
    rows = {who: named[who] for who in sorted(named)} | fillers
    return [(mail(who), _name(mail(who)), section) for who, section in rows.items()]


def _name(person: str) -> str:
    who = person.partition("@")[0]
    return {"kim": FORMULA, "a005": "Wei Zhang", "a006": "Wei Zhang"}.get(who, who.capitalize())


def _csv(rows: Iterable[Iterable[str]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([["email", "name", "section"], *rows])
    return file.getvalue()


def _without(event: Event, *names: str) -> Event:
    return {name: value for name, value in event.items() if name not in names}


def _source(event: Event) -> str:
    if event.get("status") == "ungradable":
        return "def nothing(): pass\n"
    if "scores" in event:
        return dial.answer(event["scores"]["1"], event["scores"]["2"])
    return dial.answer(event["score"]) if "score" in event else ""
