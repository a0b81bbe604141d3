"""What whoever operates the service asks for on the command line, on SQLite and on Postgres alike.

The status is read without changing anything. A backup is one snapshot, and what is restored from it is everything.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
import threading
import time
import zipfile
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
from grader.store import accounts, migrate, submissions
from grader.store.backup_file import CONTENT, KEPT, MANIFEST, unpack
from grader.store.engine import Database
from grader.store.records import Draft, Role, Submission, SubmissionId, User
from grader.store.tables import JobRow, SubmissionRow
from tests.jobs import postgres
from tests.jobs.worked import everything, fill

SECRET = "ab" * 32
NUMBERS = itertools.count(1)
Asked = tuple[int, str, str]
RunIn = Callable[..., Asked]
Place = Callable[[str, str], Settings]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Give the URL of a Postgres."""
    with postgres.served() as url:
        yield url


@pytest.fixture
def place(server: str, tmp_path: Path) -> Place:
    """Give a function that returns the settings of an installation without data, by its name and kind."""

    def make(name: str, kind: str) -> Settings:
        url = "" if kind == "sqlite" else postgres.make_database(server, f"{name} {next(NUMBERS)}")
        return Settings(data=tmp_path / name, database_url=url)

    return make


@pytest.fixture(params=["sqlite", "postgres"])
def source(request: pytest.FixtureRequest, place: Place) -> Settings:
    """Give an installation in which people have worked."""
    return worked(place("source", request.param))


def worked(settings: Settings) -> Settings:
    """Fill an installation, and return its settings."""
    with closing(Database(settings.store_url)) as database:
        migrate.upgrade(database)
        fill(database)
    settings.data.mkdir(mode=0o700, exist_ok=True)
    (settings.data / "secret").write_text(SECRET)
    (settings.data / "secret").chmod(0o600)
    return settings


@pytest.fixture
def run_in(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunIn:
    """Give a function that runs a command in an installation, and returns its code and what it wrote."""

    def run(settings: Settings, *words: object) -> Asked:
        monkeypatch.setenv("ATTENTION_GYM_DATA", str(settings.data))
        monkeypatch.setenv("DATABASE_URL", settings.database_url)
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def without_claims(tables: dict[str, list[tuple[object, ...]]]) -> dict[str, list[tuple[object, ...]]]:
    """Return rows as both databases can hold them, those of jobs as if nobody had taken them."""
    jobs = [(*row[:8], None, None, *row[10:]) for row in tables["jobs"]]
    return {
        name: [
            tuple(v.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(v, str) else v for v in row)
            for row in rows
        ]
        for name, rows in {**tables, "jobs": jobs}.items()
    }


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_everything_comes_back_on_either_database(source: Settings, place: Place, run_in: RunIn, kind: str) -> None:
    """Row by row with the keys; what was being graded waits, and no id is given again. Nobody else reads the file."""
    target, file = place("target", kind), source.data / "backup.zip"
    before = everything(source.store_url)
    made = run_in(source, "backup", file)
    restored = run_in(target, "restore", file)
    with closing(Database(target.store_url)) as database:
        with database.read() as session:
            holders = claims.holders(session)
        with database.write() as session:
            fresh = accounts.add(session, "Eve", Role.STUDENT, key="eve", password="h", now=1.0)
            accounts.delete_person(session, fresh.id)

    assert (made[0], made[2], restored[0], restored[2]) == (0, "", 0, "")
    assert without_claims(everything(target.store_url)) == without_claims(before)
    assert (holders, fresh.id) == ({}, 6)
    assert (target.data / "secret").read_text() == SECRET
    assert "without class_code" in made[1]
    assert "  users: 3\n" in restored[1]
    assert everything(source.store_url) == before
    assert file.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in target.data.iterdir()} <= {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "secret"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in (target.data, *target.data.iterdir()))
    assert sorted(path.name for path in file.parent.glob(".*")) == []


def test_a_backup_is_one_snapshot_while_people_hand_in(
    source: Settings, place: Place, run_in: RunIn, tmp_path: Path
) -> None:
    """Each hand-in is there with its job and its draft or not at all, and the restored rows are those of the backup."""
    stop, faults = threading.Event(), list[BaseException]()
    with closing(Database(source.store_url)) as database:
        with database.write() as session:
            people = [
                accounts.add(session, name, Role.STUDENT, key=name, password="h", now=1.0)
                for name in ("w1", "w2", "w3")
            ]
        threads = [threading.Thread(target=_hand_in, args=(database, user, stop, faults)) for user in people]
        for thread in threads:
            thread.start()
        made = [run_in(source, "backup", tmp_path / f"{number}.zip")[0] for number in range(2)]
        stop.set()
        for thread in threads:
            thread.join()
    counts = []
    for number in range(2):
        target = place(f"target{number}", "sqlite")
        (parts := tmp_path / f"parts{number}").mkdir()
        unpack(tmp_path / f"{number}.zip", parts)
        assert run_in(target, "restore", tmp_path / f"{number}.zip")[0] == 0
        kept = everything(f"sqlite:///{parts / CONTENT}")
        assert without_claims(everything(target.store_url)) == without_claims(kept)
        with closing(sqlite3.connect(target.data / DATABASE)) as connection:
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            counts.append([_whole(connection, user) for user in people])

    assert (made, faults) == ([0, 0], [])
    assert sum(counts[0]) < sum(counts[1]), "people handed in all the while"


def _hand_in(database: Database, user: User, stop: threading.Event, faults: list[BaseException]) -> None:
    number = 0
    try:
        while not stop.is_set():
            number += 1
            draft = Submission(
                id=SubmissionId(f"{user.name}-{number}"), user=user.id, exercise=f"exercise {number}",
                exercise_version="v1", seed=1, device="cpu", created=time.time(), raw=b"x" * 500,
            )  # fmt: skip
            with database.write() as session:
                submissions.add(session, draft)
                claims.enqueue(session, draft.id, queue="cpu", priority=number, ready=0.0)
                accounts.keep_draft(session, user.id, "softmax", Draft(str(number), float(number)))
    except BaseException as fault:  # noqa: BLE001 - it is looked at where the test ends
        faults.append(fault)


def _whole(connection: sqlite3.Connection, user: User) -> int:
    """Check that a person's rows belong together; return how often they had handed in."""
    mine = [row[0] for row in connection.execute("SELECT id FROM submissions WHERE user_id = ?", (user.id,))]
    jobs = "SELECT submission_id FROM jobs JOIN submissions ON id = submission_id WHERE user_id = ?"
    (draft,) = connection.execute(
        "SELECT coalesce(max(source), '0') FROM drafts WHERE user_id = ?", (user.id,)
    ).fetchone()
    assert sorted(row[0] for row in connection.execute(jobs, (user.id,))) == sorted(mine)
    assert set(mine) == {f"{user.name}-{number + 1}" for number in range(int(draft))}
    return len(mine)


def test_nothing_is_overwritten(source: Settings, run_in: RunIn, tmp_path: Path) -> None:
    """Neither a file by a backup, nor what is there by a restored one."""
    (tmp_path / "there").write_text("mine")
    refused = run_in(source, "backup", tmp_path / "there")
    assert run_in(source, "backup", tmp_path / "backup.zip")[0] == 0
    before = everything(source.store_url)
    again = run_in(source, "restore", tmp_path / "backup.zip")

    assert (refused[0], again[0]) == (2, 2)
    assert "is there already" in refused[2]
    assert "there is a database already" in again[2] or "is not empty" in again[2]
    assert (tmp_path / "there").read_text() == "mine"
    assert everything(source.store_url) == before
    assert (source.data / "secret").read_text() == SECRET


def test_what_cannot_be_restored_whole_leaves_nothing(place: Place, run_in: RunIn, tmp_path: Path) -> None:
    """Another key in its place, or a target that is not empty: the keys that were put there are taken back."""
    source, file = worked(place("source", "sqlite")), tmp_path / "backup.zip"
    (source.data / "class_code").write_text("a-class-code")
    assert run_in(source, "backup", file)[0] == 0
    other = place("other", "sqlite")
    other.data.mkdir(mode=0o700)
    (other.data / "class_code").write_text("another-code")
    code, _, err = run_in(other, "restore", file)
    full = worked(place("full", "postgres"))
    (full.data / "secret").unlink()
    refused = run_in(full, "restore", file)

    assert (code, refused[0]) == (2, 2)
    assert f"{other.data / 'class_code'} is not the one of the backup" in err
    assert "is not empty" in refused[2]
    assert [path.name for path in other.data.iterdir()] == ["class_code"]
    assert list(full.data.iterdir()) == []


@pytest.fixture
def backup(place: Place, run_in: RunIn, tmp_path: Path) -> Path:
    """Give a backup."""
    assert run_in(worked(place("source", "sqlite")), "backup", tmp_path / "backup.zip")[0] == 0
    return tmp_path / "backup.zip"


def test_a_damaged_backup_is_refused(backup: Path, place: Place, run_in: RunIn) -> None:
    """Wherever a byte differs, and however much is missing; nothing is there afterwards."""
    target, whole = place("target", "sqlite"), backup.read_bytes()
    steps = range(200, len(whole) - 400, len(whole) // 12)
    damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in steps]
    for content in (*damaged, whole[: len(whole) // 2], b"", b"something else"):
        backup.write_bytes(content)
        code, _, err = run_in(target, "restore", backup)
        assert (code, len(err.splitlines())) == (2, 1), err
        assert "damaged" in err
        assert list(target.data.iterdir()) == []
    assert run_in(target, "restore", backup.with_name("nowhere.zip"))[2].startswith("there is no backup")


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"format": 2}, "has form 2, where 1 is known"), ({"revision": "9999"}, "was made by a newer version"),
     ({"sizes": {"../../etc/passwd": 1}}, "is no backup, or is damaged"), ({"digests": {}}, "is no backup")],
)  # fmt: skip
def test_a_backup_of_another_form_is_refused(
    backup: Path, place: Place, run_in: RunIn, changed: dict, said: str
) -> None:
    """It says which, and nothing is written anywhere."""
    target, other = place("target", "sqlite"), backup.with_name("other.zip")
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(other, "w") as new:
        new.writestr(MANIFEST, json.dumps(json.loads(old.read(MANIFEST)) | changed))
        for name in (CONTENT, KEPT[0]):
            new.writestr(name, old.read(name))
    code, _, err = run_in(target, "restore", other)

    assert (code, said in err, list(target.data.iterdir())) == (2, True, [])


def test_a_backup_of_an_older_version_is_brought_up_to_date(place: Place, run_in: RunIn, tmp_path: Path) -> None:
    """A file that this version has not migrated yet is backed up as it is, and migrated where it is restored."""
    source, target = place("source", "sqlite"), place("target", "sqlite")
    with closing(Database(source.store_url)) as database:
        migrate.upgrade(database, "0010")
        with database.write() as session:
            session.execute(text("INSERT INTO users (name, key, password, created) VALUES ('Ada', 'ada', 'h', 1.0)"))
    made = run_in(source, "backup", tmp_path / "backup.zip")
    restored = run_in(target, "restore", tmp_path / "backup.zip")
    with closing(Database(source.store_url)) as database:
        assert migrate.current(database) == "0010"
    with closing(Database(target.store_url)) as database:
        assert migrate.check(database)

    assert (made[0], restored[0]) == (0, 0)
    assert "tables of revision 0010" in made[1]
    assert [row[1] for row in everything(target.store_url)["users"]] == ["Ada"]


def test_an_older_postgres_is_not_read_as_if_it_were_newer(place: Place, run_in: RunIn, tmp_path: Path) -> None:
    """Its tables are others; one line says what to do, and no file is left."""
    source = place("source", "postgres")
    source.data.mkdir()
    with closing(Database(source.store_url)) as database:
        migrate.upgrade(database, "0010")
    code, _, err = run_in(source, "backup", tmp_path / "backup.zip")

    assert code == 1
    assert "is at revision 0010, which is older than" in err
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Give the settings, also those of the environment, of an installation without a database."""
    data = tmp_path / "data"
    url = "" if request.param == "sqlite" else postgres.make_database(server, f"status {next(NUMBERS)}")
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
