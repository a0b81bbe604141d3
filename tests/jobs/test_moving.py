"""An installation moves from SQLite to Postgres: all of it or nothing, once, and not while it is in use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, text

from grader.cli.main import main
from grader.jobs.locks import WorkerLock
from grader.settings import DATABASE, Settings
from grader.store import migrate, people, standings
from grader.store.engine import Database
from grader.store.records import Role, UserId
from grader.store.tables import INITIAL_CLASS, JobRow
from tests.jobs import postgres
from tests.jobs.worked import everything, fill


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres.served() as url:
        yield url


@pytest.fixture
def to(server: str, request: pytest.FixtureRequest) -> str:
    return postgres.make_database(server, request.node.name[:60])


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the data directory of an installation in which people have worked."""
    folder = tmp_path / "data"
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(folder))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    with closing(Database(Settings(data=folder).store_url)) as database:
        migrate.upgrade(database)
        fill(database)
    (folder / "secret").write_text("ab" * 32)
    return folder


def test_everything_arrives(data: Path, to: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Row by row and byte by byte; what a killed process held is queued again, and a zero is another character."""
    url = Settings(data=data).store_url
    code = main(["move", "--to", to])
    said = capsys.readouterr()
    before, after = everything(url), everything(to)
    with closing(Database(to)) as database:
        with database.read() as session:
            names = [one.user.name for one in standings.students(session, INITIAL_CLASS)]
            best, common = standings.best(session, UserId(2)), standings.common_mistakes(session, INITIAL_CLASS)
            ready = session.scalars(select(JobRow.submission_id).where(JobRow.claim.is_(None))).all()
        with database.write() as session:
            fresh = people.add(session, "Eve", Role.STUDENT, key="eve", password="h", now=1.0)

    assert (code, len(said.err.splitlines())) == (0, 1)
    assert "not signed with this installation's secret: 1 (softmax at v1)" in said.err
    assert f"{data / 'secret'}" in said.out
    assert [line[2] for line in before.pop("drafts")] == ["a\0b ä \N{GREEK SMALL LETTER LAMDA}"]
    assert [line[2] for line in after.pop("drafts")] == ["a\N{REPLACEMENT CHARACTER}b ä \N{GREEK SMALL LETTER LAMDA}"]
    assert after == before
    assert all(after[name] for name in after)
    assert (names, best, len(common)) == (["Ada"], {"exercise 0": 0.1 + 0.2, "exercise 1": 100.0}, 2)
    assert sorted(ready) == ["s8", "s9"]
    assert fresh.id == 8, "the newest account was deleted; its id is given to nobody else"


def test_nothing_is_moved_twice(data: Path, to: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The second time there is something in the target; it stays."""
    assert main(["move", "--to", to]) == 0
    before = everything(to)
    capsys.readouterr()
    code = main(["move", "--to", to])

    assert code == 2
    assert "is not empty: its table classes has 1 rows; expected: a new one" in capsys.readouterr().err
    assert everything(to) == before


def test_an_installation_in_use_is_not_moved(data: Path, to: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As long as a grading process lives; the target stays as empty as it was."""
    with closing(WorkerLock(data / "workers")):
        code = main(["move", "--to", to])

    assert code == 2
    assert "the service is running" in capsys.readouterr().err
    assert everything(to)["users"] == []


def test_what_does_not_fit_leaves_the_target_empty(data: Path, to: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A row that Postgres does not take stops everything; once it is mended, the same target takes all."""
    with closing(Database(Settings(data=data).store_url)) as database:
        with database.write() as session:
            session.execute(text("UPDATE users SET name = :name WHERE id = 1"), {"name": "x" * 81})
        refused = main(["move", "--to", to])
        said, left = capsys.readouterr().err, everything(to)
        with database.write() as session:
            session.execute(text("UPDATE users SET name = 'Prof' WHERE id = 1"))

    assert (refused, left["users"], len(left["classes"])) == (2, [], 1)
    assert "table users does not take a row: value too long" in said
    assert main(["move", "--to", to]) == 0


def test_a_database_of_something_else_is_left_alone(data: Path, to: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Our tables are not made beside those of others."""
    with closing(Database(to)) as database, database.write() as session:
        session.execute(text("CREATE TABLE orders (id integer)"))
    code = main(["move", "--to", to])

    assert code == 2
    assert "holds tables of something else (orders)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("url", "said", "code"),
    [
        ("sqlite:///elsewhere.sqlite3", "expected to move from SQLite to Postgres", 2),
        ("postgresql://me:open-sesame@127.0.0.1:1/gym", "cannot be used", 1),
        ("postgresql://me:open-sesame@host:port/gym", "cannot be read", 2),
        ("http://me:open-sesame@host/gym", "expected: sqlite:///file or postgresql://", 2),
        ("sqlite://", "expected: sqlite:///file or postgresql://", 2),
        ("mysql://me:open-sesame@host/gym", "expected: sqlite:///file or postgresql://", 2),
    ],
)
def test_a_target_that_is_none_is_told_in_one_line(
    data: Path, capsys: pytest.CaptureFixture[str], url: str, said: str, code: int
) -> None:
    """Without its password."""
    assert main(["move", "--to", url]) == code
    told = capsys.readouterr().err
    assert said in told
    assert "open-sesame" not in told
    assert len(told.splitlines()) == 1


def test_without_a_database_nothing_is_made(
    tmp_path: Path, to: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong data directory is told, instead of moving an empty class."""
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path))

    assert main(["move", "--to", to]) == 2
    assert f"there is no database {str(tmp_path / DATABASE)!r}" in capsys.readouterr().err


def test_what_arrives_changed_is_noticed(data: Path, to: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A target that alters what it is given ends with nothing in it, and the table is named."""
    with closing(Database(to)) as database:
        migrate.upgrade(database)
        with database.write() as session:
            session.execute(
                text(
                    "CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS"
                    " 'BEGIN NEW.score = NEW.score + 0.5; RETURN NEW; END'"
                )
            )
            session.execute(text("CREATE TRIGGER other BEFORE INSERT ON bests FOR EACH ROW EXECUTE FUNCTION other()"))
    code = main(["move", "--to", to])

    assert code == 2
    assert "of table bests, 4 rows were sent and 4 arrived, or other ones" in capsys.readouterr().err
    assert everything(to)["users"] == []
