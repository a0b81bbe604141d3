"""Entries that are given to one of all who ask: no copy of one is, and nothing else in their folder does any harm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.exercise.catalog import ROOT
from grader.jobs import single_use
from grader.jobs.single_use import SingleUseFiles, clean

BODY = bytes(range(200))


def a_pipe(path: Path) -> None:
    """Make what can be read as long as somebody writes."""
    os.mkfifo(path)


def an_endless_device(path: Path) -> None:
    """Make a link to what never ends."""
    path.symlink_to("/dev/zero")


def a_file_larger_than_memory(path: Path) -> None:
    """Make a file that takes no room."""
    with path.open("wb") as file:
        file.truncate(1 << 40)


def a_folder(path: Path) -> None:
    """Make a folder."""
    path.mkdir()


@pytest.mark.parametrize("make", [a_pipe, an_endless_device, a_file_larger_than_memory, a_folder])
def test_what_is_no_entry_holds_nobody_up(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """Neither a worker that asks nor the count of what there is; a real entry beside it is found."""
    make(tmp_path / "0000000000000000.entry")
    files = SingleUseFiles(tmp_path)
    assert files.take(len(BODY)) is None
    assert len(files) == 0
    files.put(BODY)

    assert files.take(len(BODY)) == BODY


@pytest.mark.parametrize("how", [shutil.copy, shutil.copy2, os.link])
def test_a_copy_is_given_to_nobody(tmp_path: Path, how: Callable[[Path, Path], object]) -> None:
    """Whether the original was taken before or not: with the data directory copied, two services would use it."""
    files, copied = SingleUseFiles(tmp_path / "one" / "x"), SingleUseFiles(tmp_path / "two" / "x")
    files.put(BODY)
    copied.folder.mkdir(parents=True)
    (path,) = files.folder.iterdir()
    how(path, copied.folder / path.name)
    taken = [files.take(len(BODY)), copied.take(len(BODY))]

    assert taken in ([BODY, None], [None, BODY])


def test_what_was_restored_from_a_backup_is_given_to_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if it has its former name and, as happens, its former inode: its status changed when it came back."""
    monkeypatch.setattr(single_use, "_NAMING_SECONDS", 0.05)
    files = SingleUseFiles(tmp_path / "x")
    files.put(BODY)
    (path,) = files.folder.iterdir()
    path.rename(tmp_path / "kept")
    time.sleep(0.2)
    (tmp_path / "kept").rename(path)

    assert files.take(len(BODY)) is None


def test_an_entry_of_another_folder_is_given_to_nobody(tmp_path: Path) -> None:
    """Numbers of another exercise, or of another version of it, that have the same size."""
    files, other = SingleUseFiles(tmp_path / "one"), SingleUseFiles(tmp_path / "two")
    files.put(BODY)
    files.folder.rename(other.folder)

    assert (len(other), other.take(len(BODY))) == (1, None)


def test_a_disk_that_takes_nothing_leaves_nothing_half_written(tmp_path: Path) -> None:
    """A write that fails in the middle is told, and takes no room."""
    code = (
        "import resource, signal, sys; from pathlib import Path; from grader.jobs.single_use import SingleUseFiles;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000));"
        "SingleUseFiles(Path(sys.argv[1])).put(bytes(100_000))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)

    assert "OSError: [Errno 27]" in done.stderr
    assert (list(tmp_path.iterdir()), SingleUseFiles(tmp_path).take(100_000)) == ([], None)


def test_cleaning_removes_entries_and_nothing_else(tmp_path: Path) -> None:
    """What somebody put there stays, and so does what a link leads to."""
    root, elsewhere = tmp_path / "stock", tmp_path / "elsewhere"
    SingleUseFiles(root / "old").put(BODY)
    SingleUseFiles(root / "old, with a note").put(BODY)
    SingleUseFiles(elsewhere).put(BODY)
    (root / "old, with a note" / "note.txt").write_text("look here", encoding="utf-8")
    (root / "linked").symlink_to(elsewhere)
    clean(root, frozenset())

    assert sorted(str(path.relative_to(root)) for path in root.rglob("*")) == [
        "linked", "old, with a note", "old, with a note/note.txt",
    ]  # fmt: skip
    assert len(SingleUseFiles(elsewhere)) == 1
