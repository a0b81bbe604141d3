"""A backup is one snapshot, and what is restored from it is everything, on SQLite and on Postgres alike."""

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

import pytest
from sqlalchemy import text

from grader.cli.main import main
from grader.jobs import claims
from grader.settings import DATABASE, Settings
from grader.store import accounts, migrate, submissions
from grader.store.backup_file import CONTENT, KEPT, MANIFEST, unpack
from grader.store.engine import Database
from grader.store.records import Draft, Role, Submission, SubmissionId, User
from tests.jobs import postgres
from tests.jobs.worked import everything, fill

SECRET = "ab" * 32
NUMBERS = itertools.count(1)
Asked = tuple[int, str, str]
Ask = Callable[..., Asked]
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
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
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
def test_everything_comes_back_on_either_database(source: Settings, place: Place, ask: Ask, kind: str) -> None:
    """Row by row with the keys; what was being graded waits, and no id is given again. Nobody else reads the file."""
    target, file = place("target", kind), source.data / "backup.zip"
    before = everything(source.store_url)
    made = ask(source, "backup", file)
    restored = ask(target, "restore", file)
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
    source: Settings, place: Place, ask: Ask, tmp_path: Path
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
        made = [ask(source, "backup", tmp_path / f"{number}.zip")[0] for number in range(2)]
        stop.set()
        for thread in threads:
            thread.join()
    counts = []
    for number in range(2):
        target = place(f"target{number}", "sqlite")
        (parts := tmp_path / f"parts{number}").mkdir()
        unpack(tmp_path / f"{number}.zip", parts)
        assert ask(target, "restore", tmp_path / f"{number}.zip")[0] == 0
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


def test_nothing_is_overwritten(source: Settings, ask: Ask, tmp_path: Path) -> None:
    """Neither a file by a backup, nor what is there by a restored one."""
    (tmp_path / "there").write_text("mine")
    refused = ask(source, "backup", tmp_path / "there")
    assert ask(source, "backup", tmp_path / "backup.zip")[0] == 0
    before = everything(source.store_url)
    again = ask(source, "restore", tmp_path / "backup.zip")

    assert (refused[0], again[0]) == (2, 2)
    assert "is there already" in refused[2]
    assert "there is a database already" in again[2] or "is not empty" in again[2]
    assert (tmp_path / "there").read_text() == "mine"
    assert everything(source.store_url) == before
    assert (source.data / "secret").read_text() == SECRET


def test_what_cannot_be_restored_whole_leaves_nothing(place: Place, ask: Ask, tmp_path: Path) -> None:
    """Another key in its place, or a target that is not empty: the keys that were put there are taken back."""
    source, file = worked(place("source", "sqlite")), tmp_path / "backup.zip"
    (source.data / "class_code").write_text("a-class-code")
    assert ask(source, "backup", file)[0] == 0
    other = place("other", "sqlite")
    other.data.mkdir(mode=0o700)
    (other.data / "class_code").write_text("another-code")
    code, _, err = ask(other, "restore", file)
    full = worked(place("full", "postgres"))
    (full.data / "secret").unlink()
    refused = ask(full, "restore", file)

    assert (code, refused[0]) == (2, 2)
    assert f"{other.data / 'class_code'} is not the one of the backup" in err
    assert "is not empty" in refused[2]
    assert [path.name for path in other.data.iterdir()] == ["class_code"]
    assert list(full.data.iterdir()) == []


@pytest.fixture
def backup(place: Place, ask: Ask, tmp_path: Path) -> Path:
    """Give a backup."""
    assert ask(worked(place("source", "sqlite")), "backup", tmp_path / "backup.zip")[0] == 0
    return tmp_path / "backup.zip"


def test_a_damaged_backup_is_refused(backup: Path, place: Place, ask: Ask) -> None:
    """Wherever a byte differs, and however much is missing; nothing is there afterwards."""
    target, whole = place("target", "sqlite"), backup.read_bytes()
    steps = range(200, len(whole) - 400, len(whole) // 12)
    damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in steps]
    for content in (*damaged, whole[: len(whole) // 2], b"", b"something else"):
        backup.write_bytes(content)
        code, _, err = ask(target, "restore", backup)
        assert (code, len(err.splitlines())) == (2, 1), err
        assert "damaged" in err
        assert list(target.data.iterdir()) == []
    assert ask(target, "restore", backup.with_name("nowhere.zip"))[2].startswith("there is no backup")


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"format": 2}, "has form 2, where 1 is known"), ({"revision": "9999"}, "was made by a newer version"),
     ({"sizes": {"../../etc/passwd": 1}}, "is no backup, or is damaged"), ({"digests": {}}, "is no backup")],
)  # fmt: skip
def test_a_backup_of_another_form_is_refused(backup: Path, place: Place, ask: Ask, changed: dict, said: str) -> None:
    """It says which, and nothing is written anywhere."""
    target, other = place("target", "sqlite"), backup.with_name("other.zip")
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(other, "w") as new:
        new.writestr(MANIFEST, json.dumps(json.loads(old.read(MANIFEST)) | changed))
        for name in (CONTENT, KEPT[0]):
            new.writestr(name, old.read(name))
    code, _, err = ask(target, "restore", other)

    assert (code, said in err, list(target.data.iterdir())) == (2, True, [])


def test_a_backup_of_an_older_version_is_brought_up_to_date(place: Place, ask: Ask, tmp_path: Path) -> None:
    """A file that this version has not migrated yet is backed up as it is, and migrated where it is restored."""
    source, target = place("source", "sqlite"), place("target", "sqlite")
    with closing(Database(source.store_url)) as database:
        migrate.upgrade(database, "0010")
        with database.write() as session:
            session.execute(text("INSERT INTO users (name, key, password, created) VALUES ('Ada', 'ada', 'h', 1.0)"))
    made = ask(source, "backup", tmp_path / "backup.zip")
    restored = ask(target, "restore", tmp_path / "backup.zip")
    with closing(Database(source.store_url)) as database:
        assert migrate.current(database) == "0010"
    with closing(Database(target.store_url)) as database:
        assert migrate.check(database)

    assert (made[0], restored[0]) == (0, 0)
    assert "tables of revision 0010" in made[1]
    assert [row[1] for row in everything(target.store_url)["users"]] == ["Ada"]


def test_an_older_postgres_is_not_read_as_if_it_were_newer(place: Place, ask: Ask, tmp_path: Path) -> None:
    """Its tables are others; one line says what to do, and no file is left."""
    source = place("source", "postgres")
    source.data.mkdir()
    with closing(Database(source.store_url)) as database:
        migrate.upgrade(database, "0010")
    code, _, err = ask(source, "backup", tmp_path / "backup.zip")

    assert code == 1
    assert "is at revision 0010, which is older than" in err
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
