"""Where a SQLite database lies: nobody else chooses its file, what stands beside it, or where either leads."""

from __future__ import annotations

import grp
import io
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.cli.main import main
from grader.errors import SettingsError
from grader.exercise.catalog import ROOT
from grader.installation import opened
from grader.settings import Settings, file_url
from grader.store import private
from grader.store.engine import Database
from tests.commands import commands_on_data
from tests.machine import free_port

NOBODY, SERVICE = 65534, 12345
NAME = "gym.sqlite3"
ENDS = ("", "-wal", "-shm", "-journal", "-serving")
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
# Looks at a place as an ordinary user, who may not enter the project's folder: what is needed is imported before.
LOOK = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from grader.errors import SettingsError
from grader.store import private
os.setgroups([]); os.setresgid(12345, 12345, 12345); os.setresuid(12345, 12345, 12345)
try:
    private.check_place(Path(sys.argv[2]))
except SettingsError as refusal:
    print(refusal)
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """Give a directory that every user may enter, beside one called `elsewhere`."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    for name in ("db", "elsewhere"):
        (folder / name).mkdir()
    yield folder / "db"
    shutil.rmtree(folder)


def everything(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return mode, owner and size of all that is below a folder, without following links."""
    found = {str(path.relative_to(folder)): path.lstat() for path in folder.rglob("*")}
    return {
        name: (one.st_mode, one.st_uid, one.st_size) for name, one in found.items() if stat.S_ISDIR(one.st_mode) < 1
    }


def test_every_command_refuses_a_folder_that_others_can_write_to(
    public: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With whatever another user left there: one line with what to do, and nothing is made, followed or closed."""
    data = public.parent / "data"
    data.mkdir(mode=0o700)
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(data))
    monkeypatch.setenv("ATTENTION_GYM_DATABASE_URL", file_url(public / NAME))
    monkeypatch.setenv("ATTENTION_GYM_PORT", str(free_port()))
    monkeypatch.chdir(public.parent / "elsewhere")
    assert main(["class-code"]) == 0
    kept = (public / NAME).read_bytes()
    victim = public.parent / "elsewhere" / "victim"
    victim.write_bytes(kept)
    victim.chmod(0o644)
    tried = 0
    for words, needed in commands_on_data():
        if words == ("worker",):  # which wants a Postgres
            continue
        for mode in (0o777,) if words == ("serve",) else (0o777, 0o1777, 0o775):
            for leave in (lambda: None, lambda: os.symlink(victim, public / NAME)):
                for left in list(public.iterdir()):
                    left.unlink()
                leave()
                if not (public / NAME).is_symlink():
                    (public / NAME).write_bytes(kept)
                os.chown(public / NAME, NOBODY, NOBODY, follow_symlinks=False)
                os.chown(public, 0, NOBODY)
                public.chmod(mode)
                before = everything(public.parent)

                if words == ("serve",):  # which keeps a port until its process ends
                    command = [sys.executable, "-m", "grader", "serve"]
                    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
                    code, err = done.returncode, done.stderr
                else:
                    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
                    capsys.readouterr()
                    code, err = main([*words, *needed]), capsys.readouterr().err

                assert (code, err.count("\n")) in ((1, 1), (2, 1)), (words, err)
                assert f"{public}" in err, (words, err)
                assert f"chmod go-w {public}" in err, (words, err)
                assert everything(public.parent) == before, words
                tried += 1
    assert tried > 50


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("plant", ["file", "link", "dangling link"])
def test_what_another_user_left_in_a_folder_of_ours_is_refused(public: Path, end: str, plant: str) -> None:
    """As from a time when the folder was open, under each name that SQLite or a service uses."""
    data, planted, elsewhere = public.parent / "data", public / f"{NAME}{end}", public.parent / "elsewhere"
    if plant == "file":
        planted.touch()
    else:
        planted.symlink_to(elsewhere / "led")
    if plant == "link":
        (elsewhere / "led").touch()
    os.chown(planted, NOBODY, NOBODY, follow_symlinks=False)
    before = everything(public.parent)
    with pytest.raises(SettingsError, match=rf"{planted} .*user {NOBODY}.*expected: ") as refused:
        private.secure(data, public / NAME)

    assert "\n" not in str(refused.value)
    assert everything(public.parent) == before
    private.secure(data, public / NAME, accept_open=True)  # by a setting, where nobody else can get at it


def own_group(folder: Path) -> None:
    os.chown(folder, 0, pwd.getpwuid(0).pw_gid)
    folder.chmod(0o775)


def services_group(folder: Path) -> None:
    """Let the group write that is a service's own, where the folder is root's."""
    user = pwd.getpwnam("daemon")
    os.chown(folder, 0, user.pw_gid)
    folder.chmod(0o770)
    (folder / NAME).touch()
    os.chown(folder / NAME, user.pw_uid, user.pw_gid)


def services(folder: Path) -> None:
    """Give the database to the user of a service, for whom root runs a command."""
    for end in ENDS:
        (folder / f"{NAME}{end}").touch()
        os.chown(folder / f"{NAME}{end}", SERVICE, SERVICE)
    os.chown(folder, SERVICE, SERVICE)


def linked(folder: Path) -> None:
    (folder.parent / "elsewhere" / "there").touch()
    (folder / NAME).symlink_to("../elsewhere/there")


def to_be_made(folder: Path) -> None:
    (folder / NAME).symlink_to("../elsewhere/there")


def services_link(folder: Path) -> None:
    linked(folder)
    elsewhere = folder.parent / "elsewhere"
    for path in (folder, folder / NAME, elsewhere, elsewhere / "there"):
        os.chown(path, SERVICE, SERVICE, follow_symlinks=False)


@pytest.mark.parametrize(
    "make", [own_group, services_group, services, linked, to_be_made, services_link, lambda folder: None]
)
def test_what_is_ours_is_accepted(public: Path, make: Callable[[Path], None]) -> None:
    """The group of one's own that a umask of 002 goes with, a service's files for root, links of ours.

    It is made for its owner alone, wherever a link leads.
    """
    make(public)
    private.secure(public.parent / "data", public / NAME)
    before = os.umask(0)
    try:
        Database(file_url(public / NAME)).engine.connect().close()
    finally:
        os.umask(before)

    assert stat.S_IMODE((public / NAME).stat().st_mode) == 0o600


def of_another(folder: Path) -> None:
    os.chown(folder, NOBODY, NOBODY)


def into_an_open_folder(folder: Path) -> None:
    linked(folder)
    (folder.parent / "elsewhere").chmod(0o1777)


def over_an_open_folder(folder: Path) -> None:
    for name in ("open", "far"):
        (folder.parent / name).mkdir()
    (folder.parent / "far" / NAME).touch()
    (folder.parent / "open" / NAME).symlink_to(folder.parent / "far" / NAME)
    (folder.parent / "open").chmod(0o777)
    (folder / NAME).symlink_to(folder.parent / "open" / NAME)


def to_roots_file(folder: Path) -> None:
    """Let the user of a service, for whom root runs a command, link a file of root's."""
    linked(folder)
    for path in (folder, folder / NAME):
        os.chown(path, SERVICE, SERVICE, follow_symlinks=False)


def to_roots_folder(folder: Path) -> None:
    to_roots_file(folder)
    (folder.parent / "elsewhere" / "there").unlink()


def shared_group(folder: Path) -> None:
    users = {user.pw_name for user in pwd.getpwall()}
    os.chown(folder, 0, next(one.gr_gid for one in grp.getgrall() if one.gr_name not in users))
    folder.chmod(0o775)


@pytest.mark.parametrize(
    ("make", "as_root"),
    [(of_another, False), (into_an_open_folder, True), (over_an_open_folder, True), (to_roots_file, True),
     (to_roots_folder, True), (shared_group, True), (shared_group, False), (services_group, False)],
)  # fmt: skip
def test_what_another_user_could_change_is_refused(public: Path, make: Callable[[Path], None], as_root: bool) -> None:
    """Also where a link of ours leads, and for root where the link is another user's: it would make files there."""
    make(public)
    if as_root:
        with pytest.raises(SettingsError, match="expected: ") as refused:
            private.check_place(public / NAME)
        told = str(refused.value)
    else:
        command = [sys.executable, "-c", LOOK, str(ROOT), str(public / NAME)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert "; expected: " in told
    assert "\n" not in told


def test_the_file_that_a_service_locks_is_never_made_through_a_link(public: Path) -> None:
    """Not even where the settings accept an open folder, and whoever has made the link."""
    elsewhere = public.parent / "elsewhere" / "made"
    (public / f"{NAME}-serving").symlink_to(elsewhere)
    public.chmod(0o777)
    settings = Settings(data=public.parent / "data", database_url=file_url(public / NAME), allow_open_data=True)
    with pytest.raises(SettingsError, match=r"-serving cannot be opened: .*; expected: a file of ours, or none"):
        opened(settings, migrating=True)

    assert not elsewhere.exists()
