"""Random terms that stress the rules.

random_term(seed) gives a list of (facts, now) snapshots of ONE term, in the order of time: each is
a deep copy of all that was known at `now`. Hand-ins went through second.hand_in at their moment.
"""

from __future__ import annotations

import copy
import heapq
from datetime import timedelta
from random import Random
from typing import Any

from tests.rules import second
from tests.rules.second import Facts, instant, parse, wall_at

CHANGES = {
    "America/New_York": ["2026-11-01", "2027-03-14"],
    "Europe/Berlin": ["2026-10-25", "2027-03-28"],
    "Australia/Lord_Howe": ["2026-10-04", "2027-04-04"],
    "Pacific/Apia": ["2026-09-27", "2027-04-04"],
    "America/Sao_Paulo": ["2026-11-01"],
    "Asia/Kathmandu": ["2026-10-25"],
    "UTC": ["2026-11-01"],
}
HOUR, DAY = 3_600_000, 86_400_000
SCORES = ["0.00", "0.01", "33.33", "50.00", "66.67", "87.65", "99.99", "100.00", "100.00"]


def near(r: Random, day: str, zone: str, spread: int) -> str:
    """A due time near a day; a form takes no skipped minute, so it is moved to one that exists."""
    date = parse(day + "T00:00") + timedelta(days=r.randint(-spread, spread))
    minutes = r.choice([23 * 60 + 59, r.randint(0, 239), r.choice([0, 60, 90, 119, 120, 150, 179, 180])])
    return wall_at(instant(date + timedelta(minutes=minutes), zone), zone)


def policy(r: Random) -> dict[str, Any]:
    """A late policy."""
    return {
        "per_day": r.choice(["0", "0.0333", "0.1", "0.125", "0.25", "0.5", "1"]),
        "at_most": r.choice(["0.2", "0.3333", "0.5", "0.75", "1"]),
        "of": r.choice(["earned", "possible"]),
        "bank_max": r.randint(0, 5),
        "cutoff": r.choice([None, 0, 1, 3, 3]),
    }


def put(facts: Facts, row: dict[str, Any]) -> None:
    """Add an exception; it replaces the former of its kind."""
    mark = (row["person"], row["assignment"], row["field"])
    facts["exceptions"] = [e for e in facts["exceptions"] if (e["person"], e["assignment"], e["field"]) != mark]
    facts["exceptions"].append(row)


def staff(r: Random, facts: Facts, now: int) -> str | None:  # noqa: C901 - one case for each act
    """One act of the staff; gives the person whose dates may have moved."""
    if not facts["members"]:
        return None
    m, a = r.choice(facts["members"]), r.choice(facts["assignments"])
    person, key, zone = m["person"], a["key"], facts["zone"]
    act = r.choice(
        [
            "due",
            "due",
            "standing_days",
            "standing_days",
            "bank_days",
            "attempts",
            "excused",
            "unexcuse",
            "override",
            "override",
            "section",
            "zone",
            "class_due",
            "present",
            "publish",
            "withdraw",
            "cancel",
            "limit",
            "policy",
        ]
    )
    row = {"person": person, "assignment": key, "field": act, "at": now}
    if act == "due":
        wall = parse(a["due"]) + timedelta(days=r.randint(-2, 4), minutes=r.choice([0, 0, -37, 151]))
        put(facts, {**row, "value": wall_at(instant(wall, zone), zone)})
    elif act in ("standing_days", "bank_days"):
        put(facts, {**row, "assignment": None, "value": r.randint(0, 3)})
    elif act == "attempts":
        put(facts, {**row, "value": r.randint(1, 2)})
    elif act == "excused":
        put(facts, {**row, "value": True})
        facts["overrides"] = [o for o in facts["overrides"] if (o["person"], o["assignment"]) != (person, key)]
    elif act == "override":
        top = int(second.possible_of(a) * 100)
        facts["overrides"] = [o for o in facts["overrides"] if (o["person"], o["assignment"]) != (person, key)]
        cents = r.choice([0, top, r.randint(0, top)])
        facts["overrides"].append({"person": person, "assignment": key, "points": f"{cents // 100}.{cents % 100:02d}"})
    elif act == "section":
        m["section"] = r.choice(["s1", "s2", None])
    elif act == "zone" and r.random() < 0.4:
        facts["zone"] = r.choice(list(CHANGES))
    elif act == "class_due" and r.random() < 0.6:
        wall = parse(a["due"]) + timedelta(days=r.randint(-2, 2), minutes=r.choice([0, 0, 61]))
        a["due"] = wall_at(instant(wall, zone), zone)
    elif act == "present":
        m["present"] = not m["present"]
    elif act == "publish":
        a["published"] = None if a["published"] is not None and r.random() < 0.2 else now
        a["held"] = [x["person"] for x in facts["members"] if r.random() < 0.2]
    elif act == "withdraw" and facts["exceptions"]:
        facts["exceptions"].remove(r.choice(facts["exceptions"]))
    elif act == "cancel":
        for t in [t for t in facts["attempts"] if t["result"] == "open"][:1]:
            t["result"] = "cancelled"
    elif act == "limit":
        a["attempts"] = r.choice([None, 1, 2, 3])
    elif act == "policy" and r.random() < 0.4:
        a["late"] = policy(r)
    if act in ("override", "unexcuse"):
        facts["exceptions"] = [
            e for e in facts["exceptions"] if (e["person"], e["assignment"], e["field"]) != (person, key, "excused")
        ]
    return person


def random_term(seed: int) -> list[tuple[Facts, int]]:  # noqa: C901 - one case for each event
    """Snapshots of one random term."""
    r = Random(seed)
    zone = r.choice(list(CHANGES))
    day = r.choice(CHANGES[zone])
    keys = r.choice([["A-1", "A-2", "A-3", "A-4"], ["A-10", "A-2", "A-1", "B-1"]])
    same, assignments = near(r, day, zone, 1), []
    for i, key in enumerate(keys):
        due = same if i < 2 and r.random() < 0.6 else near(r, day, zone, 3)
        sections = {s: near(r, day, zone, 4) for s in ("s1", "s2") if r.random() < 0.35}
        first = min([due, *sections.values()])
        opens = parse(first) - timedelta(days=r.randint(1, 5))
        assignments.append(
            {
                "key": key,
                "opens": wall_at(instant(opens, zone), zone),
                "due": due,
                "section_due": sections,
                "items": {
                    f"e{i}{j}": r.choice(["0", "1", "4.5", "5.55", "10", "3.33"]) for j in range(r.randint(1, 3))
                },
                "grace": r.choice([0, 0, 5, 15, 60, 120]),
                "late": policy(r),
                "count": r.choice(["best", "best", "last"]),
                "attempts": r.choice([None, None, 1, 2, 3]),
                "published": None,
                "held": [],
                "show": r.choice(["at_once", "at_once", "after_due", "after_cutoff", "after_publication", "never"]),
            }
        )
    facts: Facts = {
        "zone": zone,
        "bank": r.randint(0, 5),
        "assignments": assignments,
        "members": [],
        "exceptions": [],
        "overrides": [],
        "attempts": [],
    }
    dues = [instant(parse(a["due"]), zone) for a in assignments]
    start, end = min(dues) - 6 * DAY, max(dues) + 8 * DAY
    people = [f"p{i}" for i in range(1, 7)]
    queue: list[tuple[int, int, str, Any]] = []
    count = 0

    def push(at: int, kind: str, what: Any = None) -> None:
        nonlocal count
        count += 1
        heapq.heappush(queue, (at, count, kind, what))

    def moment(person: str | None, a: dict[str, Any]) -> int:
        """An instant at or next to a boundary of the person (or of the class)."""
        k = r.choice([0, 0, 0, 1, 1, 2, 3, 4])
        if person is None or second.find_member(facts, person) is None:
            at = second.boundary(a["due"], facts["zone"], k, a["grace"])
        else:
            at = second.edge(facts, person, a, k)
        shift = r.choice([-1, 0, 1, -1, 0, 1, -60_000, -60_001, -HOUR, HOUR, r.randint(-2 * DAY, DAY)])
        return at + shift

    for person in people:
        a = r.choice(assignments)
        late = r.random() < 0.3
        push(
            second.boundary(a["due"], zone, 0, a["grace"]) + r.choice([-1, 0, 1, HOUR]) if late else start,
            "join",
            person,
        )
    for a in assignments:
        push(instant(parse(a["opens"]), zone) - r.choice([0, 1]), "try", (r.choice(people), a))
        for person in people:
            for _ in range(r.randint(0, 4)):
                push(moment(person, a), "try", (person, a))
        push(moment(None, a), "tie", (r.sample(people, 2), a))
        push(moment(None, a), "snap")
    for _ in range(r.randint(8, 24)):
        push(r.randint(start, end) if r.random() < 0.6 else moment(None, r.choice(assignments)), "staff")
    for _ in range(6):
        push(r.randint(start, end), "aside")
    push(end + 3 * DAY, "end")
    shots: list[tuple[Facts, int]] = []

    def attempt(person: str, a: dict[str, Any], exercise: str, now: int, score: str) -> None:
        """Hand in; if it is taken, keep it open and grade it later."""
        got = second.hand_in(facts, person, a["key"], exercise, now)
        if got["code"] != "taken":
            return
        mine = second.attempts_of(facts, person, a["key"], exercise)
        t = {
            "id": f"t{len(facts['attempts']) + 1}",
            "person": person,
            "assignment": a["key"],
            "exercise": exercise,
            "number": len(mine) + 1,
            "at": now,
            "promise_due": got["promise_due"],
            "promise_zone": facts["zone"],
            "result": "open",
            "score": None,
            "aside": False,
        }
        facts["attempts"].append(t)
        if r.random() < 0.95:
            push(now + r.choice([0, 1, 60_000, HOUR, DAY]), "grade", (t, score))

    while queue:
        now, _, kind, what = heapq.heappop(queue)
        if kind == "join":
            facts["members"].append(
                {"person": what, "section": r.choice(["s1", "s2", None]), "joined": now, "present": True}
            )
        elif kind == "try":
            attempt(what[0], what[1], r.choice(list(what[1]["items"])), now, r.choice(SCORES))
        elif kind == "tie":
            exercise, score = r.choice(list(what[1]["items"])), r.choice(SCORES)
            for person in what[0]:
                attempt(person, what[1], exercise, now, score)
        elif kind == "grade":
            if what[0]["result"] == "open":
                free = r.random() < 0.12
                what[0].update(result="free" if free else "graded", score=None if free else what[1])
        elif kind == "aside" and facts["attempts"]:
            t = r.choice(facts["attempts"])
            if second.may_set_aside(facts, t["person"], t["assignment"], now):
                t["aside"] = not t["aside"]
        elif kind == "staff":
            person = staff(r, facts, now)
            for a in assignments:
                at = moment(person, a)
                if person and at > now and at < end and r.random() < 0.4:
                    push(at, "try", (person, a))
            if r.random() < 0.2:
                push(now, "snap")
        elif kind in ("snap", "end"):
            shots.append((copy.deepcopy(facts), now))
    return shots
