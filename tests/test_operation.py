"""What whoever operates the service asks for on the command line, on SQLite and on Postgres."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text, update

from grader.cli.main import main
from grader.jobs import claims
from grader.jobs.cluster.library import install
from grader.jobs.worker_lock import WorkerLock
from grader.settings import DATABASE, Settings
from grader.store import migrate
from grader.store.engine import Database
from grader.store.records import SubmissionId
from grader.store.tables import JobRow, SubmissionRow
from tests.jobs import postgres
from tests.jobs.worked import fill

Asked = tuple[int, str, str]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Give the URL of a Postgres."""
    with postgres.served() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Give the settings, also those of the environment, of an installation without a database."""
    data = tmp_path / "data"
    url = "" if request.param == "sqlite" else postgres.make_database(server, request.node.name[:60])
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(data))
    monkeypatch.setenv("DATABASE_URL", url)
    return Settings(data=data, database_url=url)


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """Give its database, in which people have worked."""
    with closing(Database(settings.store_url)) as database:
        migrate.upgrade(database)
        if not database.embedded:
            with database.engine.begin() as connection:
                install(connection)
        fill(database)
        yield database


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., Asked]:
    """Give a function that runs a command and returns its exit code and what it wrote to both streams."""

    def run(*words: object) -> Asked:
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def status_of(ask: Callable[..., Asked]) -> dict[str, Any]:
    """Return what `status` tells programs."""
    code, out, err = ask("status", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def test_the_status_counts_what_waits_and_runs(database, ask):
    """By device, with the oldest wait; a job that a fault of ours or a kill has put back is named as such."""
    with database.write() as session:
        session.execute(update(SubmissionRow).where(SubmissionRow.id == "s9").values(device="cuda"))
        session.execute(update(JobRow).where(JobRow.submission_id == "s9").values(queue="cuda", faults=2, kills=1))
        claims.enqueue(session, SubmissionId("s0"), queue="cuda", priority=1, ready=0.0)
    found = status_of(ask)
    oldest = found["queues"]["cuda"].pop("oldest_seconds")

    assert found["queues"] == {
        "cpu": {"waiting": 0, "running": 1, "oldest_seconds": 0.0},
        "cuda": {"waiting": 2, "running": 0},
    }
    assert oldest > 1e9, "it was handed in soon after 1970"
    assert found["faults"] == {"retried": 1, "killed": 1, "broken": 0}
    assert found["versions"].keys() == {"program", "grading", "schema"}


def test_the_status_says_it_to_people_too(database, ask):
    """In lines, without a password of the database."""
    code, out, _ = ask("status")

    assert code == 0
    assert f"database: {database.place.removeprefix('the ')}\n" in out
    assert "queue cpu: 1 waiting, the oldest for " in out
    assert "queue cuda: 0 waiting; 0 being graded\n" in out
    assert "workers: none; nothing is graded until" in out
    assert "faults: 0 tried again, 0 after a kill, 0 broken for good\n" in out


def test_the_status_knows_who_grades(settings, database, ask):
    """On one machine by the locks of its processes, on several by their heartbeats."""
    if database.embedded:
        with closing(WorkerLock(settings.data / "workers")) as lock:
            assert [worker["worker"] for worker in status_of(ask)["workers"]] == [lock.id]
        assert status_of(ask)["workers"] == []
        return
    with database.write() as session:
        session.execute(text("INSERT INTO procrastinate_workers DEFAULT VALUES"))
        silent = "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 minute')"
        session.execute(text(silent))
    (worker,) = status_of(ask)["workers"]

    assert 0 <= worker["seconds_ago"] < 4
    assert "workers: 1 on all machines" in ask("status")[1]


def test_a_broken_submission_is_an_open_fault_until_it_is_graded_again(database, ask):
    """The newest result counts."""
    with database.write() as session:
        session.execute(text("UPDATE gradings SET incident = 'ab12' WHERE submission_id = 's0'"))
        session.execute(text("UPDATE submissions SET state = 'broken' WHERE id = 's0'"))
    broken = status_of(ask)["faults"]["broken"]
    with database.write() as session:
        session.execute(text("UPDATE submissions SET state = 'done' WHERE id = 's0'"))

    assert (broken, status_of(ask)["faults"]["broken"]) == (1, 0)


@pytest.mark.parametrize(
    ("revision", "said"), [("0010", "is older than"), ("9999", "by a newer version of the grader")]
)
def test_the_status_migrates_nothing(database, ask, revision, said):
    """A database of another version is told in one line, and stays as it is."""
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :to"), {"to": revision})
    code, out, err = ask("status")

    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert said in err
    assert migrate.current(database) == revision


def test_the_status_of_nothing_makes_nothing(settings, ask):
    """Neither a file nor a table."""
    code, out, err = ask("status")

    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert not (settings.data / DATABASE).exists()
    assert ("there is no database" in err) or ("holds no tables yet; start the service" in err)


@pytest.mark.parametrize(
    ("url", "code"), [("postgresql://me:open-sesame@127.0.0.1:1/gym", 1), ("postgresql://me:open-sesame@h:port/gym", 2)]
)
def test_a_database_that_is_not_there_is_one_line(ask, monkeypatch, url, code):
    """Without the password of its URL."""
    monkeypatch.setenv("DATABASE_URL", url)
    found, _, err = ask("status")

    assert (found, len(err.splitlines()), "open-sesame" in err) == (code, 1, False)
