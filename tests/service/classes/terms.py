"""A random term as events, and beside each what a second implementation of the rules answers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from grader.service.classes import forms
from grader.service.classes.replay import TimedEvent
from tests.rules import second
from tests.rules.second import Facts, instant, parse, wall_at
from tests.rules.terms import CHANGES, DAY, HOUR, SCORES, near, policy

IRIS = "iris@x.edu"
PEOPLE = [f"p{number}@x.edu" for number in range(1, 6)]
Expected = Mapping[str, Any]  # the fields of an answer that the second implementation gives


@dataclass
class Term:
    """A class `A` that is made up event by event, with what is known of it so far."""

    random: Random
    facts: Facts
    now: int = 0
    events: list[TimedEvent] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)

    def put(self, by: str, do: str, fields: Mapping[str, Any], expected: Expected | None = None) -> None:
        named = dict(fields) if do == "aside" else {"class": "A", **fields}
        self.events.append(TimedEvent(self.now / 1000, by, do, named))
        self.expected.append({"ok": True} if expected is None else expected)

    def ask(self) -> None:
        """Ask everything that the second implementation can answer."""
        present = [one for one in self.facts["members"] if one["present"]]
        lines = second.gradebook(self.facts, self.now)
        people = [{"person": one["person"], **lines[one["person"]]} for one in sorted(present, key=_person)]
        self.put(IRIS, "grades", {}, {"ok": True, "people": people, "statistics": _figures(self.facts, self.now)})
        for person in (one["person"] for one in present):
            own = {"person": person, **second.own(self.facts, person, self.now)}
            self.put(person, "own", {"person": person}, {"ok": True, "own": own})
        for one in self.facts["assignments"]:
            for exercise in one["items"]:
                rows = [
                    {**row, "at": _moment(row["at"])}
                    for row in second.board(self.facts, one["key"], exercise, self.now)
                ]
                self.put(IRIS, "board", {"assignment": one["key"], "exercise": exercise}, {"ok": True, "rows": rows})


def random_term(seed: int, acts: int = 60) -> Term:
    """Return a term of five people, three assignments, and so many acts of theirs and of their instructor."""
    random = Random(seed)
    zone = random.choice(list(CHANGES))
    day = random.choice(CHANGES[zone])
    assignments = [_assignment(random, key, day, zone) for key in ("A-10", "A-2", "A-1")]
    facts: Facts = {
        "zone": zone, "bank": random.randint(0, 4), "assignments": assignments, "members": [], "exceptions": [],
        "overrides": [], "attempts": [],
    }  # fmt: skip
    term = Term(random, facts)
    dues = [instant(parse(one["due"]), zone) for one in assignments]
    term.now = min(dues) - 8 * DAY
    _begin(term)
    span = max(dues) + 6 * DAY - term.now
    moments = [term.now + random.randrange(span) for _ in range(acts // 2)]
    moments += [_edge(term, random.choice(assignments)) for _ in range(acts - acts // 2)]
    for number, moment in enumerate(sorted(one for one in moments if one > term.now)):
        term.now = moment
        random.choices([_hand_in, _act, _aside], [6, 4, 1])[0](term)
        if number % 12 == 11:
            term.ask()
    term.now += 9 * DAY
    term.ask()
    return term


def _begin(term: Term) -> None:
    facts = term.facts
    classes = {"name": "A", "zone": facts["zone"], "bank": facts["bank"], "sections": ["s1", "s2"]}
    term.put("admin", "class", classes)
    term.put("admin", "staff", {"person": IRIS, "name": "Iris", "role": "instructor"})
    for person in PEOPLE[:-1]:
        section = term.random.choice(["s1", "s2"])
        facts["members"].append({"person": person, "section": section, "joined": term.now, "present": True})
    term.put(IRIS, "import", {"csv": _csv(facts)}, {"ok": True, "new": 4})
    for one in facts["assignments"]:
        names = ("items", "opens", "due", "section_due", "grace", "late", "count", "attempts", "show")
        term.put(IRIS, "assign", {"assignment": one["key"], **{name: copy.deepcopy(one[name]) for name in names}})


def _csv(facts: Facts) -> str:
    return "email,name,section\n" + "".join(
        f"{one['person']},{one['person']},{one['section']}\n" for one in facts["members"] if one["present"]
    )


def _assignment(random: Random, key: str, day: str, zone: str) -> dict[str, Any]:
    due = near(random, day, zone, 2)
    sections = {name: near(random, day, zone, 3) for name in ("s1", "s2") if random.random() < 0.35}
    opens = wall_at(instant(parse(min([due, *sections.values()])) - timedelta(days=3), zone), zone)
    items = {f"{key}-e{one}": random.choice(["0", "1", "4.5", "5.55", "3.33"]) for one in range(random.randint(1, 2))}
    return {
        "key": key, "items": items, "opens": opens, "due": due, "section_due": sections,
        "grace": random.choice([0, 5, 60]), "late": policy(random), "count": random.choice(["best", "last"]),
        "attempts": random.choice([None, 1, 2, 3]), "published": None, "held": [],
        "show": random.choice(["at_once", "at_once", "after_due", "after_cutoff", "after_publication", "never"]),
    }  # fmt: skip


def _edge(term: Term, one: dict[str, Any]) -> int:
    """Return a moment at, or next to, the end of a day of an assignment."""
    random, zone = term.random, term.facts["zone"]
    wall = random.choice([one["due"], *one["section_due"].values()])
    edge = second.boundary(wall, zone, random.choice([0, 0, 1, 2, 3]), one["grace"])
    return edge + random.choice([-60_000, -1, 0, 1, -HOUR, HOUR])


def _hand_in(term: Term) -> None:
    facts, random = term.facts, term.random
    person, one = random.choice(PEOPLE), random.choice(facts["assignments"])
    exercise, id = random.choice(list(one["items"])), f"t{len(term.events)}"
    word = random.choices([None, "ungradable", "ours", "rejected", "cancelled"], [16, 1, 1, 1, 1])[0]
    given = {"score": random.choice(SCORES)} if word is None else {"status": word}
    told = second.hand_in(facts, person, one["key"], exercise, term.now)
    expected: dict[str, Any] = {"ok": False, **told}
    if second.find_member(facts, person) is None:
        expected = {"ok": False, "code": "unknown"}
    elif told["code"] == "practice":
        expected = {"ok": True, "practice": True}
    elif told["code"] == "taken":
        expected = {"ok": True, "practice": False, "days_late": told["days_late"]}
        result = {None: "graded", "cancelled": "cancelled"}.get(word, "free")
        facts["attempts"].append({
            "id": id, "person": person, "assignment": one["key"], "exercise": exercise, "at": term.now, "aside": False,
            "number": len(facts["attempts"]) + 1, "promise_due": told["promise_due"], "promise_zone": facts["zone"],
            "result": result, "score": given.get("score"),
        })  # fmt: skip
    term.put(
        person,
        "hand_in",
        {"person": person, "assignment": one["key"], "exercise": exercise, "id": id, **given},
        expected,
    )


def _aside(term: Term) -> None:
    attempts = [one for one in term.facts["attempts"] if second.find_member(term.facts, one["person"])["present"]]
    if not attempts:
        return
    one = term.random.choice(attempts)
    may = second.may_set_aside(term.facts, one["person"], one["assignment"], term.now)
    fields = {"person": one["person"], "id": one["id"], "undo": one["aside"]}
    one["aside"] = one["aside"] != may
    term.put(one["person"], "aside", fields, {"ok": True} if may else {"ok": False, "code": "closed"})


def _act(term: Term) -> None:
    """Let the instructor do something; each with its preview, where there is one."""
    if len(term.facts["members"]) < len(PEOPLE) and term.random.random() < 0.2:
        _join(term)
        return
    acts: list[Callable[[Term], tuple[str, dict[str, Any], Facts]]] = [
        _grant, _grant, _grant, _override, _move, _presence, _settings, _change, _change
    ]  # fmt: skip
    do, fields, after = term.random.choice(acts)(term)
    preview = _preview(term.facts, after, term.now)
    term.put(IRIS, "whatif", {"change": {"do": do, **fields}}, {"ok": True, **preview})
    term.put(IRIS, do, fields)
    term.facts = after
    if term.random.random() < 0.2:
        _publish(term)


def _join(term: Term) -> None:
    term.facts["members"].append({"person": PEOPLE[-1], "section": "s1", "joined": term.now, "present": True})
    term.put(IRIS, "import", {"csv": _csv(term.facts)}, {"ok": True, "new": 1, "left": 0})


def _publish(term: Term) -> None:
    one = term.random.choice(term.facts["assignments"])
    one["held"] = [each["person"] for each in term.facts["members"] if term.random.random() < 0.3]
    one["published"] = term.now if one["published"] is None else one["published"]
    term.put(IRIS, "publish", {"assignment": one["key"], "hold": list(one["held"])})


def _grant(term: Term) -> tuple[str, dict[str, Any], Facts]:
    after, random = copy.deepcopy(term.facts), term.random
    person, one = random.choice(after["members"])["person"], random.choice(after["assignments"])
    what = random.choice(["due", "due", "attempts", "excused", "standing_days", "bank_days"])
    key = None if what.endswith("_days") else one["key"]
    wall = wall_at(instant(parse(one["due"]) + timedelta(days=random.randint(-1, 4)), after["zone"]), after["zone"])
    value = {"due": wall, "attempts": 1, "excused": True}.get(what, random.randint(0, 3))
    value = None if random.random() < 0.25 else value
    others = [
        each
        for each in after["exceptions"]
        if (each["person"], each["assignment"], each["field"]) != (person, key, what)
    ]
    row = {"person": person, "assignment": key, "field": what, "value": value, "at": term.now}
    after["exceptions"] = others if value is None else [*others, row]
    if what == "excused" and value:
        after["overrides"] = [
            each for each in after["overrides"] if (each["person"], each["assignment"]) != (person, key)
        ]
    return "except", {"person": person, "assignment": key, "field": what, "value": value, "reason": "ill"}, after


def _override(term: Term) -> tuple[str, dict[str, Any], Facts]:
    after, random = copy.deepcopy(term.facts), term.random
    person, one = random.choice(after["members"])["person"], random.choice(after["assignments"])
    most, cell = int(second.possible_of(one) * 100), (person, one["key"])
    points = None if random.random() < 0.25 else f"{random.randint(0, most) / 100:.2f}"
    after["overrides"] = [each for each in after["overrides"] if (each["person"], each["assignment"]) != cell]
    if points is not None:
        after["overrides"].append({"person": person, "assignment": one["key"], "points": points})
        after["exceptions"] = [
            each
            for each in after["exceptions"]
            if (each["person"], each["assignment"], each["field"]) != (*cell, "excused")
        ]
    return "override", {"person": person, "assignment": one["key"], "points": points, "reason": "argued"}, after


def _move(term: Term) -> tuple[str, dict[str, Any], Facts]:
    after = copy.deepcopy(term.facts)
    one = term.random.choice(after["members"])
    one["section"] = "s2" if one["section"] == "s1" else "s1"
    return "member", {"person": one["person"], "section": one["section"]}, after


def _presence(term: Term) -> tuple[str, dict[str, Any], Facts]:
    after = copy.deepcopy(term.facts)
    one = term.random.choice(after["members"])
    one["present"] = not one["present"]
    return "member", {"person": one["person"], "act": "back" if one["present"] else "leave"}, after


def _settings(term: Term) -> tuple[str, dict[str, Any], Facts]:
    after, random = copy.deepcopy(term.facts), term.random
    new: dict[str, Any] = {"bank": random.randint(0, 5)}
    if random.random() < 0.4:
        new["zone"] = random.choice(list(CHANGES))
    after.update(new)
    return "class_change", {"set": new}, after


def _change(term: Term) -> tuple[str, dict[str, Any], Facts]:
    after, random = copy.deepcopy(term.facts), term.random
    one, zone = random.choice(after["assignments"]), after["zone"]
    due = wall_at(instant(parse(one["due"]) + timedelta(days=random.randint(0, 2)), zone), zone)
    late = policy(random)
    name = random.choice(list(late))
    new = random.choice([
        {"due": due}, {"grace": random.choice([0, 15, 120])}, {"late": {name: late[name]}}, {"attempts": None},
        {"attempts": 2}, {"count": "last"}, {"show": "after_due"}, {"section_due": {}},
        {"items": {exercise: random.choice(["2", "7.77"]) for exercise in one["items"]}},
    ])  # fmt: skip
    held = [each for each in after["overrides"] if each["assignment"] == one["key"]]
    if "items" in new and held:  # what is held may then be more than is possible
        new = {"grace": 0}
    one.update({**new, "late": {**one["late"], **new.get("late", {})}})
    return "assign_change", {"assignment": one["key"], "set": copy.deepcopy(new)}, after


def _preview(before: Facts, after: Facts, now: int) -> Expected:
    old, new = second.gradebook(before, now), second.gradebook(after, now)
    there = [{one["person"] for one in each["members"] if one["present"]} for each in (before, after)]
    cells, banks = [], []
    for person in sorted(there[0] & there[1]):
        for one in second.in_bank_order(before):
            was, will = (each[person]["cells"][one["key"]] for each in (old, new))
            if any(was[name] != will[name] for name in ("points", "computed", "state")):
                held = will["override"] is not None and was["computed"] != will["computed"]
                cells.append({
                    "person": person, "assignment": one["key"], "before": was["points"], "after": will["points"],
                    "held": held,
                })  # fmt: skip
        left = [each[person]["bank"]["left"] for each in (old, new)]
        if left[0] != left[1]:
            banks.append({"person": person, "before": left[0], "after": left[1]})
    return {"cells": sorted(cells, key=_cell), "banks": banks}


def _figures(facts: Facts, now: int) -> dict[str, Any]:
    return {name: told for name, told in second.statistics(facts, now).items() if name != "sections"}


def _person(one: Mapping[str, Any]) -> str:
    return str(one["person"])


def _cell(one: Mapping[str, Any]) -> tuple[str, str]:
    return one["person"], one["assignment"]


def _moment(at: int) -> str:
    return forms.moment(at)


def differences(answers: Iterator[Mapping[str, Any]], term: Term) -> list[tuple[int, Any, Any]]:
    """Return the answers that lack something of what is expected, by their number."""
    return [
        (number, expected, answer)
        for number, (answer, expected) in enumerate(zip(answers, term.expected, strict=True), start=1)
        if not holds(_in_order(answer), expected)
    ]


def _in_order(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**answer, "cells": sorted(answer["cells"], key=_cell)} if "cells" in answer else answer


def holds(answer: Any, expected: Any) -> bool:
    """Return whether an answer has all that is expected; it may have more fields everywhere."""
    if isinstance(expected, Mapping):
        return isinstance(answer, Mapping) and all(
            name in answer and holds(answer[name], value) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return len(answer) == len(expected) and all(map(holds, answer, expected))
    return bool(answer == expected)
