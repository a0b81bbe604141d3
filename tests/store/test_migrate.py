"""The migrations: what they build, and what they leave in place."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import event, text

from grader.errors import DatabaseUnusable, GraderFault
from grader.judge.report import Report
from grader.store import accounts, boards, migrate, roster, standings, submissions
from grader.store.engine import Database
from grader.store.records import BoardName, Role, State, Submission, SubmissionId, User, UserId
from grader.store.roster import CommonMistake
from grader.store.tables import Base

_HEAD = '{"exercise":"softmax","status":"graded","score":50.0,"seed":7,"device":"cpu","seconds":0.1,"checks":[]'
_LATE = '[{"mistake":"late","title":"Late","message":"m","certain":true}]'
_BEGINS = '{"step":"weights","title":"Your results become wrong at line 3","message":"m","line":3}'
_BODIES = {
    "done": f'{_HEAD},"diagnosis":{_LATE},"location":{_BEGINS}}}',
    "broken": f'{_HEAD},"diagnosis":{_LATE},"incident":"ab12"}}',
}
_COLUMNS = """INSERT INTO submissions (id, user_id, exercise, exercise_version, source, seed, device, torch_version,
    state, number, created, finished, queue, priority, ready, tries, faults, worker, claim, started)"""
_FILL = f"""
INSERT INTO users VALUES (1, 'Ada', 'ada', 'hash', 'student', 1.0);
INSERT INTO users VALUES (2, 'Prof', 'prof', 'hash', 'instructor', 1.0);
{_COLUMNS} VALUES ('done', 1, 'softmax', 'v1', x'78', 7, 'cpu', '2.13', 'done', 1, 10.0, 11.0, 'cpu', 0, 1.0, 1, 0,
    NULL, 'c', 1.0);
{_COLUMNS} VALUES ('broken', 1, 'softmax', 'v1', x'78', 7, 'cpu', '2.13', 'broken', 2, 20.0, 21.0, 'cpu', 0, 1.0, 1,
    0, NULL, 'c', 1.0);
{_COLUMNS} VALUES ('gone', 1, 'softmax', 'v1', x'78', 7, 'cpu', '2.13', 'cancelled', 3, 30.0, 31.0, 'cpu', 0, 1.0, 0,
    0, NULL, NULL, NULL);
{_COLUMNS} VALUES ('waits', 1, 'softmax', 'v1', x'78', 7, 'cpu', '2.13', 'queued', 4, 40.0, NULL, 'cpu', 5, 1.0, 1, 0,
    NULL, NULL, NULL);
INSERT INTO bests VALUES (1, 'softmax', 50.0, 1, 90.0, 1);
INSERT INTO totals VALUES (1, 50.0, 1, 90.0, 0)"""
NEXT = '''"""A later change."""
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = "9999", "{newest}", None, None

def upgrade():
    {change}
'''
NEWEST = max(path.name for path in migrate.SCRIPTS.glob("versions/*.py"))[:4]
REBUILD_USERS = """with op.batch_alter_table("users", recreate="always") as batch:
        batch.add_column(sa.Column("locale", sa.String(8), nullable=True))"""


@pytest.fixture
def scripts(tmp_path: Path) -> Callable[[str], Path]:
    """Give a function that makes a copy of the migrations with one more."""

    def extend(change: str) -> Path:
        copy = tmp_path / "migrations"
        shutil.copytree(migrate.SCRIPTS, copy, ignore=shutil.ignore_patterns("__pycache__"))
        later = copy / "versions" / "9999_later.py"
        later.write_text(NEXT.format(change=change, newest=NEWEST))
        return copy

    return extend


@pytest.fixture
def kept(database: Database, person: Callable[..., User], draft: Callable[..., Submission]) -> Submission:
    """Give a submission that is in the database before the migration."""
    ada = person("Ada")
    with database.write() as session:
        return submissions.add(session, draft(ada, "s1"))


def test_the_migrations_build_exactly_the_tables_of_the_code(database: Database) -> None:
    """Nothing that the mapped classes declare is missing from a migrated database, and nothing is left over."""
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})

        assert compare_metadata(context, Base.metadata) == []


def test_checks_and_partial_indexes_are_as_declared(database: Database, tmp_path: Path) -> None:
    """What Alembic does not compare: the CHECK clauses and the condition of the unique index, by their SQL."""
    declared = Database(f"sqlite:///{tmp_path / 'declared.sqlite3'}")
    Base.metadata.create_all(declared.engine)
    query = text("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'alembic%' AND sql IS NOT NULL ORDER BY name")

    def schema(database: Database) -> dict[str, list[str]]:
        with database.read() as session:
            return {name: sorted(re.sub('[",]', " ", sql).split()) for name, sql in session.execute(query)}

    assert schema(database) == schema(declared)
    declared.close()


def test_migrating_twice_changes_nothing(database: Database, kept: Submission) -> None:
    """A start finds the database as it left it."""
    migrate.upgrade(database)

    assert migrate.current(database) == NEWEST
    with database.read() as session:
        assert submissions.owner(session, kept.id) == kept.user


def test_a_filled_database_of_the_first_version_is_carried_over(tmp_path: Path) -> None:
    """People, sources, reports, mistakes and the queue are there afterwards; who was earlier is who handed in first."""
    older = Database(f"sqlite:///{tmp_path / 'older.sqlite3'}")
    migrate.upgrade(older, "0001")
    with older.write() as session:
        for statement in _FILL.strip().split(";"):
            session.execute(text(statement))
        for id, body in _BODIES.items():
            row = {"id": id, "body": body}
            session.execute(text("INSERT INTO reports VALUES (:id, 2, 'graded', 50.0, 90.0, :body)"), row)

    migrate.upgrade(older)

    with older.read() as session:
        lines = submissions.attempts(session, UserId(1))
        kept = submissions.get(session, SubmissionId("done"))
        board, common = boards.leaderboard(session, "softmax"), roster.common_mistakes(session)
        queued = session.execute(text("SELECT submission_id, queue, tries, kills FROM jobs")).all()
        choices = [boards.choice(session, UserId(id)) for id in (1, 2)]
        people = [accounts.user(session, UserId(id)) for id in (1, 2)]
        before = [(line.user, line.score, line.attempts, line.reached) for line in board]
    with older.write() as session:
        standings.rebuild(session)
        again = boards.leaderboard(session, "softmax"), roster.common_mistakes(session)
    older.close()

    assert {(line.id, line.state, line.score, line.nth) for line in lines} == {
        ("done", State.DONE, 50.0, 1), ("broken", State.BROKEN, 50.0, 0), ("gone", State.CANCELLED, None, 0),
        ("waits", State.QUEUED, None, 2),
    }  # fmt: skip
    assert kept is not None
    assert (kept.raw, kept.seed, kept.report) == (b"x", 7, Report.from_json(_BODIES["done"]))
    assert queued == [("waits", "cpu", 1, 0)]
    assert people == [User(UserId(1), "Ada", Role.STUDENT), User(UserId(2), "Prof", Role.INSTRUCTOR)]
    assert choices == [BoardName.PSEUDONYM, None]
    assert before == [(1, 50.0, 1, 10.0)]
    assert {line.id: (line.mistakes, line.begins) for line in lines} == {
        "done": (("Late",), "Your results become wrong at line 3"), "broken": (("Late",), ""),
        "gone": ((), ""), "waits": ((), ""),
    }  # fmt: skip
    assert common == [CommonMistake("softmax", "late", "Late", students=1, times=1)]
    assert again == (board, common)


def test_rebuilding_a_parent_table_keeps_its_children(
    database: Database, kept: Submission, scripts: Callable[[str], Path]
) -> None:
    """A table that others cascade from may be rebuilt: the submissions of its people stay."""
    migrate.upgrade(database, scripts=scripts(REBUILD_USERS))

    with database.read() as session:
        assert submissions.owner(session, SubmissionId("s1")) == kept.user
        assert session.execute(text("PRAGMA foreign_keys")).scalar() == 1


def test_the_file_is_copied_before_it_is_changed(
    database: Database, kept: Submission, scripts: Callable[[str], Path], tmp_path: Path
) -> None:
    """A whole copy of the former state lies beside the file."""
    migrate.upgrade(database, scripts=scripts(REBUILD_USERS))

    with sqlite3.connect(tmp_path / f"class.sqlite3.before-{NEWEST}") as copy:
        found = copy.execute("SELECT id FROM submissions").fetchall()
    copy.close()
    assert found == [("s1",)]


def test_a_migration_that_orphans_rows_is_undone(
    database: Database, kept: Submission, scripts: Callable[[str], Path]
) -> None:
    """Rows that point at nothing stop the migration, and everything is as before."""
    change = "op.execute('DELETE FROM users'); op.execute('CREATE TABLE later (id INTEGER)')"
    with pytest.raises(GraderFault, match="2 rows that point at nothing"):
        migrate.upgrade(database, scripts=scripts(change))

    assert migrate.current(database) == NEWEST
    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM users")).scalar() == 1
        assert session.execute(text("SELECT count(*) FROM sqlite_master WHERE name = 'later'")).scalar() == 0


def test_the_id_of_a_deleted_person_is_given_to_nobody_else(database: Database, person: Callable[..., User]) -> None:
    """Whoever still holds it, in a list or a link, must not reach another person by it."""
    ids = []
    for name in ("Ada", "Bea", "Cleo"):
        ids.append(person(name).id)
        with database.write() as session:
            accounts.delete_person(session, ids[-1])

    assert ids == [1, 2, 3]


def test_ids_go_on_after_those_that_were_given_before_the_migration(tmp_path: Path) -> None:
    """The people who are there keep theirs, and the next one gets another."""
    older = Database(f"sqlite:///{tmp_path / 'older.sqlite3'}")
    migrate.upgrade(older, "0010")
    with older.write() as session:
        session.execute(text("INSERT INTO users (id, name, key, password, created) VALUES (7, 'a', 'a', 'h', 1)"))
        session.execute(text("INSERT INTO memberships (user_id, class_id, role, joined) VALUES (7, 1, 'student', 1)"))
    migrate.upgrade(older)
    with older.write() as session:
        kept = accounts.user(session, UserId(7))
        accounts.delete_person(session, UserId(7))
        fresh = accounts.add(session, "Eve", Role.STUDENT, key="eve", password="hash", now=1.0)
    older.close()

    assert kept == User(UserId(7), "a", Role.STUDENT)
    assert fresh.id == 8


def test_a_full_disk_at_the_start_is_told_in_one_line(tmp_path: Path) -> None:
    """Which database, and why; with room it is made as usual."""
    database = Database(f"sqlite:///{tmp_path / 'new.sqlite3'}")
    few = "PRAGMA max_page_count=4"  # what SQLite says then is what it says of a full disk
    event.listen(database.engine, "connect", lambda connection, _record: connection.execute(few))
    with pytest.raises(DatabaseUnusable, match=r"new\.sqlite3 cannot be used: database or disk is full"):
        migrate.upgrade(database)
    database.close()

    database = Database(f"sqlite:///{tmp_path / 'new.sqlite3'}")
    migrate.upgrade(database)
    assert migrate.check(database)
    database.close()


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    """A wrong address put our tables beside its own."""
    file = tmp_path / "other.sqlite3"
    with sqlite3.connect(file) as raw:
        raw.execute("CREATE TABLE places (url TEXT)")
    raw.close()
    before, database = file.read_bytes(), Database(f"sqlite:///{file}")
    with pytest.raises(DatabaseUnusable, match=r"holds tables of something else \(places\); expected: an empty one"):
        migrate.upgrade(database)
    database.close()

    with sqlite3.connect(file) as raw:
        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("places",)]
    raw.close()
    assert len(file.read_bytes()) == len(before)
