"""A Postgres in place of SQLite: the same tables, and one clear line where it cannot be used."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from grader.errors import DatabaseUnusable
from grader.exercise.catalog import ROOT
from grader.store import migrate, people
from grader.store.engine import Database
from grader.store.records import Role
from grader.store.tables import Base
from tests.jobs import postgres
from tests.jobs.postgres import make_database

SECRET = "open-sesame"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres.served() as url:
        yield url


@pytest.fixture
def database(server: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    database = Database(make_database(server, request.node.name[:60]))
    migrate.upgrade(database)
    yield database
    database.close()


def test_its_tables_are_those_of_the_models(database):
    """Migrations lead to the same tables as on SQLite."""
    with database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_a_zero_in_a_text_is_stored_as_another_character(database):
    """Postgres' texts cannot hold it; what is printed by a submission may have one."""
    with database.write() as session:
        people.add(session, "a\0b", Role.STUDENT, key="a", password="hash", now=1.0)

    with database.read() as session:
        assert session.scalar(text("SELECT name FROM users")) == "a\N{REPLACEMENT CHARACTER}b"


UNUSABLE = {
    "nobody listens": (f"postgresql://tests:{SECRET}@127.0.0.1:1/gym", "is the server running"),
    "no such host": (f"postgresql://tests:{SECRET}@nowhere.invalid/gym", "is the server running"),
    "no such database": ("{server}/nothing", "create it on the server"),
    "no such user": ("{server}/postgres?user=nobody-known", "create it on the server"),
}


@pytest.mark.parametrize(("url", "remedy"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_database_that_cannot_be_used_says_why_and_what_to_do(server, url, remedy):
    """The password is not told."""
    database = Database(url.format(server=server))

    with pytest.raises(DatabaseUnusable) as told:
        database.reach()

    assert remedy in str(told.value)
    assert SECRET not in str(told.value)
    database.close()


@pytest.mark.parametrize("command", [["serve"], ["worker"], ["class-code"]], ids=lambda words: words[0])
def test_a_command_says_in_one_line_that_the_database_is_away(tmp_path, command):
    """There is no traceback, and no password."""
    ours = {"ATTENTION_GYM_DATA": str(tmp_path), "DATABASE_URL": UNUSABLE["nobody listens"][0]}
    words = [sys.executable, "-m", "grader", *command]
    done = subprocess.run(words, cwd=ROOT, env=os.environ | ours, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stderr


def test_a_connection_that_is_given_back_after_the_close_is_closed(database: Database) -> None:
    """A thread may still be at work then; nobody would look after its connection."""
    with database.read() as session:
        connection = session.connection().connection.dbapi_connection
        database.close()
        assert not connection.closed

    assert connection.closed
