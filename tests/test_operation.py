"""What whoever operates the service asks for on the command line, on SQLite and on Postgres alike.

The status is read without changing anything. A backup is one snapshot, and what is restored from it is everything.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import String, text, update

from grader import installation
from grader.cli.main import main
from grader.errors import SettingsError
from grader.exercise.catalog import ROOT
from grader.installation import known_secret
from grader.jobs import archive, claims
from grader.jobs.backup import restore
from grader.jobs.cluster.library import install
from grader.jobs.locks import WorkerLock
from grader.settings import DATABASE, Settings
from grader.store import migrate, people, processes, submissions
from grader.store.dump import MANIFEST, ROWS, DumpRefused, opened
from grader.store.engine import Database
from grader.store.processes import KnownProcess
from grader.store.records import Draft, Role, Submission, SubmissionId, User
from grader.store.tables import Base, JobRow, SubmissionRow
from tests.commands import ARGUMENTS, commands_on_data
from tests.jobs import postgres
from tests.jobs.worked import everything, fill
from tests.machine import free_port
from tests.store.test_dump import rewritten

SECRET = "ab" * 32
NUMBERS = itertools.count(1)
Asked = tuple[int, str, str]
RunIn = Callable[..., Asked]
Place = Callable[[str, str], Settings]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
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
    return worked(place("source", request.param))


def worked(settings: Settings) -> Settings:
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
            fresh = people.add(session, "Eve", Role.STUDENT, key="eve", password="h", now=1.0)
            people.delete_person(session, fresh.id)

    assert (made[0], made[2], restored[0]) == (0, "", 0)
    assert restored[2].startswith(
        "kept grading files that are not signed with this installation's secret: 1 (softmax at"
    )
    assert without_claims(everything(target.store_url)) == without_claims(before)
    assert (holders, fresh.id) == ({}, 8)
    assert (target.data / "secret").read_text() == SECRET
    assert "without class_code" in made[1]
    assert "  users: 5\n" in restored[1]
    assert everything(source.store_url) == before
    assert file.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in target.data.iterdir()} <= {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "secret"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in (target.data, *target.data.iterdir()))
    assert sorted(path.name for path in file.parent.glob(".*")) == []


STEPS = ("os.link", "os.rename", "os.remove", "os.rmdir")


def killed_at(step: int, settings: Settings, file: Path) -> bool:
    """Restore a backup in a process that is killed before the so-manieth change in the data folder; whether it was."""

    def count(event: str, args: tuple[object, ...]) -> None:
        nonlocal step
        if event in STEPS and str(settings.data) in str(args):
            step -= 1
            if step < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            with closing(Database(settings.store_url)) as target:
                sys.addaudithook(count)
                restore(file, settings.data, target, secret=None, trust=True, say=lambda _: None)
            os._exit(0)
        os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_restore_that_is_killed_leaves_all_or_nothing(place: Place, run_in: RunIn, kind: str) -> None:
    """At whatever step: no key comes before the database, and the next start finds both, or nothing of either."""
    source, found = worked(place("source", "sqlite")), []
    file = source.data / "backup.zip"
    run_in(source, "backup", file)
    people = everything(source.store_url)["users"]
    for step in itertools.count():
        target = place(f"target {step}", kind)
        if not killed_at(step, target, file):
            break
        early = (target.data / "secret").exists() and kind == "sqlite" and not (target.data / DATABASE).exists()
        installation.opened(target, migrating=True).close()
        rows, key = everything(target.store_url)["users"], (target.data / "secret").exists()
        found.append((early, rows, key, list(target.data.glob("restore.*"))))

    nothing, everything_there = (False, [], False, []), (False, people, True, [])
    assert nothing in found or kind == "postgres"
    assert everything_there in found
    assert all(one in (nothing, everything_there) for one in found)


def folder(path: Path) -> Path:
    path.mkdir()
    (path / "notes").write_text("mine")
    return path


OTHERS_THINGS: dict[str, Callable[[Path], object]] = {
    "restore.old": folder,
    "restore.20261101": folder,
    "restore.log": lambda path: path.write_text("mine"),
    "restore.link": lambda path: path.symlink_to(path.with_name("restore.log")),
    "restore.latest": lambda path: path.symlink_to(path.with_name("restore.old")),
}


@pytest.mark.parametrize("where", ["data", "elsewhere"])
def test_a_start_leaves_what_no_restore_has_made(tmp_path: Path, where: str) -> None:
    """Whatever it is called: a start tidies up in the data folder, and beside a database that is elsewhere."""
    home = tmp_path / where
    home.mkdir(0o700)
    for name, make in OTHERS_THINGS.items():
        make(home / name)
    url = "" if where == "data" else f"sqlite:///{home / 'gym.sqlite3'}"
    installation.opened(Settings(data=tmp_path / "data", database_url=url), migrating=True).close()
    assert {path.name for path in home.glob("restore.*")} == set(OTHERS_THINGS)
    assert (home / "restore.old" / "notes").read_text() == "mine"


def test_a_backup_is_one_snapshot_while_people_hand_in(
    source: Settings, place: Place, run_in: RunIn, tmp_path: Path
) -> None:
    """Each hand-in is there with its job and its draft or not at all."""
    stop, faults = threading.Event(), list[BaseException]()
    with closing(Database(source.store_url)) as database:
        with database.write() as session:
            writers = [
                people.add(session, name, Role.STUDENT, key=name, password="h", now=1.0) for name in ("w1", "w2", "w3")
            ]
        threads = [threading.Thread(target=_hand_in, args=(database, user, stop, faults)) for user in writers]
        for thread in threads:
            thread.start()
        made = [run_in(source, "backup", tmp_path / f"{number}.zip")[0] for number in range(2)]
        stop.set()
        for thread in threads:
            thread.join()
    counts = []
    for number in range(2):
        target = place(f"target{number}", "sqlite")
        assert run_in(target, "restore", tmp_path / f"{number}.zip")[0] == 0
        with closing(sqlite3.connect(target.data / DATABASE)) as connection:
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            counts.append([_whole(connection, user) for user in writers])

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
                people.keep_draft(session, user.id, "softmax", Draft(str(number), float(number)))
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
    assert run_in(worked(place("source", "sqlite")), "backup", tmp_path / "backup.zip")[0] == 0
    return tmp_path / "backup.zip"


def test_a_damaged_backup_is_refused(backup: Path, place: Place, run_in: RunIn) -> None:
    """Wherever a byte of the rows differs, and however much is missing; nothing is there afterwards."""
    target, whole = place("target", "sqlite"), backup.read_bytes()
    end = whole.rindex(b"PK\x03\x04")  # of the rows; the header that comes next holds a time that nobody reads
    steps = range(200, end, end // 12)
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
    [
        ({"format": 1}, "has form 1, of a version before 1.0.0"),
        ({"format": 3}, "has form 3, where 2 is known"),
        ({"revision": "9.9.9"}, "was made by a newer version"),
        ({"revision": 17}, "is no backup, or is damaged"),
        ({"kept": {"../../etc/passwd": "x"}}, "is no backup, or is damaged"),
        ({"kept": {"secret": "no digits"}}, "secret is damaged"),
        ({"kept": {"secret": ""}}, "secret is empty"),
        ({"kept": {"class_code": ""}}, "class_code is empty"),
        ({"kept": {"class_code": "\x1b]0;mine\x07"}}, "class_code is damaged"),
        ({"kept": {"class_code": "a\nb"}}, "class_code is damaged"),
        ({"kept": {"class_code": "a" * 81}}, "class_code is damaged"),
        ({"kept": {"class_code": "a\0"}}, "class_code is damaged"),
    ],
)
def test_a_backup_that_says_something_else_is_refused(
    backup: Path, place: Place, run_in: RunIn, changed: dict[str, Any], said: str
) -> None:
    """In one line that says what; nothing is written anywhere."""
    target = place("target", "sqlite")
    code, _, err = run_in(target, "restore", rewritten(backup, lambda manifest, _: manifest.update(changed)))

    assert (code, len(err.splitlines()), list(target.data.iterdir())) == (2, 1, []), err
    assert said in err


def _without_gradings(manifest: dict[str, Any], rows: list[Any]) -> None:
    rows[[part["table"] for part in manifest["parts"]].index("gradings")].clear()
    for number, part in enumerate(manifest["parts"]):
        if part["table"] in ("diagnoses", "locations"):
            rows[number].clear()


CHANGES: dict[str, tuple[Callable[[dict[str, Any], list[Any]], object], str]] = {
    "a table too few": (lambda manifest, rows: (manifest["parts"].pop(), rows.pop()), "its tables are "),
    "a column too few": (
        lambda manifest, rows: (manifest["parts"][0]["columns"].pop(), [row.pop() for row in rows[0]]),
        "the columns of table classes are id, name, created, code, key, zone; expected: ",
    ),
    "a table of its own": (lambda manifest, _: manifest["parts"][0].update(table="evil"), "its tables are "),
    "a row twice": (lambda _, rows: rows[0].append(rows[0][0]), "table classes does not take a row"),
    "a row that points at nothing": (
        lambda _, rows: rows[0][0].__setitem__(0, 7), "does not take a row: FOREIGN KEY constraint failed"
    ),
    "no gradings": (_without_gradings, "5 rows point at nothing"),
    "a value of another type": (
        lambda _, rows: rows[0][0].__setitem__(1, 7), "column name of table classes holds an integer; expected: a text"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES)
def test_a_backup_with_other_tables_or_rows_is_refused(
    backup: Path, place: Place, run_in: RunIn, change: Callable[..., object], said: str
) -> None:
    """In one line; nothing is there afterwards, and the plain one is taken."""
    target = place("target", "sqlite")
    code, out, err = run_in(target, "restore", rewritten(backup, change))

    assert (code, out, len(err.splitlines())) == (2, "", 1), err
    assert said in err
    assert list(target.data.iterdir()) == []
    assert run_in(target, "restore", backup)[0] == 0


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Give a function that makes this the next version, which has a table more."""

    def make() -> None:
        copy = tmp_path / "migrations"
        shutil.copytree(migrate.SCRIPTS, copy)
        later = f'revision, down_revision, branch_labels, depends_on = "9.9.9", "{migrate.head()}", None, None\n'
        later += 'def upgrade():\n    op.execute("CREATE TABLE later (id INTEGER PRIMARY KEY)")\n'
        (copy / "versions" / "later.py").write_text(f'"""Later."""\nfrom alembic import op\n{later}')
        monkeypatch.setattr(migrate, "SCRIPTS", copy)

    return make


def test_a_backup_of_an_older_version_is_brought_up_to_date(
    place: Place, run_in: RunIn, tmp_path: Path, next_version: Callable[[], None]
) -> None:
    """It is filled into tables of its version, and these are migrated; an older database itself is not backed up."""
    source, target = worked(place("source", "sqlite")), place("target", "sqlite")
    made = run_in(source, "backup", tmp_path / "backup.zip")
    next_version()
    restored = run_in(target, "restore", tmp_path / "backup.zip")
    refused = run_in(source, "backup", tmp_path / "again.zip")
    with closing(Database(target.store_url)) as database:
        assert migrate.check(database) == "9.9.9"

    assert (made[0], restored[0], refused[0]) == (0, 0, 1)
    assert "which is older than 9.9.9" in refused[2]
    assert not (tmp_path / "again.zip").exists()
    assert len(everything(target.store_url)["users"]) == 5


def test_a_backup_that_unpacks_to_more_than_there_is_room_for_is_refused_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zip of 100 kB fills a disk, or the memory with its manifest; nothing of it is written."""
    manifest = {"format": 2, "made": "", "program": "", "revision": "1.0.0", "parts": [], "kept": {}}
    bombs = {"is too long": (" " * (64 << 10), b""), "its rows have 5 bytes, where .* has room for 4": ("", b"12345")}
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 5, 4))
    for why, (spaces, content) in bombs.items():
        with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(MANIFEST, json.dumps(manifest) + spaces)
            archive.writestr(ROWS, content)
        with pytest.raises(DumpRefused, match=why), opened(tmp_path / "a.zip"):
            pass


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, place: Place) -> Settings:
    """Give the settings of an installation without a database."""
    return place("data", request.param)


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    with closing(Database(settings.store_url)) as database:
        migrate.upgrade(database)
        if not database.embedded:
            with database.engine.begin() as connection:
                install(connection)
        fill(database)
        yield database


@pytest.fixture
def ask(run_in: RunIn, settings: Settings) -> Callable[..., Asked]:
    return lambda *words: run_in(settings, *words)


def status_of(ask: Callable[..., Asked]) -> dict[str, Any]:
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
        for id in ("silent", "heard"):
            processes.hear(session, KnownProcess(id, "m", {"cpu": 1}), forget=3600.0)
        session.execute(text("UPDATE processes SET heard = heard - 60 WHERE id = 'silent'"))
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
    ("revision", "said"),
    [("0017", "was made by a version before 1.0.0"), ("9.9.9", "by a newer version of the grader")],
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
def test_a_database_that_is_not_there_is_one_line(run_in: RunIn, tmp_path: Path, url: str, code: int) -> None:
    """Without the password of its URL."""
    found, _, err = run_in(Settings(data=tmp_path / "data", database_url=url), "status")

    assert (found, len(err.splitlines()), "open-sesame" in err) == (code, 1, False)


def unsigned(settings: Settings) -> list[str]:
    with closing(Database(settings.store_url)) as database, database.read() as session:
        return archive.unsigned(session, known_secret(settings))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_makes_nobody_run_its_code(place: Place, run_in: RunIn, tmp_path: Path, kind: str) -> None:
    """Who makes one up knows its secret: that is believed where it was before, or where somebody says so."""
    source, file = worked(place("source", kind)), tmp_path / "backup.zip"
    signed = run_in(source, "migrate", "--trust-files")
    assert (signed[0], signed[2], unsigned(source)) == (0, "", [])
    assert run_in(source, "backup", file)[0] == 0

    found = {}
    for name, secret, words in (("nothing", "", ()), ("trusted", "", ("--trust-files",)), ("the same", SECRET, ())):
        target = place(name, kind)
        target.data.mkdir(mode=0o700)
        if secret:
            (target.data / "secret").write_text(secret)
        code, _, err = run_in(target, "restore", file, *words)
        found[name] = (code, unsigned(target), "not signed" in err)
    assert found == {
        "nothing": (0, ["softmax at v1"], True), "trusted": (0, [], False), "the same": (0, [], False),
    }  # fmt: skip


STARTS = {("serve",), ("worker",)}


def schema_of(settings: Settings) -> object:
    with closing(Database(settings.store_url)) as database, database.read() as session:
        query = (
            "SELECT type, name, sql FROM sqlite_master"
            if database.embedded
            else "SELECT table_schema, table_name, column_name FROM information_schema.columns"
        )
        tables = sorted(map(str, session.execute(text(query))))
        return tables, session.scalars(text("SELECT version_num FROM alembic_version")).all()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("at", ["behind", "ahead", "unreleased"])
def test_only_a_start_and_migrate_change_the_tables(
    place: Place, run_in: RunIn, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path,
    next_version: Callable[[], None], at: str, kind: str,
) -> None:  # fmt: skip
    """Each command on a database one revision behind or ahead: one line, and every table is as it was."""
    settings, to = place("gym", kind), place("elsewhere", "postgres").database_url
    head, said = migrate.head(), {"behind": "older than", "ahead": "newer version", "unreleased": "before 1.0.0"}[at]
    settings.data.mkdir(mode=0o700)
    with closing(Database(settings.store_url)) as database:
        migrate.upgrade(database)
        if at == "behind":
            next_version()
        else:
            with database.write() as session:
                stamp = {"to": "9.9.9" if at == "ahead" else "0017"}
                session.execute(text("UPDATE alembic_version SET version_num = :to"), stamp)
                session.execute(text("CREATE TABLE later (id INTEGER)"))
    was, tried = schema_of(settings), []
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\n"))
    monkeypatch.chdir(tmp_path)
    for path, needed in commands_on_data():
        if at == "behind" and path in {("migrate",), *STARTS}:
            continue  # they migrate, but for `worker`, which runs in a process of its own and knows this version only
        words = [*path, *(word.replace(ARGUMENTS["to"], f"--to={to}") for word in needed)]
        if path in STARTS:
            code, err = started(settings, words)
        else:
            code, _, err = run_in(settings, *words)
        assert schema_of(settings) == was, words
        assert code in (1, 2), (words, err)
        assert len(err.splitlines()) == 1, (words, err)
        if path != ("restore",) and not (kind == "sqlite" and path == ("worker",)):
            assert said in err or path[0] == "move", (words, err)
        tried.append(path)
    assert len(tried) >= 9

    if at == "behind":
        code, out, _ = run_in(settings, "migrate")
        assert (code, "is at revision 9.9.9" in out) == (0, True)
        assert f"was at revision {head} and is at 9.9.9 now" in caplog.text
        assert run_in(settings, "class-code")[0] == 0


def started(settings: Settings, words: list[str]) -> tuple[int, str]:
    """Run a command that changes how its process takes signals; return its code and what it said."""
    environment = {**os.environ, "ATTENTION_GYM_DATA": str(settings.data), "DATABASE_URL": settings.database_url}
    environment["ATTENTION_GYM_PORT"] = str(free_port())
    told = subprocess.run(
        [sys.executable, "-m", "grader", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return told.returncode, told.stderr


def test_no_command_breaks_on_a_damaged_database(
    place: Place, run_in: RunIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whichever page is damaged, and in whatever way: one line and an exit code, or the answer; never a traceback."""
    settings = worked(place("gym", "sqlite"))
    file = settings.data / DATABASE
    whole, tried, told = file.read_bytes(), 0, 0
    monkeypatch.chdir(tmp_path)
    damages = [b"no database at all" * 500, whole[:5000], b"", whole[:100] + bytes(3996) + whole[4096:]]
    for page in range(0, len(whole) // 4096, 12):
        damages.append(whole[: page * 4096 + 100] + b"\xa5" * 3996 + whole[page * 4096 + 4096 :])
    for damaged in damages:
        for path, needed in commands_on_data():
            if path in STARTS or path in {("move",), ("regrade",)}:  # the one needs a server, the other a sandbox
                continue
            for end in ("-wal", "-shm", "-serving"):
                Path(f"{file}{end}").unlink(missing_ok=True)
            file.write_bytes(damaged)
            monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\n"))
            words = [*path, *needed]
            code, _, err = run_in(settings, *words)
            assert code in (0, 1, 2), words
            assert code == 0 or len(err.splitlines()) == 1, (words, err)
            tried, told = tried + 1, told + ("damaged" in err)
            Path(ARGUMENTS["file"]).unlink(missing_ok=True)
    assert (tried > 40, told > 15) == (True, True), (tried, told)


HOSTILE = "\x1b]0;mine\x07\x1b[2J\r\u202e\n100 rows are fine"
NAMES_OF_OURS = {"state", "status", "reason", "device", "queue", "board", "flag", "report", "worker", "claim", "digest"}


def test_no_command_hands_a_terminal_what_a_database_tells_it_to_do(
    place: Place, run_in: RunIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every text that can be changed in a database, and the class code, hold controls; nothing obeys them."""
    settings, changed, shown = worked(place("gym", "sqlite")), 0, ""
    with closing(sqlite3.connect(settings.data / DATABASE)) as raw:
        for table in Base.metadata.sorted_tables:
            for column in table.columns:
                if isinstance(column.type, String) and column.name not in NAMES_OF_OURS and not column.foreign_keys:
                    with suppress(sqlite3.IntegrityError):
                        raw.execute(f"UPDATE {table.name} SET {column.name} = {column.name} || ?", [HOSTILE])
                        changed += 1
        raw.commit()
    (settings.data / "class_code").write_text(HOSTILE)
    monkeypatch.chdir(tmp_path)
    for path, needed in commands_on_data():
        if path in STARTS or path in {("move",), ("regrade",)}:
            continue
        monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
        words = [*path, *needed]
        code, out, err = run_in(settings, *words)
        assert code in (0, 1, 2), words
        assert [sign for sign in out + err if not sign.isprintable() and sign != "\n"] == [], (words, out, err)
        shown += out + err

    assert changed > 20
    assert "<U+001B>" in shown
    assert "\n100 rows" not in shown


def test_two_services_on_one_file_are_refused(tmp_path: Path) -> None:
    """And `migrate` beside a service; other commands run, and once the first one has ended so does a second."""
    settings = Settings(data=tmp_path / "gym")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(settings.data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(SettingsError, match=r"a service is running on the database file .*sqlite3; stop it first"):
        installation.opened(settings, migrating=True)
    installation.opened(settings).close()
    holder.stdin.close()
    holder.wait(60)
    holder.stdout.close()
    installation.opened(settings, migrating=True).close()


HOLD = """
import sys
from pathlib import Path
from grader import installation
from grader.settings import Settings
installation.opened(Settings(data=Path(sys.argv[1])), migrating=True)
print("held", flush=True)
sys.stdin.read()
"""
