"""A filled database of each released revision arrives at the newest one with all that was in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import MetaData, Table, insert, select, text
from sqlalchemy.exc import IntegrityError

from grader.service.classes.answers import Classes
from grader.store import classes, migrate, people, standings, submissions
from grader.store.engine import Database
from grader.store.records import Role, SubmissionId, UserId
from grader.store.tables import INITIAL_CLASS, Base
from tests.jobs import postgres

OLD = "1.0.0"
LAST_DIGITS = 0.1 + 0.2
PEOPLE = ("Prof", "Ada", "Ben", "", "Gone", "Newest")  # the fourth is a visitor, the last two are deleted again


def _submission(id: str, user: int, number: int, state: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id, "user_id": user, "class_id": 1, "exercise": "softmax", "number": number, "nth": number,
        "state": state,
        "created": 10.0 + number / 3, "finished": None, "current_grading": None, "exercise_version": "v1",
        "seed": 2**47 + number, "device": "cpu", "source": b"\x00\xff" + bytes([number]), **more,
    }  # fmt: skip


def _grading(id: int, submission: str, score: float, **more: Any) -> dict[str, Any]:
    return {
        "id": id, "submission_id": submission, "reason": "hand-in", "status": "graded", "score": score, "flag": "",
        "incident": "", "created": 20.0 + id, "try_number": 1, "exercise_version": "v1", "grader_version": "g1",
        "torch_version": "2", "seed": 2**47, "device": "cpu", "report": '{"ä": "λ"}', **more,
    }  # fmt: skip


ROWS: Mapping[str, list[dict[str, Any]]] = {
    "users": [
        {"id": number, "name": name, "key": name.lower() or "\nvisitor 1", "password": "h" * bool(name),
         "created": number + 0.5, "renames": number % 2}
        for number, name in enumerate(PEOPLE, start=1)
    ],
    "memberships": [
        {"user_id": 1, "class_id": 1, "role": "instructor", "joined": 1.5, "ended": None, "board": "pseudonym"},
        {"user_id": 2, "class_id": 1, "role": "student", "joined": 2.5, "ended": None, "board": "name"},
        {"user_id": 3, "class_id": 1, "role": "student", "joined": LAST_DIGITS, "ended": 9.5, "board": "nobody"},
    ],
    "sessions": [{"digest": "d" * 64, "user_id": 2, "created": 5.0, "expires": 1e12}],
    "drafts": [{"user_id": 2, "exercise": "softmax", "source": "x = 'ä λ'\n", "saved": 6.125}],
    "submissions": [
        _submission("s1", 2, 1, "done", finished=30.0), _submission("s2", 2, 2, "done", finished=31.0),
        _submission("s3", 2, 3, "open"), _submission("s4", 3, 1, "cancelled", nth=0, finished=32.0),
        _submission("s5", 4, 1, "broken", nth=0, finished=33.0),
    ],
    "gradings": [
        _grading(1, "s1", 40.0), _grading(2, "s2", LAST_DIGITS), _grading(3, "s1", 55.55, reason="regrade", seed=7),
        _grading(4, "s5", 0.0, incident="lost", flag="incident"),
    ],
    "diagnoses": [{"grading_id": 3, "mistake": "late", "title": "Late"}],
    "locations": [{"grading_id": 3, "title": "From line 3 on"}],
    "grading_files": [
        {"exercise": "softmax", "version": "v1", "created": 1.0, "signature": None, "content": bytes(range(256))}
    ],
    "jobs": [
        {"submission_id": "s3", "reason": "hand-in", "queue": "cpu", "priority": 2**40, "ready": 0.0, "tries": 1,
         "faults": 0, "kills": 1, "worker": None, "claim": None, "started": None, "payer": "user 2"}
    ],
    "bests": [{"user_id": 2, "exercise": "softmax", "score": 55.55, "attempts": 1, "reached": 10.0 + 1 / 3, "used": 3}],
    "totals": [{"user_id": 2, "score": 55.55, "attempts": 1, "reached": 10.0 + 1 / 3, "solved": 0}],
    "mistakes": [{"user_id": 2, "exercise": "softmax", "mistake": "late", "title": "Late", "times": 1}],
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres.served() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Give a database of the first release, in which people have worked."""
    url = f"sqlite:///{tmp_path / 'old.sqlite3'}"
    if request.param == "postgres":
        url = postgres.make_database(request.getfixturevalue("server"), request.node.name[:60])
    with closing(Database(url)) as database:
        migrate.upgrade(database, OLD)
        _fill(database)
        yield database


def _fill(database: Database) -> None:
    tables = _tables(database)
    with database.write() as session:
        session.execute(text("UPDATE classes SET code = 'another-code', name = 'Övning' WHERE id = 1"))
        for name, rows in ROWS.items():
            session.execute(insert(tables[name]), rows)
        session.execute(text("UPDATE submissions SET current_grading = 3 WHERE id = 's1'"))
        session.execute(text("UPDATE submissions SET current_grading = 2 WHERE id = 's2'"))
        session.execute(text("UPDATE submissions SET current_grading = 4 WHERE id = 's5'"))
        if not database.embedded:  # as if the rows had been given their numbers
            for name in ("users", "gradings"):
                session.execute(text(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), max(id)) FROM {name}"))
        session.execute(text("DELETE FROM users WHERE name IN ('Gone', 'Newest')"))


def _tables(database: Database) -> Mapping[str, Table]:
    tables = MetaData()
    tables.reflect(database.engine.execution_options(write=False))
    return tables.tables


def _content(database: Database, columns: Mapping[str, list[str]]) -> dict[str, list[tuple[Any, ...]]]:
    tables = _tables(database)
    with database.read() as session:
        return {
            name: sorted(
                (tuple(line) for line in session.execute(select(*(tables[name].c[one] for one in chosen)))), key=repr
            )
            for name, chosen in columns.items()
        }


def test_everything_that_was_stored_is_there_afterwards(old: Database) -> None:
    columns = {name: list(table.c.keys()) for name, table in _tables(old).items() if name != "alembic_version"}
    columns["submissions"].remove("class_id")  # it was 1 in all of them; now an assignment has the class
    before = _content(old, columns)
    migrate.upgrade(old)
    assert migrate.check(old) == migrate.head()
    assert {name for name, rows in before.items() if not rows} <= {"buckets", "processes", "tryouts"}
    assert _content(old, columns) == before


def test_nobody_has_anything_that_was_not_there_before(old: Database) -> None:
    migrate.upgrade(old)
    new = {
        "users": ["email", "administrator"], "memberships": ["section", "name", "number", "lms_id", "sections"],
        "submissions": ["assignment_id", "promised_due", "promised_zone", "aside"], "gradings": ["change_id"],
        "classes": ["id", "key", "zone", "bank", "code", "name"],
    }  # fmt: skip
    assert {name: set(rows) for name, rows in _content(old, new).items()} == {
        "users": {(None, False)}, "memberships": {("", "", "", "", "")}, "submissions": {(None, None, None, False)},
        "gradings": {(None,)}, "classes": {(1, "the-class", "UTC", 0, "another-code", "Övning")},
    }  # fmt: skip


def test_the_tables_are_those_of_the_code_and_hold_their_conditions(old: Database) -> None:
    migrate.upgrade(old)
    with old.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_object": _is_ours})
        assert compare_metadata(context, Base.metadata) == []
    for wrong in (
        "INSERT INTO memberships (user_id, class_id, role, joined) VALUES (4, 1, 'visitor', 1)",
        "INSERT INTO classes (id, name, created, key) VALUES (9, 'x', 1, 'the-class')",
        "UPDATE submissions SET assignment_id = 99 WHERE id = 's1'",
        "UPDATE submissions SET state = 'lost' WHERE id = 's1'",
        "UPDATE gradings SET change_id = 99 WHERE id = 1",
        "UPDATE submissions SET state = 'open' WHERE id = 's1'",  # a second open one
    ):
        with old.write() as session, pytest.raises(IntegrityError):
            session.execute(text(wrong))


def test_what_was_there_goes_on_working(old: Database) -> None:
    """Sign-in, practice, the list of members, and the first class as one of several."""
    migrate.upgrade(old)
    with old.write() as session:
        assert people.class_codes(session)[INITIAL_CLASS] == "another-code"
        known = people.credentials(session, "ada")
        assert known is not None
        assert known.user.role is Role.STUDENT
        assert [one.user.name for one in standings.students(session, INITIAL_CLASS)] == ["Ada"]
        assert standings.best(session, UserId(2)) == {"softmax": 55.55}
        assert submissions.unfinished(session, UserId(2), "softmax") == SubmissionId("s3")
        fresh = people.add(session, "Eve", Role.STUDENT, key="eve", password="h", now=1.0)
        one = classes.find_class(session, "the-class")
    assert fresh.id == len(PEOPLE) + 1, "the id of somebody who was deleted is given to nobody else"
    assert one is not None
    assert (one.id, one.sections) == (1, ())
    grades = Classes(old, clock=lambda: 100.0).do("prof", "grades", {"class": "the-class"})
    assert [each["name"] for each in grades["people"]] == ["Ada", "Eve"]


def _is_ours(_object: Any, name: str | None, kind: str, *_more: Any) -> bool:
    return kind != "table" or not (name or "").startswith("procrastinate")
