"""Several ask at once on Postgres, each in a transaction of its own: what is decided is as if they had come in turn."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from grader.store import migrate
from grader.store.engine import Database
from tests.jobs import postgres
from tests.service.classes.school import School

IRIS, ADA, BEN = "iris@x.edu", "ada@x.edu", "ben@x.edu"
A: dict[str, Any] = {"class_": "A"}
TO_BEN = {"person": BEN, "assignment": "A-1"}
ROUNDS = range(8)
Asked = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def school() -> Iterator[School]:
    with postgres.served() as server, closing(Database(postgres.make_database(server, "races"))) as database:
        migrate.upgrade(database)
        school = School(database)
        school.set_up()
        database.clock = lambda: school.now  # else the server's own
        yield school


def _at_once(school: School, *asked: Asked) -> list[str]:
    """Ask all of it at one moment, and return what each was answered."""
    ready = threading.Barrier(len(asked))

    def ask(one: Asked) -> str:
        by, do, fields = one
        ready.wait()
        return school.code(by, do, **fields)

    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(ask, asked))


def _hand_in(id: str, person: str = BEN, assignment: str = "A-1") -> Asked:
    exercise = {"A-1": "softmax", "A-3": "heads"}[assignment]
    fields = {**A, "person": person, "assignment": assignment, "exercise": exercise, "id": id, "score": 80}
    return person, "hand_in", fields


def test_fifty_hand_ins_at_a_limit_of_three_give_exactly_three(school: School) -> None:
    new = {"items": {"heads": "10"}, "opens": "2026-09-14T00:00", "due": "2026-09-25T23:59", "attempts": 3}
    assert school.code(IRIS, "assign", **A, assignment="A-3", **new) == "ok"
    codes = _at_once(school, *(_hand_in(f"many{number}", assignment="A-3") for number in range(50)))
    assert Counter(codes) == {"ok": 3, "no_attempts": 47}
    assert sum(row[0].startswith("many") for row in school.rows()["submissions"]) == 3


def test_of_two_hand_ins_with_one_id_one_is_refused(school: School) -> None:
    for number in ROUNDS:
        codes = _at_once(school, _hand_in(f"same{number}"), _hand_in(f"same{number}"))
        assert sorted(codes) == ["exists", "ok"]


def test_of_two_overrides_with_the_same_revision_one_is_stale(school: School) -> None:
    for seen in (1 + number for number in ROUNDS):
        given = {**A, **TO_BEN, "reason": "asked", "revision": seen}
        codes = _at_once(school, *((IRIS, "override", {**given, "points": points}) for points in (3, 4)))
        assert sorted(codes) == ["ok", "stale"]


def test_of_two_saves_of_an_assignment_one_is_stale(school: School) -> None:
    for seen in (1 + number for number in ROUNDS):
        given = {**A, "assignment": "A-2", "revision": seen}
        codes = _at_once(school, *((IRIS, "assign_change", {**given, "set": {"grace": one}}) for one in (5, 6)))
        assert sorted(codes) == ["ok", "stale"]


def test_of_two_applies_one_is_refused_and_of_two_regrades_too(school: School) -> None:
    assert school.code(IRIS, "cancel_change", **A, change="c1") == "ok"
    for number in ROUNDS:
        school.ask("admin", "version", exercise="softmax", version=str(1 + number % 2))
        given = {**A, "exercise": "softmax", "reason": "asked"}
        keys = [f"r{number}", f"s{number}"]
        codes = _at_once(school, *((IRIS, "regrade", {**given, "change": key}) for key in keys))
        assert sorted(codes) == ["ok", "open_change"]
        made = keys[codes.index("ok")]
        ends = _at_once(school, *((IRIS, do, {**A, "change": made}) for do in ("apply", "apply", "cancel_change")))
        assert sorted(ends) == ["not_open_change", "not_open_change", "ok"]


def test_of_two_that_make_the_same_one_is_refused(school: School) -> None:
    new = {"items": {"heads": "10"}, "opens": "2026-09-14T00:00", "due": "2026-09-25T23:59"}
    classes = {"name": "C", "zone": "UTC", "bank": 0, "sections": []}
    for number in ROUNDS:
        codes = _at_once(school, *((IRIS, "assign", {**A, "assignment": f"N-{number}", **new}) for _ in range(2)))
        assert sorted(codes) == ["exists", "ok"]
        codes = _at_once(school, *(("admin", "class", {"class_": f"C{number}", **classes}) for _ in range(2)))
        assert sorted(codes) == ["exists", "ok"]


def test_two_classes_that_bring_the_same_new_person_have_one(school: School) -> None:
    for number in ROUNDS:
        roster = f"new{number}@x.edu,New"
        rows = "ada@x.edu,Ada,A1\nben@x.edu,Ben,A1\ncleo@x.edu,Cleo,A2\n"
        here = {**A, "csv": f"email,name,section\n{rows}{roster},A1\n", "confirm": 1}
        there = {"class_": "B", "csv": f"email,name\nbea@x.edu,Bea\n{roster}\n", "confirm": 1}
        codes = _at_once(school, (IRIS, "import", here), ("bo@x.edu", "import", there))
        assert codes == ["ok", "ok"]


def test_a_roster_that_drops_a_student_against_their_hand_in_is_one_order_or_the_other(school: School) -> None:
    rows = "email,name,section\nada@x.edu,Ada,A1\ncleo@x.edu,Cleo,A2\n"
    for number in ROUNDS:
        full = {**A, "csv": f"{rows}ben@x.edu,Ben,A1\n", "confirm": 0}
        school.ask(IRIS, "import", **{**full, "confirm": 1})
        before = school.ask(IRIS, "own", **A, person=BEN)
        assert before["ok"], before
        id = f"drop{number}"
        dropped, handed = _at_once(school, (IRIS, "import", {**A, "csv": rows, "confirm": 1}), _hand_in(id))
        assert dropped == "ok"
        stored = [row for row in school.rows()["submissions"] if row[0] == id]
        gradings = [row for row in school.rows()["gradings"] if row[1] == id]
        assert (handed, len(stored), len(gradings)) in (("ok", 1, 1), ("not_member", 0, 0))
        assert school.code(BEN, "own", **A, person=BEN) == "not_member"
