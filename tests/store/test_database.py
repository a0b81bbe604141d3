"""The transactions of `grader.store.engine`."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from grader.errors import GraderFault
from grader.store import migrate, people
from grader.store.engine import Database
from grader.store.records import Draft, Role, User


def test_every_connection_syncs_each_commit_and_checks_foreign_keys(database: Database) -> None:
    """A commit survives a power cut on an honest disk: WAL with synchronous=FULL (2)."""
    names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
    with database.read() as session:
        found = [session.execute(text(f"PRAGMA {name}")).scalar() for name in names]

    assert found == ["wal", 2, 1, 10000]


def test_writers_that_read_first_do_not_fail_beside_each_other(database: Database, person: Callable[..., User]) -> None:
    """Reading and then writing in one transaction is safe: no update is lost, no writer turned away."""
    user = person("Ada")
    with database.write() as session:
        session.execute(text("UPDATE users SET created = 0"))

    def count() -> None:
        for _ in range(20):
            with database.write() as session:
                seen = session.execute(text("SELECT created FROM users WHERE id = :id"), {"id": user.id}).scalar_one()
                session.execute(text("UPDATE users SET created = :n"), {"n": seen + 1})

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with database.read() as session:
        assert session.execute(text("SELECT created FROM users")).scalar_one() == 80.0


def test_two_databases_on_one_file_take_turns_at_writing(database: Database) -> None:
    """A write transaction locks at its beginning, so another process's writer waits instead of failing later."""
    other = Database(database.engine.url.render_as_string())
    with other.engine.connect() as rival, database.write() as session:
        session.execute(text("SELECT count(*) FROM users"))
        rival.connection.dbapi_connection.execute("PRAGMA busy_timeout=1")  # type: ignore[union-attr]
        with pytest.raises(OperationalError, match="locked"):
            rival.begin()
    other.close()


def test_a_raise_rolls_everything_back(database: Database, person: Callable[..., User]) -> None:
    """A block that raises leaves no trace."""
    with suppress(RuntimeError), database.write() as session:
        session.execute(text("INSERT INTO users (id, name, key, password, created) VALUES (7, 'a', 'a', 'h', 1)"))
        raise RuntimeError("halfway")

    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM users")).scalar() == 0


def test_a_thread_cannot_wait_for_itself(database: Database) -> None:
    """A write transaction inside another one is refused at once instead of hanging for ever."""
    with database.write(), pytest.raises(GraderFault, match="inside another one"), database.write():
        pass


def test_another_process_that_closes_the_file_takes_nothing_from_under_this_one(tmp_path: Path) -> None:
    """A second connection leaves the locks of the first alone; what is written after the visit is in the file."""
    file = tmp_path / "gym.sqlite3"
    database = Database(f"sqlite:///{file}")
    with database.engine.begin() as first, database.engine.connect():
        first.execute(text("CREATE TABLE notes (line TEXT)"))
    visit = f"import sqlite3; one = sqlite3.connect({str(file)!r}); one.execute('SELECT * FROM notes'); one.close()"
    subprocess.run([sys.executable, "-I", "-c", visit], check=True)
    with database.engine.begin() as later:
        later.execute(text("INSERT INTO notes VALUES ('after the visit')"))
    ask = "SELECT line FROM notes UNION ALL SELECT 'nothing' LIMIT 1"
    look = f"import sqlite3; print(*sqlite3.connect({str(file)!r}).execute({ask!r}).fetchone())"
    seen = subprocess.run([sys.executable, "-I", "-c", look], check=True, capture_output=True, text=True)
    database.close()

    assert seen.stdout.strip() == "after the visit"


def test_a_damaged_text_hides_nothing_but_itself(tmp_path: Path) -> None:
    """Whatever column it is in: it is read with a mark where it is damaged, and the rows beside it as they are."""
    with closing(Database(f"sqlite:///{tmp_path / 'gym.sqlite3'}")) as database:
        migrate.upgrade(database)
        with database.write() as session:
            user = people.add(session, "Ada", Role.STUDENT, key="ada", password="h", now=1.0)
            people.keep_draft(session, user.id, "softmax", Draft("x", 1.0))
            session.execute(text("UPDATE drafts SET source = CAST(x'6f6bff' AS TEXT)"))
        with database.read() as session:
            found = people.draft(session, user.id, "softmax")

    assert found == Draft("ok\N{REPLACEMENT CHARACTER}", 1.0)
