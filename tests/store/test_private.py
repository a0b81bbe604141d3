"""Who may read what is stored: its owner, whatever the umask and the modes were before."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from grader.errors import SettingsError
from grader.exercise.catalog import ROOT
from grader.store import keys, migrate, private
from grader.store.engine import Database

NOBODY = 65534
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
# Reads whatever can be read below a folder, as another user; prints what that was.
READER = """
import os, sys
os.setgroups([]); os.setresgid({id}, {id}, {id}); os.setresuid({id}, {id}, {id})
for folder, folders, files in os.walk(sys.argv[1]):
    print(os.path.basename(folder) + "/")
    for name in files:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                file.read(1)
        except PermissionError:
            continue
        print(name)
"""
# Starts as an ordinary user, whom not all that is above the project lets in: what is needed is imported before.
START = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from grader.errors import SettingsError
from grader.store import private
os.setgroups([]); os.setresuid(12345, 12345, 12345)
try:
    private.secure(Path(sys.argv[2]))
except SettingsError as refusal:
    print(refusal)
"""


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def public() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def modes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}


def filled(data: Path) -> Database:
    """Return a migrated database that has been written to, beside a secret and a class code."""
    private.secure(data, data / "attention_gym.sqlite3")
    keys.secret(data)
    keys.class_code(data)
    database = Database(f"sqlite:///{data / 'attention_gym.sqlite3'}")
    migrate.upgrade(database)
    return database


def opened(data: Path) -> None:
    data.chmod(0o755)
    for path in data.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def read_by_another_user(folder: Path) -> set[str]:
    """Return the names of the files that an ordinary user can read below a folder, and the folders they can list."""
    command = [sys.executable, "-c", READER.format(id=NOBODY), str(folder)]
    # The interpreter starts as root and changes then: its own files may lie where others cannot read.
    return set(subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout.split())


def refusal_to_a_user(data: Path) -> str:
    """Return what an ordinary user is told who starts with this data folder."""
    command = [sys.executable, "-c", START, str(ROOT), str(data)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_all_that_is_made_is_for_its_owner_alone(tmp_path: Path, open_umask: None) -> None:
    """The folder, the database with the files that SQLite puts beside it, secrets and backups; with a umask of 0."""
    data = tmp_path / "new" / "data"
    database = filled(data)
    with database.write() as session:  # the files of the log are there as long as somebody is connected
        seen = modes(data)
        session.rollback()
    with sqlite3.connect(data / "attention_gym.sqlite3") as raw:
        migrate._back_up(raw, str(data / "attention_gym.sqlite3"), "old")  # type: ignore[arg-type]
    raw.close()
    database.close()
    seen |= modes(data)
    folders = {"."}

    assert {"attention_gym.sqlite3-wal", "attention_gym.sqlite3-shm", "attention_gym.sqlite3.before-old"} <= set(seen)
    assert seen == {name: 0o700 if name in folders else 0o600 for name in seen}
    assert stat.S_IMODE(data.parent.stat().st_mode) == 0o700


@AS_ROOT
def test_another_user_reads_nothing(public: Path) -> None:
    """Neither a name nor a byte, also while a service is connected; what lies beside the folder they do read."""
    (public / "beside").write_text("x")
    (public / "beside").chmod(0o644)
    database = filled(public / "data")
    with database.read():
        readable = read_by_another_user(public)
    opened(public / "data")
    without = read_by_another_user(public)
    database.close()

    assert readable == {f"{public.name}/", "beside"}
    assert {"attention_gym.sqlite3", "secret", "class_code"} <= without


def test_what_was_open_is_closed_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A folder from a time before this was checked: closed at the next start, in one line that says what it means."""
    data = tmp_path / "data"
    filled(data).close()
    (data / "workers").mkdir()
    (data / "workers" / "one.lock").touch()
    (data / "lost+found").mkdir()
    opened(data)
    private.secure(data, data / "attention_gym.sqlite3")
    private.secure(data, data / "attention_gym.sqlite3")  # the second time there is nothing to tell
    seen = modes(data)
    del seen["lost+found"]

    assert set(seen.values()) == {0o700, 0o600}
    (line,) = (record.getMessage() for record in caplog.records)
    assert "could read" in line
    closed = ("secret", "class_code", "attention_gym.sqlite3", "workers")
    assert all(str(data / name) in line for name in closed)


def test_what_others_could_not_reach_is_closed_in_silence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A backup that was made by hand in the closed folder is no reason to be afraid."""
    data = tmp_path / "data"
    filled(data).close()
    (data / "backup.sqlite3").touch()
    (data / "backup.sqlite3").chmod(0o644)
    private.secure(data, data / "attention_gym.sqlite3")

    assert modes(data)["backup.sqlite3"] == 0o600
    assert caplog.text == ""


def test_a_folder_with_other_things_in_it_is_left_as_it_is(tmp_path: Path) -> None:
    """Somebody's home or a shared disk: others may need what is there, so the start is refused, with what to do."""
    data = tmp_path / "home"
    data.mkdir()
    data.chmod(0o755)
    (data / "thesis.tex").touch()
    with pytest.raises(SettingsError, match=r"DATA is .*home, .*mode 0755.*thesis\.tex.*chmod 700") as refused:
        private.secure(data)

    assert stat.S_IMODE(data.stat().st_mode) == 0o755
    assert "ATTENTION_GYM_ALLOW_OPEN_DATA=yes" in str(refused.value)
    data.chmod(0o700)
    private.secure(data)


def test_a_folder_that_stays_open_takes_a_setting(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever sets it is told at each start."""
    data = tmp_path / "shared"
    data.mkdir()
    data.chmod(0o755)
    (data / "thesis.tex").touch()
    private.secure(data, accept_open=True)

    assert "mode 0755" in caplog.text
    assert "the settings accept that" in caplog.text


@AS_ROOT
@pytest.mark.parametrize(
    ("folder_owner", "file_owner", "wanted"),
    [
        (NOBODY, NOBODY, f"belongs to user {NOBODY}.*chown -R 12345 .*ALLOW_OPEN_DATA=yes"),
        (12345, NOBODY, r"secret is open .*mode 0644.*cannot be changed: Operation not permitted; expected: 600\. "),
        (12345, 12345, "^$"),
    ],
)
def test_what_belongs_to_somebody_else_is_refused(
    public: Path, folder_owner: int, file_owner: int, wanted: str
) -> None:
    """Its owner could read everything; root alone serves from whatever directory it is given."""
    data = public / "data"
    data.mkdir(0o700)
    (data / "secret").touch()
    (data / "secret").chmod(0o644)
    os.chown(data / "secret", file_owner, file_owner)
    os.chown(data, folder_owner, folder_owner)
    told = refusal_to_a_user(data)
    private.secure(data)

    assert re.search(wanted, told)


@pytest.mark.parametrize("make", [lambda path: path.touch(), lambda path: path.symlink_to("nowhere")])
def test_what_is_no_folder_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A file, or a link that leads nowhere."""
    make(tmp_path / "data")
    with pytest.raises(SettingsError, match="is no directory"):
        private.secure(tmp_path / "data")


def test_a_link_is_followed(tmp_path: Path) -> None:
    """The folder may be elsewhere; it is that one which is closed."""
    (tmp_path / "disk").mkdir(0o755)
    (tmp_path / "data").symlink_to("disk")
    private.secure(tmp_path / "data")

    assert stat.S_IMODE((tmp_path / "disk").stat().st_mode) == 0o700


def test_a_database_elsewhere_is_closed_as_well(tmp_path: Path) -> None:
    """Its name and place come from the settings; what else is there stays as it is."""
    file = tmp_path / "shared" / "class.db"
    file.parent.mkdir()
    for name in ("class.db", "class.db-wal", "other.db"):
        (file.parent / name).touch()
        (file.parent / name).chmod(0o644)
    private.secure(tmp_path / "data", file)

    assert {name: mode for name, mode in modes(file.parent).items() if name != "."} == {
        "class.db": 0o600, "class.db-wal": 0o600, "other.db": 0o644,
    }  # fmt: skip


@AS_ROOT
def test_a_folder_that_cannot_be_written_is_told(public: Path) -> None:
    """At the start and in one sentence, instead of what SQLite says of it."""
    data = public / "data"
    data.mkdir(0o500)
    os.chown(data, 12345, 12345)
    told = refusal_to_a_user(data)

    assert "where nothing can be stored: this user cannot write to the folder" in told
    assert "or its file system is read-only" in told


def test_a_missing_folder_of_a_database_is_not_made(tmp_path: Path) -> None:
    """A mistyped address would begin an empty class, in a folder of root's."""
    file = tmp_path / "elsewhere" / "gym.sqlite3"
    with pytest.raises(SettingsError, match=r"where nothing can be stored: there is no folder .*elsewhere; expected"):
        private.secure(tmp_path / "data", file)
    assert not file.parent.exists()


@pytest.mark.parametrize(
    "url", ["mysql://me:open-sesame@h/gym", "http://h/gym", "sqlite://", "sqlite:///", "sqlite:///:memory:",
            "postgresql+asyncpg://h/gym", "mongodb://h", "oracle://me:open-sesame@h", "sqlite+aiosqlite:///x"],
)  # fmt: skip
def test_another_kind_of_database_is_told(url: str) -> None:
    """It names what there can be instead, and no password."""
    with pytest.raises(SettingsError, match="a database is a SQLite file or a Postgres; expected: sqlite:///") as told:
        Database(url)
    assert "open-sesame" not in str(told.value)


@pytest.mark.parametrize("name", ["secret", "class_code.1", "attention_gym.sqlite3-wal", "workers", "workers/one.lock"])
@pytest.mark.parametrize("plant", ["link", "second name"])
def test_what_was_planted_is_not_touched(name: str, plant: str, tmp_path: Path) -> None:
    """A link or a second name of a file elsewhere, under each name of ours: told, and what it leads to stays."""
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    (elsewhere / "file").write_text("x")
    (elsewhere / "file").chmod(0o644)
    (data / name).parent.mkdir(parents=True)
    if plant == "link":
        (data / name).symlink_to(elsewhere if name == "workers" else elsewhere / "file")
    else:
        (data / name).hardlink_to(elsewhere / "file")
    data.chmod(0o777)

    with pytest.raises(SettingsError, match="expected: a file of the grader's own"):
        private.secure(data)
    assert modes(elsewhere) == {".": 0o755, "file": 0o644}


@AS_ROOT
def test_a_secret_of_somebody_else_is_refused(public: Path) -> None:
    """Where others could write, they may have left a secret that they know."""
    data = public / "data"
    data.mkdir(mode=0o777)
    data.chmod(0o777)
    (data / "secret").write_text("00" * 32)
    os.chown(data / "secret", NOBODY, NOBODY)

    with pytest.raises(SettingsError, match=f"belongs to user {NOBODY}"):
        private.secure(data)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _foreign(path: Path, *tables: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        for name in tables:
            raw.execute(f"CREATE TABLE {name} (url TEXT)")


NO_DATABASES: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir, "a pipe": os.mkfifo, "a socket": _socket, "a text": lambda path: path.write_text("root:x"),
    "a browser's": lambda path: _foreign(path, "places"),
    "migrated": lambda path: _foreign(path, "places", "alembic_version"),
}  # fmt: skip


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("make", NO_DATABASES.values(), ids=NO_DATABASES)
def test_what_is_no_database_keeps_its_mode(tmp_path: Path, make: Callable[[Path], None], linked: bool) -> None:
    """A wrong address, of `/dev/null` or of another program's file, closed that to everybody else on the machine."""
    data, other, link = tmp_path / "data", tmp_path / "other", tmp_path / "link"
    make(other)
    other.chmod(0o755)
    link.symlink_to(other)
    with pytest.raises(SettingsError, match=r"which is no SQLite file|which holds tables of something else"):
        private.secure(data, link if linked else other)

    assert stat.S_IMODE(other.stat().st_mode) == 0o755
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "link", "other"]


@pytest.mark.parametrize("name", [pattern.replace("*", "x") for pattern in private.OURS])
def test_a_link_in_the_data_folder_changes_no_mode_elsewhere(tmp_path: Path, name: str) -> None:
    """Whatever of ours it is called like; as root, a link to `/bin/sh` once closed that to everybody else."""
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    data.mkdir(0o700)
    elsewhere.write_text("mine")
    elsewhere.chmod(0o755)
    (data / name).symlink_to(elsewhere)
    private.secure(data)

    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o755
