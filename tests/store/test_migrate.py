"""The migrations: what they build, and what they leave in place."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import event, text

from grader.errors import DatabaseUnusable, GraderFault
from grader.store import migrate, people, submissions
from grader.store.engine import Database
from grader.store.records import Submission, SubmissionId, User
from grader.store.tables import Base

NEXT = '''"""A later change."""
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = "9.9.9", "{newest}", None, None

def upgrade():
    {change}
'''
NEWEST = migrate.head()
REBUILD_USERS = """with op.batch_alter_table("users", recreate="always") as batch:
        batch.add_column(sa.Column("locale", sa.String(8), nullable=True))"""


@pytest.fixture
def extend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def extend(change: str) -> None:
        copy = tmp_path / "migrations"
        shutil.copytree(migrate.SCRIPTS, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "versions" / "later.py").write_text(NEXT.format(change=change, newest=NEWEST))
        monkeypatch.setattr(migrate, "SCRIPTS", copy)

    return extend


@pytest.fixture
def kept(database: Database, person: Callable[..., User], draft: Callable[..., Submission]) -> Submission:
    ada = person("Ada")
    with database.write() as session:
        return submissions.add(session, draft(ada, "s1"))


def test_the_migrations_build_exactly_the_tables_of_the_code(database: Database, tmp_path: Path) -> None:
    """By what Alembic compares, and by their SQL, with each CHECK clause and the condition of each index."""
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    query = text("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'alembic%' AND sql IS NOT NULL ORDER BY name")

    def schema(database: Database) -> dict[str, list[str]]:
        with database.read() as session:
            return {name: sorted(re.sub('[",]', " ", sql).split()) for name, sql in session.execute(query)}

    with closing(Database(f"sqlite:///{tmp_path / 'declared.sqlite3'}")) as declared:
        Base.metadata.create_all(declared.engine)
        assert schema(database) == schema(declared)


def test_migrating_twice_changes_nothing(database: Database, kept: Submission) -> None:
    """A start finds the database as it left it."""
    migrate.upgrade(database)

    assert migrate.current(database) == NEWEST
    with database.read() as session:
        assert submissions.owner(session, kept.id) == kept.user


def test_rebuilding_a_parent_table_keeps_its_children_and_a_copy_of_the_file(
    database: Database, kept: Submission, extend: Callable[[str], None], tmp_path: Path
) -> None:
    """The submissions of its people stay, also where a table that others cascade from is rebuilt."""
    extend(REBUILD_USERS)
    migrate.upgrade(database)

    assert migrate.check(database) == "9.9.9"
    with database.read() as session:
        assert submissions.owner(session, SubmissionId("s1")) == kept.user
        assert session.execute(text("PRAGMA foreign_keys")).scalar() == 1
    with closing(sqlite3.connect(tmp_path / f"class.sqlite3.before-{NEWEST}")) as copy:
        assert copy.execute("SELECT id FROM submissions").fetchall() == [("s1",)]
        assert copy.execute("SELECT version_num FROM alembic_version").fetchall() == [(NEWEST,)]


def test_a_migration_that_orphans_rows_is_undone(
    database: Database, kept: Submission, extend: Callable[[str], None]
) -> None:
    """Rows that point at nothing stop the migration, and everything is as before."""
    extend("op.execute('DELETE FROM users'); op.execute('CREATE TABLE later (id INTEGER)')")
    with pytest.raises(GraderFault, match="2 rows that point at nothing"):
        migrate.upgrade(database)

    assert migrate.current(database) == NEWEST
    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM users")).scalar() == 1
        assert session.execute(text("SELECT count(*) FROM sqlite_master WHERE name = 'later'")).scalar() == 0


@pytest.mark.parametrize(
    ("revision", "said"),
    [
        ("0017", "made by a version before 1.0.0 .its tables are of revision 0017., which had no release"),
        ("2.0.0", "brought to revision 2.0.0 by a newer version of the grader"),
    ],
)
def test_a_database_of_an_unknown_version_is_left_alone(database: Database, revision: str, said: str) -> None:
    """One from before the first release and a newer one are told apart, each with what to do."""
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :to"), {"to": revision})
    for refused in (migrate.upgrade, migrate.check):
        with pytest.raises(DatabaseUnusable, match=said):
            refused(database)

    assert migrate.current(database) == revision


def test_the_id_of_a_deleted_person_is_given_to_nobody_else(database: Database, person: Callable[..., User]) -> None:
    """Whoever still holds it, in a list or a link, must not reach another person by it."""
    ids = []
    for name in ("Ada", "Bea", "Cleo"):
        ids.append(person(name).id)
        with database.write() as session:
            people.delete_person(session, ids[-1])

    assert ids == [1, 2, 3]


def test_a_full_disk_at_the_start_is_told_in_one_line(tmp_path: Path) -> None:
    """Which database, and why; with room it is made as usual."""
    database = Database(f"sqlite:///{tmp_path / 'new.sqlite3'}")
    few = "PRAGMA max_page_count=4"  # what SQLite says then is what it says of a full disk
    event.listen(database.engine, "connect", lambda connection, _record: connection.execute(few))
    with pytest.raises(DatabaseUnusable, match=r"new\.sqlite3 cannot be used: database or disk is full"):
        migrate.upgrade(database)
    database.close()

    with closing(Database(f"sqlite:///{tmp_path / 'new.sqlite3'}")) as database:
        migrate.upgrade(database)
        assert migrate.check(database)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    """A wrong address put our tables beside its own."""
    file = tmp_path / "other.sqlite3"
    with closing(sqlite3.connect(file)) as raw:
        raw.execute("CREATE TABLE places (url TEXT)")
        size = file.stat().st_size
        with closing(Database(f"sqlite:///{file}")) as database:
            said = r"holds tables of something else \(places\); expected: an empty one"
            with pytest.raises(DatabaseUnusable, match=said):
                migrate.upgrade(database)

        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("places",)]
    assert file.stat().st_size == size
