"""A second, independent program of the class rules R1-R18: functions over plain dictionaries."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from grader.rules.times import zone_of

Facts = dict[str, Any]
EPOCH = datetime(1970, 1, 1)
MS = timedelta(milliseconds=1)
DAY = 86_400_000


# ---- numbers


def half_up(value: Fraction) -> Fraction:
    """Round to two decimals, halves up."""
    return Fraction((value * 100 + Fraction(1, 2)).__floor__(), 100)


def two(value: Fraction) -> str:
    """Write a number (0 or more) rounded half up, with two decimals."""
    cents = int(half_up(value) * 100)
    return f"{cents // 100}.{cents % 100:02d}"


def exact(value: Fraction) -> str:
    """Write a finite decimal exactly, without trailing zeros."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
        if places > 200:
            raise ValueError(f"not a finite decimal: {value}")
    whole = int(value * 10**places)
    if not places:
        return str(whole)
    return f"{whole // 10**places}.{whole % 10**places:0{places}d}"


# ---- time (R1-R4)


def instant(wall: datetime, zone: str) -> int:
    """The later of the two readings of a wall time, in milliseconds of UTC."""
    info = zone_of(zone)
    readings = []
    for fold in (0, 1):
        offset = wall.replace(tzinfo=info, fold=fold).utcoffset()
        assert offset is not None
        readings.append((wall - offset - EPOCH) // MS)
    return max(readings)


def parse(wall: str) -> datetime:
    """Read 'YYYY-MM-DDTHH:MM'."""
    return datetime.strptime(wall, "%Y-%m-%dT%H:%M")


def wall_at(at: int, zone: str) -> str:
    """The wall time of an instant, cut to the minute."""
    utc = (EPOCH + at * MS).replace(tzinfo=zone_of("UTC"))
    return utc.astimezone(zone_of(zone)).strftime("%Y-%m-%dT%H:%M")


def boundary(wall: str, zone: str, days: int, grace: int) -> int:
    """The first instant that is more than `days` days late."""
    return instant(parse(wall) + timedelta(days=days), zone) + 60_000 + grace * 60_000


def lateness(at: int, wall: str, zone: str, grace: int) -> int:
    """Days late: the smallest k whose boundary lies after the hand-in."""
    k = max(0, (at - boundary(wall, zone, 0, grace)) // DAY - 2)
    while at >= boundary(wall, zone, k, grace):
        k += 1
    return k


def find_assignment(facts: Facts, key: str) -> dict[str, Any]:
    """The assignment with this key."""
    return next(a for a in facts["assignments"] if a["key"] == key)


def find_member(facts: Facts, person: str) -> dict[str, Any] | None:
    """The member, or None for anyone else."""
    return next((m for m in facts["members"] if m["person"] == person), None)


def exception(facts: Facts, person: str, key: str | None, field: str) -> dict[str, Any] | None:
    """The person's exception of this kind, if there is one."""
    for e in facts["exceptions"]:
        if (e["person"], e["assignment"], e["field"]) == (person, key, field):
            return dict(e)
    return None


def personal_due(facts: Facts, person: str, key: str) -> tuple[str, int]:
    """The person's present due, as the wall time that was set and as an instant."""
    zone, a, member = facts["zone"], find_assignment(facts, key), find_member(facts, person)
    section = member["section"] if member else None
    base = parse(a["section_due"].get(section, a["due"]))
    choices = [base]
    standing = exception(facts, person, None, "standing_days")
    if standing:
        moved = base + timedelta(days=int(standing["value"]))
        if instant(moved, zone) > standing["at"]:
            choices.append(moved)
    extension = exception(facts, person, key, "due")
    if extension:
        choices.append(parse(extension["value"]))
    latest = max(choices, key=lambda wall: instant(wall, zone))
    return latest.strftime("%Y-%m-%dT%H:%M"), instant(latest, zone)


def edge(facts: Facts, person: str, a: dict[str, Any], days: int) -> int:
    """boundary(days) of the person's present due."""
    wall, _ = personal_due(facts, person, a["key"])
    return boundary(wall, facts["zone"], days, a["grace"])


def days_late(facts: Facts, attempt: dict[str, Any], a: dict[str, Any]) -> int:
    """The fewer days late of those by the promise and by the present due."""
    now_wall, _ = personal_due(facts, attempt["person"], a["key"])
    return min(
        lateness(attempt["at"], attempt["promise_due"], attempt["promise_zone"], a["grace"]),
        lateness(attempt["at"], now_wall, facts["zone"], a["grace"]),
    )


# ---- points (R5-R9)


def attempts_of(facts: Facts, person: str, key: str, exercise: str | None = None) -> list[dict[str, Any]]:
    """The person's accepted attempts at an assignment, or at one item of it, in order."""
    found = [
        t
        for t in facts["attempts"]
        if t["person"] == person and t["assignment"] == key and exercise in (None, t["exercise"])
    ]
    return sorted(found, key=lambda t: (t["at"], t["number"]))


def counting(
    facts: Facts, person: str, a: dict[str, Any], exercise: str, full: bool = False
) -> list[tuple[dict[str, Any], int, Fraction]]:
    """(attempt, days late, score) of those that count; `full`: all as if they had full marks."""
    found, cutoff = [], a["late"]["cutoff"]
    for t in attempts_of(facts, person, a["key"], exercise):
        if t["aside"] or t["result"] == "cancelled" or (t["result"] != "graded" and not full):
            continue
        days = days_late(facts, t, a)
        if cutoff is None or days <= cutoff:
            found.append((t, days, Fraction(100) if full else half_up(Fraction(t["score"]))))
    return found


def penalised(late: dict[str, Any], weight: Fraction, score: Fraction, days: int, left: int) -> tuple[Fraction, int]:
    """The most points and the fewest covered days that give them."""
    earned = weight * score / 100
    of = earned if late["of"] == "earned" else weight
    best, covered = Fraction(-1), 0
    for c in range(min(days, late["bank_max"], left) + 1):
        rate = min((days - c) * Fraction(late["per_day"]), Fraction(late["at_most"]))
        points = max(Fraction(0), earned - rate * of)
        if points > best:
            best, covered = points, c
    return best, covered


def items_of(facts: Facts, person: str, a: dict[str, Any], left: int, full: bool) -> dict[str, dict[str, Any]]:
    """Each item that has a counting attempt, with what it is worth (points as a Fraction)."""
    out: dict[str, dict[str, Any]] = {}
    for exercise, weight in a["items"].items():
        rows = []
        for t, days, score in counting(facts, person, a, exercise, full):
            points, covered = penalised(a["late"], Fraction(weight), score, days, left)
            rows.append(
                {
                    "attempt": t["id"],
                    "score": two(score),
                    "days_late": days,
                    "covered": covered,
                    "points": points,
                    "order": (t["at"], t["number"]),
                }
            )
        if not rows:
            continue
        if a["count"] == "last":
            row = max(rows, key=lambda r: r["order"])
        else:
            row = min(rows, key=lambda r: (-r["points"], r["covered"], r["order"]))
        out[exercise] = {k: v for k, v in row.items() if k != "order"}
    return out


def in_bank_order(facts: Facts) -> list[dict[str, Any]]:
    """Assignments by the class's due as an instant; the sort keeps the order of making."""
    return sorted(facts["assignments"], key=lambda a: instant(parse(a["due"]), facts["zone"]))


def excused(facts: Facts, person: str, key: str) -> bool:
    """Whether the person is excused."""
    e = exception(facts, person, key, "excused")
    return e is not None and e["value"] is not False


def not_assigned(facts: Facts, member: dict[str, Any], a: dict[str, Any]) -> bool:
    """Whether it was over before the person joined, and nothing was ever handed in."""
    person = member["person"]
    return edge(facts, person, a, 0) <= member["joined"] and not attempts_of(facts, person, a["key"])


def visible(facts: Facts, person: str, a: dict[str, Any], now: int) -> bool:
    """Whether the person may see the results now (no cutoff: after_cutoff is as after_due)."""
    show = a["show"]
    if show == "after_due":
        return now >= edge(facts, person, a, 0)
    if show == "after_cutoff":
        return now >= edge(facts, person, a, a["late"]["cutoff"] or 0)
    if show == "after_publication":
        return a["published"] is not None and now >= a["published"] and person not in a["held"]
    return bool(show == "at_once")


def possible_of(a: dict[str, Any]) -> Fraction:
    """The sum of the weights."""
    return sum((Fraction(w) for w in a["items"].values()), Fraction(0))


def line_of(facts: Facts, member: dict[str, Any], now: int, as_student: bool) -> tuple[dict[str, Any], Fraction | None]:
    """The person's line and the percent before rounding."""
    person = member["person"]
    extra = exception(facts, person, None, "bank_days")
    start = left = max(0, facts["bank"] + (int(extra["value"]) if extra else 0))
    cells: dict[str, Any] = {}
    total, possible = Fraction(0), Fraction(0)
    for a in in_bank_order(facts):
        key, hidden = a["key"], as_student and not visible(facts, person, a, now)
        items: dict[str, dict[str, Any]] = {}
        computed: Fraction | None = None
        if excused(facts, person, key):
            state = "excused"
        elif not_assigned(facts, member, a):
            state = "not_assigned"
        else:
            items = items_of(facts, person, a, left, hidden)
            if items:
                state = "graded"
            else:
                state = "missing" if now >= edge(facts, person, a, a["late"]["cutoff"] or 0) else "blank"
            if state != "blank":
                computed = half_up(sum((i["points"] for i in items.values()), Fraction(0)))
        charged = max((i["covered"] for i in items.values()), default=0)
        left -= charged
        if hidden:
            cells[key] = {
                "state": "hidden",
                "points": None,
                "computed": None,
                "override": None,
                "charged": None,
                "items": {},
            }
            continue
        given = next((o["points"] for o in facts["overrides"] if (o["person"], o["assignment"]) == (person, key)), None)
        override = None if given is None or state == "excused" else half_up(Fraction(given))
        points = computed if override is None else override
        if points is not None:
            total, possible = total + points, possible + possible_of(a)
        cells[key] = {
            "state": state,
            "points": None if points is None else two(points),
            "computed": None if computed is None else two(computed),
            "override": None if override is None else two(override),
            "charged": charged,
            "items": {x: {**i, "points": exact(i["points"])} for x, i in items.items()},
        }
    percent = 100 * total / possible if possible else None
    return {
        "cells": cells,
        "total": two(total),
        "possible": two(possible),
        "percent": None if percent is None else two(percent),
        "bank": {"start": start, "left": left},
    }, percent


def gradebook(facts: Facts, now: int) -> dict[str, Any]:
    """All members' lines as staff see them."""
    return {m["person"]: line_of(facts, m, now, False)[0] for m in facts["members"]}


def own(facts: Facts, person: str, now: int) -> dict[str, Any]:
    """The person's line as they see it."""
    member = find_member(facts, person)
    if member is None:
        raise KeyError(person)
    return line_of(facts, member, now, True)[0]


# ---- hand-in, set aside, board, figures (R12-R16)


def hand_in(facts: Facts, person: str, key: str | None, exercise: str, at: int) -> dict[str, Any]:
    """What a hand-in at this instant gets; nothing is changed."""
    member = find_member(facts, person)
    if member and not member["present"]:
        return {"code": "not_member"}
    if member is None or key is None:
        return {"code": "practice"}
    a = next((b for b in facts["assignments"] if b["key"] == key), None)
    if a is None or exercise not in a["items"]:
        return {"code": "unknown"}
    if not_assigned(facts, member, a):
        return {"code": "practice"}
    if at < instant(parse(a["opens"]), facts["zone"]):
        return {"code": "not_open"}
    wall, _ = personal_due(facts, person, key)
    days = lateness(at, wall, facts["zone"], a["grace"])
    if a["late"]["cutoff"] is not None and days > a["late"]["cutoff"]:
        return {"code": "closed"}
    used = sum(t["result"] in ("open", "graded") for t in attempts_of(facts, person, key, exercise))
    extra = exception(facts, person, key, "attempts")
    if a["attempts"] is not None and used >= a["attempts"] + (int(extra["value"]) if extra else 0):
        return {"code": "no_attempts", "used": used}
    return {"code": "taken", "days_late": days, "promise_due": wall}


def may_set_aside(facts: Facts, person: str, key: str, at: int) -> bool:
    """Whether the owner may set aside (or take back) at this instant; membership is not asked."""
    a = find_assignment(facts, key)
    cutoff = a["late"]["cutoff"]
    return cutoff is None or at < edge(facts, person, a, cutoff)


def board(facts: Facts, key: str, exercise: str, now: int) -> list[dict[str, Any]]:
    """The board of an item: the best raw score, then fewer attempts, then earlier."""
    a, rows = find_assignment(facts, key), []
    for m in facts["members"]:
        person = m["person"]
        if not m["present"] or excused(facts, person, key) or not visible(facts, person, a, now):
            continue
        tries = attempts_of(facts, person, key, exercise)
        options = []
        for t, _, score in counting(facts, person, a, exercise):
            upto = [u for u in tries if (u["at"], u["number"]) <= (t["at"], t["number"])]
            used = sum(u["result"] in ("open", "graded") for u in upto)
            options.append((-score, used, t["at"]))
        if options:
            rows.append((min(options), person))
    rows.sort()
    ranks = [r[0] for r in rows]
    return [
        {"rank": ranks.index(o) + 1, "person": person, "score": two(-o[0]), "attempts": o[1], "at": o[2]}
        for o, person in rows
    ]


def figures(values: list[Fraction]) -> dict[str, Any]:
    """Number, mean and median."""
    n, ordered = len(values), sorted(values)
    if not n:
        return {"n": 0, "mean": None, "median": None}
    return {
        "n": n,
        "mean": two(sum(ordered, Fraction(0)) / n),
        "median": two((ordered[(n - 1) // 2] + ordered[n // 2]) / 2),
    }


def statistics(facts: Facts, now: int) -> dict[str, Any]:
    """Figures of the present members, as staff see them."""
    present = [(m, *line_of(facts, m, now, False)) for m in facts["members"] if m["present"]]
    percents = [p for _, _, p in present if p is not None]
    names = sorted({m["section"] for m, _, _ in present if m["section"] is not None})
    sections = {s: figures([p for m, _, p in present if m["section"] == s and p is not None]) for s in names}
    assignments = {}
    for a in in_bank_order(facts):
        shown = [
            Fraction(line["cells"][a["key"]]["points"])
            for _, line, _ in present
            if line["cells"][a["key"]]["points"] is not None
        ]
        top = half_up(possible_of(a))
        assignments[a["key"]] = {
            **figures(shown),
            "full": sum(v >= top for v in shown),
            "zero": sum(v == 0 for v in shown),
        }
    return {
        "percent": {
            **figures(percents),
            "full": sum(p >= 100 for p in percents),
            "zero": sum(p == 0 for p in percents),
        },
        "sections": sections,
        "assignments": assignments,
    }
