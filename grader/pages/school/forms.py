"""What staff type, as the fields of an event; and an assignment as the form for it is filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from grader.exports.cells import table
from grader.pages.render import NAMES
from grader.pages.school.views import short
from grader.rules.times import instant, wall_of, zone_of
from grader.service.classes.granting import COLUMNS
from grader.service.classes.requests import ClassRefusal, bad_value
from grader.store.coursework import wall_text, wall_time

Form = Mapping[str, str]
OF_THE_CLASS = ("standing_days", "bank_days")  # what is granted on all assignments
_TIMES = ("opens", "due", "section_due", "value")
_MINUTE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d", re.ASCII)
NEW = {
    "per_day": "10", "at_most": "100", "of": "earned", "bank_max": "0", "cutoff": "3", "count": "best", "grace": "0",
    "show": "at_once",
}  # fmt: skip


def filled(one: Mapping[str, Any]) -> dict[str, str]:
    """Return an assignment as its form has it."""
    late = one["late"]
    return {
        **{name: str(one[name]) for name in ("title", "opens", "due", "grace", "count", "show", "revision")},
        "items": "\n".join(f"{name} {weight}" for name, weight in one["items"].items()),
        "section_due": "\n".join(f"{name}: {due}" for name, due in one["section_due"].items()),
        "per_day": short(f"{100 * Decimal(late['per_day']):.2f}"),
        "at_most": short(f"{100 * Decimal(late['at_most']):.2f}"),
        "of": late["of"],
        "bank_max": str(late["bank_max"]),
        "cutoff": "" if late["cutoff"] is None else str(late["cutoff"]),
        "attempts": "" if one["attempts"] is None else str(one["attempts"]),
        **{f"show_{part}": show for part, show in one["show_checks"].items()},
    }


def assignment(form: Form) -> dict[str, Any]:
    """Return the fields of an assignment that a form holds.

    Raises:
        ClassRefusal: a field cannot be read; the class says what else is wrong.
    """
    whole = {name: _whole(form, name) for name in ("grace", "bank_max", "cutoff", "attempts")}
    return {
        "title": form.get("title", "").strip(),
        "items": _items(form.get("items", "")),
        "opens": form.get("opens", ""),
        "due": form.get("due", ""),
        "section_due": _section_dues(form.get("section_due", "")),
        "grace": whole["grace"] or 0,
        "late": {
            "per_day": _share(form, "per_day"), "at_most": _share(form, "at_most"), "of": form.get("of", "earned"),
            "bank_max": whole["bank_max"] or 0, "cutoff": whole["cutoff"],
        },
        "count": form.get("count", "best"),
        "attempts": whole["attempts"],
        "show": form.get("show", "at_once"),
        "show_checks": {part: show for part in NAMES if (show := form.get(f"show_{part}"))},
    }  # fmt: skip


def granted(form: Form) -> Any:
    """Return the value of an exception; None withdraws it."""
    field, value = form.get("field", ""), form.get("value", "").strip()
    if not value:
        return None
    if field == "due":
        return value
    return value == "yes" if field == "excused" else _whole(form, "value")


def exceptions(form: Form) -> dict[str, str]:
    """Return the file that was sent, or else one with a line for each person who was named."""
    people = list(filter(None, map(str.strip, re.split(r"[\n,;]", form.get("people", "")))))
    if not people:
        return {"csv": form.get("csv", ""), "file": form.get("file", "")}
    field = form.get("field", "")
    assignment = "" if field in OF_THE_CLASS else form.get("assignment", "")
    line = (assignment, field, form.get("value", ""), form.get("reason", ""))
    return {"csv": table([COLUMNS, *((person, *line) for person in people)]), "file": ""}


def revision(form: Form) -> int | None:
    """Return the revision that was seen."""
    return _whole(form, "revision")


def weeks(form: Form) -> int:
    """Return by how many weeks a copy of the class comes later."""
    found = _whole(form, "weeks")
    if found is None:
        raise bad_value("By how many weeks the copy comes later is expected.")
    return found


def mended(form: Form, zone_name: str) -> dict[str, str]:
    """Return the form with the minute that the clock makes of each one that it skips."""
    zone = zone_of(zone_name)

    def real(found: re.Match[str]) -> str:
        try:
            return wall_text(wall_of(instant(wall_time(found[0]), zone), zone))
        except ValueError:
            return found[0]

    return {name: _MINUTE.sub(real, value) if name in _TIMES else value for name, value in form.items()}


def _whole(form: Form, name: str) -> int | None:
    text = form.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ClassRefusal("bad_value", f"“{text[:20]}” is no whole number.", field=name)
    return int(text)


def _share(form: Form, name: str) -> str:
    text = form.get(name, "").strip() or "0"
    try:
        return format(Decimal(text) / 100, "f") if len(text) < 10 else text
    except InvalidOperation:
        raise bad_value(f"“{text[:20]}” is no number of per cent.") from None


def _items(text: str) -> dict[str, str]:
    items: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, points = line.rpartition(" ")
        if not name or name.strip() in items:
            raise bad_value(f"“{line[:60]}” is no exercise with its points, such as `softmax 10`, each exercise once.")
        items[name.strip()] = points
    return items


def _section_dues(text: str) -> dict[str, str]:
    dues: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, found = line, _MINUTE.search(line)
        name = line[: found.start()].rstrip(" :\t") if found else ""
        if not found or not name or name in dues:
            raise bad_value(f"“{line[:60]}” is no section with its due time, such as `A: 2026-10-09T23:59`.")
        dues[name] = found[0]
    return dues
