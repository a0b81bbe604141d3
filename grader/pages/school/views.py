"""A class as its staff read it: lines and cells of the gradebook, what a change would do, and times.

All of this is made by pure functions from answers of the class to values that templates draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from grader.judge.report import Dimension
from grader.pages.render import NAMES
from grader.pages.wording import bare
from grader.rules.times import DueTime, comes_twice, zone_of
from grader.service.classes.forms import moment
from grader.store.coursework import wall_time

Answer = Mapping[str, Any]
WORDS = {
    "missing": ("0", "missing", "too late, and nothing counts"),
    "blank": ("\u2013", "", "nothing counts yet"),
    "excused": ("EX", "excused", "excused: no points, none possible"),
    "not_assigned": ("n/a", "not assigned", "joined after it was due"),
    "hidden": ("?", "hidden", "hidden from the student for now"),
}
MOST_LINES = 500  # of the audit
_MOST_OWN = 8  # people's own due times on a timeline, and people with the same one
_MOST_DAYS = 14  # late days that a timeline draws one by one
SHOWS = {
    "at_once": "at once",
    "after_due": "after the due time",
    "after_cutoff": "after the last moment",
    "after_publication": "after publication",
    "never": "never",
}
EXCEPTIONS = {
    "due": "Own due time",
    "attempts": "Extra attempts",
    "excused": "Excused",
    "standing_days": "Standing days",
    "bank_days": "Extra late days",
}
SHOWS_PART = {"": "with the rest"} | {show: said for show, said in SHOWS.items() if show != "at_once"}


def cell_view(cell: Answer, possible: str) -> Answer:
    """Return a cell: points, or a sign and a word for what it has in their place, so that no two look alike."""
    text, word, title = WORDS.get(cell["state"], ("", "", ""))
    points = cell["points"]
    tone = {"missing": "poor", "graded": "of"}.get(cell["state"], "none")
    if points is not None and cell["state"] != "missing":
        text, tone = points, "of"
    if tone == "of":
        share = Decimal(points) / Decimal(possible) * 100 if Decimal(possible) else Decimal(100)
        tone = "good" if share >= 99 else "fair" if share >= 50 else "poor"
    if cell["override"] is not None:
        text, word, title = cell["override"], "override", "points given by an instructor"
        if Decimal(cell["override"]) > Decimal(possible):
            word, title = f"override above {short(possible)}", "more points than are possible now"
    elif cell["charged"]:
        word = f"{cell['charged']} late day{'' if cell['charged'] == 1 else 's'}"
    return {"text": short(text), "word": word, "title": title, "tone": tone, "key": points, "state": cell["state"]}


def short(points: str | None) -> str:
    """Return points without zeros that say nothing."""
    if points is None:
        return "\u2013"
    return points.rstrip("0").rstrip(".") if "." in points else points


def gradebook_view(grades: Answer, desk: Answer, *, section: str, find: str, to: Callable[..., str]) -> Answer:
    """Return the gradebook of the students of a section, or of all, whose name holds what is looked for."""
    people = [
        one
        for one in grades["people"]
        if section in ("", one["section"]) and bare(find) in bare(f"{one['name']} {one['person']}")
    ]
    possible = {one["key"]: one["possible"] for one in desk["assignments"]}
    held = {one["key"]: one["held"] if one["show"] == "after_publication" else () for one in desk["assignments"]}
    rows = [
        {
            "person": one["person"],
            "name": one["name"],
            "section": one["section"],
            "href": to("/student", person=one["person"]),
            "cells": [
                {
                    **cell_view(one["cells"][key], possible[key]),
                    "held": one["person"] in held[key],
                    "href": to("/cell", person=one["person"], assignment=key),
                }
                for key in possible
            ],
            **{name: one[name] for name in ("total", "possible", "percent")},
            "bank": one["bank"],
        }
        for one in sorted(people, key=lambda one: (one["name"].casefold(), one["person"]))
    ]
    figures = _figures(grades.get("statistics"), section=section, find=find)
    return {"rows": rows, "count": len(rows), "all": len(grades["people"]), "figures": figures}


def _figures(whole: Answer | None, *, section: str, find: str) -> Answer | None:
    """Return the figures of the lines that are shown: of the class, or of a section, which has those of percents only.

    None where somebody is looked for: whoever has such a name is no group that has a mean.
    """
    if whole is None or find:
        return None
    return {"percent": whole["sections"].get(section), "assignments": {}} if section else whole


def changes_view(changes: Answer, names: Mapping[str, str]) -> Answer:
    """Return what a change would do: who gains, who loses, from what to what."""
    cells = [
        {
            **one,
            "name": names.get(one["person"], one["person"]),
            "before": one["before"] or "\u2013",
            "after": one["after"] or "\u2013",
            "sign": _sign(one["before"], one["after"]),
        }
        for one in changes["cells"]
    ]
    cells.sort(key=lambda one: ("loses", "gains", "changes").index(one["sign"]))
    banks = [{**one, "name": names.get(one["person"], one["person"])} for one in changes["banks"]]
    count = {sign: sum(one["sign"] == sign for one in cells) for sign in ("gains", "loses", "changes")}
    above = [{**one, "name": names.get(one["person"], one["person"])} for one in changes.get("above", ())]
    return {"cells": cells, "banks": banks, "above": above, **count}


def _sign(before: str | None, after: str | None) -> str:
    if before is None or after is None or before == after:
        return "changes"
    return "gains" if Decimal(after) > Decimal(before) else "loses"


def timeline(one: Answer, zone_name: str, now: int) -> Sequence[Answer]:
    """Return what happens when, in order: opening, due times, late days with what they cost, the last moment."""
    zone, late = zone_of(zone_name), one["late"]
    opens = wall_time(one["opens"])
    found = [_point(opens, zone, "Opens", DueTime(opens, zone).at, kind="open")]
    sections: dict[str, list[str]] = {}
    for name, due in one["section_due"].items():
        sections.setdefault(due, []).append(name)
    whom: dict[str, list[str]] = {}
    for person, due in one.get("own_due", {}).items():
        whom.setdefault(due, []).append(person)
    for due, people in sorted(whom.items())[:_MOST_OWN]:
        more = f" and {len(people) - _MOST_OWN} more" if len(people) > _MOST_OWN else ""
        said = f"Own due time of {', '.join(people[:_MOST_OWN])}{more}"
        found += _due(wall_time(due), zone, one["grace"], said)
    whose = f"Due ({', '.join(sections.pop(one['due'], []))} as well)" if one["due"] in sections else "Due"
    for text, said in [(one["due"], whose), *((due, f"Due for {', '.join(who)}") for due, who in sections.items())]:
        found += _due(wall_time(text), zone, one["grace"], said)
    found += _late_days(wall_time(one["due"]), zone, one["grace"], late)
    ordered = sorted(found, key=lambda each: each["at"])
    if one.get("published"):
        ordered.append({"wall": "", "what": "Published", "moment": one["published"], "kind": "show", "past": True})
    elif one["show"] == "after_publication":
        ordered.append({"wall": "not yet", "what": "Publication", "moment": "", "kind": "show", "past": False})
    for part, show in one["show_checks"].items():
        what = f"{NAMES[Dimension(part)]} in reports, and with it every score"
        ordered.append({"wall": SHOWS[show], "what": what, "moment": "", "kind": "show", "past": False})
    return [{**each, "past": each.get("past", each.get("at", 0) <= now)} for each in ordered]


def _due(wall: datetime, zone: ZoneInfo, grace: int, said: str) -> list[dict[str, Any]]:
    note = f"and {grace} min of grace" if grace else ""
    return [_point(wall, zone, said, DueTime(wall, zone).boundary(0, grace), note=note, kind="due")]


def _late_days(due: datetime, zone: ZoneInfo, grace: int, late: Answer) -> list[dict[str, Any]]:
    """Return the end of each late day with what a hand-in up to it costs."""
    cutoff = late["cutoff"]
    if cutoff == 0:
        return []
    per_day, most = Decimal(late["per_day"]), Decimal(late["at_most"])
    useful = min(_MOST_DAYS, int(most / per_day) + 1) if per_day else 1
    days = useful if cutoff is None else min(cutoff, _MOST_DAYS)
    of = "of what is earned" if late["of"] == "earned" else "of what is possible"
    found = []
    for day in range(1, days + 1):
        share = min(day * per_day, most) * 100
        cost = f"−{short(f'{share:.2f}')} % {of}" if share else "costs nothing"
        free = f", or {min(day, late['bank_max'])} from the bank" if late["bank_max"] else ""
        what = f"{day} day{'' if day == 1 else 's'} late"
        wall = due + timedelta(days=day)
        at = DueTime(due, zone).boundary(day, grace)
        found.append(_point(wall, zone, what, at, note=cost + free, kind="late"))
    if cutoff is None:
        found[-1]["note"] += "; there is no last moment"
    elif cutoff > days:
        wall = due + timedelta(days=cutoff)
        found.append(_point(wall, zone, "Last moment", DueTime(due, zone).boundary(cutoff, grace), kind="end"))
    else:
        found[-1]["what"] += ": the last moment"
        found[-1]["kind"] = "end"
    return found


def _point(wall: datetime, zone: ZoneInfo, what: str, at: int, *, note: str = "", kind: str) -> dict[str, Any]:
    if comes_twice(wall, zone):
        note = f"{note}; this minute comes twice that night, the second is meant".lstrip("; ")
    return {"at": at, "wall": day(wall), "what": what, "note": note, "kind": kind,
            "moment": moment(DueTime(wall, zone).at)}  # fmt: skip


def day(wall: datetime | str) -> str:
    """Return a minute on the wall with its day of the week: `Fri 9 Oct 2026, 23:59`."""
    moment = wall_time(wall) if isinstance(wall, str) else wall
    return f"{moment:%a %-d %b %Y, %H:%M}"


def newest(audit: Answer) -> Answer:
    """Return the newest lines of the audit, the last one first."""
    lines = audit["lines"]
    shown = [{**one, "at": datetime.fromisoformat(one["at"]).timestamp()} for one in reversed(lines[-MOST_LINES:])]
    return {"lines": shown, "cut": len(lines) > MOST_LINES}


def said(value: Any) -> str:
    """Return a value of the audit in words: `hold: ada@x.org, bob@x.org`."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {said(each) or 'none'}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(said, value))
    return {None: "", True: "yes", False: "no"}[value] if value is None or isinstance(value, bool) else str(value)


def moves_view(seen: Answer) -> Answer:
    """Return a roster's lines, those first that change something."""
    rows = [one for one in seen["rows"] if one["move"] != "unchanged"]
    return {**seen, "rows": rows}
