"""What a command writes goes into files of its own: through no link, and in no other's place without a word."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.cli.main import main
from grader.exercise.catalog import ROOT

ANSWER = str(ROOT / "exercises" / "softmax" / "examples" / "right_constant_of_the_file.py")
# Every command that writes below the current folder.
WRITERS = {
    "grade": ("grade", "softmax", ANSWER, "--plots", "pictures"),
    "exercise start": ("exercise", "start", "softmax"),
    "exercise table": ("exercise", "table", "--write", "table.md"),
    "exercise pack": ("exercise", "pack", "softmax", "--zip"),
    "backup": ("backup", "kept.backup"),
}
KEPT = b"somebody's own\n"


def _link(place: Path, victim: Path) -> None:
    place.symlink_to(victim)


def _hard_link(place: Path, victim: Path) -> None:
    os.link(victim, place)


def _dangling(place: Path, victim: Path) -> None:
    place.symlink_to(victim.with_name("not_there"))


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("command", WRITERS)
def test_no_command_writes_through_a_link(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each file that it writes by itself is tried as each kind of link; the command goes on, or refuses in one line."""
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path / "data"))
    assert main(["class-code"]) == 0  # makes the database
    outside, clean = tmp_path / "outside", tmp_path / "clean"
    for folder in (outside, clean):
        folder.mkdir()
    victim = outside / "victim"
    victim.write_bytes(KEPT)
    monkeypatch.chdir(clean)
    assert main([*WRITERS[command]]) == 0
    written = [path.relative_to(clean) for path in clean.rglob("*") if path.is_file()]
    laid: tuple[Callable[[Path, Path], None], ...] = (_link, _hard_link, _dangling)
    for number, lay in enumerate(laid):
        prepared = tmp_path / f"prepared_{number}"
        for path in written:
            (prepared / path).parent.mkdir(parents=True, exist_ok=True)
            lay(prepared / path, victim)
        monkeypatch.chdir(prepared)
        capsys.readouterr()

        code = main([*WRITERS[command]])

        said = capsys.readouterr()
        assert (victim.read_bytes(), os.listdir(outside)) == (KEPT, ["victim"])
        assert (code, said.err.count("\n")) in ((0, 0), (2, 1)), said.err
        assert written
        assert list(prepared.rglob(".*")) == []


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("command", WRITERS)
def test_no_command_replaces_a_file_without_a_word(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run a second time, it leaves each file as it is and says so, or names each that it has put in another's place."""
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path / "data"))
    assert main(["class-code"]) == 0  # makes the database
    (own := tmp_path / "own").mkdir()
    monkeypatch.chdir(own)
    assert main([*WRITERS[command]]) == 0
    before = {path.relative_to(own): path.stat().st_ino for path in own.rglob("*") if path.is_file()}
    capsys.readouterr()

    main([*WRITERS[command]])

    said = "".join(capsys.readouterr())
    assert before
    for path, inode in before.items():
        replaced = (own / path).stat().st_ino != inode
        assert (f"wrote {path}, in place of the one that was there" in said) == replaced
        assert replaced or "is there already" in said
    assert before.keys() == {path.relative_to(own) for path in own.rglob("*") if path.is_file()}
