"""The migrations: what they build, and what they leave in place."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from grader.errors import GraderFault
from grader.judge.clues import Flag
from grader.judge.report import Report, Status
from grader.store import migrate, submissions
from grader.store.engine import Database
from grader.store.records import Submission, SubmissionId, User, UserId
from grader.store.tables import Base

_OLD = '{"exercise":"softmax","status":"graded","score":50.0,"seed":7,"device":"cpu","seconds":0.1,"checks":[]}'
_OLD_SUBMISSION = """INSERT INTO submissions (id, user_id, exercise, exercise_version, source, seed, device,
    torch_version, state, number, created, priority, ready, tries, faults)
    VALUES ('s1', 1, 'softmax', 'v1', x'78', 7, 'cpu', '2.13', 'done', 1, 1.0, 0, 1.0, 1, 0)"""
NEXT = '''"""A later change."""
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = "9999", "0004", None, None

def upgrade():
    {change}
'''
REBUILD_USERS = """with op.batch_alter_table("users", recreate="always") as batch:
        batch.add_column(sa.Column("locale", sa.String(8), nullable=True))"""


@pytest.fixture
def scripts(tmp_path: Path) -> Callable[[str], Path]:
    """Give a function that makes a copy of the migrations with one more."""

    def extend(change: str) -> Path:
        copy = tmp_path / "migrations"
        shutil.copytree(migrate.SCRIPTS, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "versions" / "9999_later.py").write_text(NEXT.format(change=change))
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
            return {name: sorted(sql.replace(",", " ").split()) for name, sql in session.execute(query)}

    assert schema(database) == schema(declared)
    declared.close()


def test_migrating_twice_changes_nothing(database: Database, kept: Submission) -> None:
    """A start finds the database as it left it."""
    migrate.upgrade(database)

    assert migrate.current(database) == "0004"
    with database.read() as session:
        assert submissions.owner(session, kept.id) == kept.user


def test_reports_from_before_the_flags_are_kept_without_one(tmp_path: Path) -> None:
    """What was stored at the revision before is there afterwards, word for word, and flagged as nothing."""
    older = Database(f"sqlite:///{tmp_path / 'older.sqlite3'}")
    migrate.upgrade(older, "0002")
    with older.write() as session:
        session.execute(text("INSERT INTO users VALUES (1, 'Ada', 'ada', 'hash', 'student', 1.0)"))
        session.execute(text(_OLD_SUBMISSION))
        session.execute(text("INSERT INTO reports VALUES ('s1', 1, 'graded', 50.0, 2.0, :body)"), {"body": _OLD})

    migrate.upgrade(older)

    with older.read() as session:
        assert session.execute(text("SELECT submission_id, score, flag FROM reports")).all() == [("s1", 50.0, "")]
        (line,) = submissions.attempts(session, UserId(1))
        kept = submissions.get(session, SubmissionId("s1"))
        assert session.execute(text("SELECT kills FROM submissions")).scalars().all() == [0]
    assert (line.score, line.flag) == (50.0, Flag.NONE)
    assert kept is not None
    assert kept.report == Report("softmax", Status.GRADED, 50.0, 7, "cpu", 0.1)
    older.close()


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

    with sqlite3.connect(tmp_path / "class.sqlite3.before-0004") as copy:
        found = copy.execute("SELECT id FROM submissions").fetchall()
    copy.close()
    assert found == [("s1",)]


def test_a_migration_that_orphans_rows_is_undone(
    database: Database, kept: Submission, scripts: Callable[[str], Path]
) -> None:
    """Rows that point at nothing stop the migration, and everything is as before."""
    change = "op.execute('DELETE FROM users'); op.execute('CREATE TABLE later (id INTEGER)')"
    with pytest.raises(GraderFault, match="1 rows that point at nothing"):
        migrate.upgrade(database, scripts=scripts(change))

    assert migrate.current(database) == "0004"
    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM users")).scalar() == 1
        assert session.execute(text("SELECT count(*) FROM sqlite_master WHERE name = 'later'")).scalar() == 0
