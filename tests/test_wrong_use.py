"""Every command with everything that can be wrong about each of its values: one line and an exit code, no traceback."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.cli.main import main
from grader.exercise.catalog import ROOT
from tests.commands import commands, process_kept

ANSWER = str(ROOT / "exercises" / "softmax" / "examples" / "right_constant_of_the_file.py")
# What each parameter is given where another one is wrong. An address of a database that answers is tried elsewhere.
RIGHT: dict[str, tuple[str, ...]] = {
    "exercise": ("softmax",),
    "exercises": ("softmx",),  # to prove one takes long
    "files": (ANSWER,),
    "id": ("0" * 24,),
    "name": ("Ada",),
    "file": ("new.backup",),
    "to": ("--to", "postgresql://nobody@127.0.0.1:1/none"),
    "key": ("the-class",),
    "new": ("next",),
    "zone": ("--zone", "UTC"),
    "weeks": ("--weeks", "1"),
    "form": ("--format", "csv"),
    "assignment": ("A-1",),
    "person": ("ada@school.edu",),
}
ALSO = {("user", "add"): ("--password-stdin",)}
SLOW = {("exercise", "table"), ("exercise", "pack")}  # half a second each: every sixth value
TEXTS = ("", "-1", "9" * 40, "\x1b[2J", "a\nforged", "\u202ex", "\udcff", "x" * 5000, "../x")  # none is an id
NAMES = ("line\nforged.py", "\x1b[2J.py", "\u202eyp.py", "\x85.py", "\udcff.py", "tab\t.py", "\u2028.py")
NEVER = {("serve",)}  # what is wrong about its settings is in tests/test_settings.py and test_served.py
# Told by `move` with a traceback or not at all; closed with the addresses that a database can have.
KNOWN_GAPS = {("move", "to", text) for text in TEXTS}


def _make(folder: Path) -> dict[str, str]:
    """Make one of each kind of bad file in `folder`, and return what to call them."""
    made = {
        "missing": "missing.py", "folder": "folder.py", "pipe": "pipe.py", "dangling": "dangling.py",
        "link": "link.py", "binary": "binary.py", "empty": "empty.py", "huge": "huge.py", "latin": "latin.py",
        "below a file": "empty.py/x.py", "device": "/dev/zero", "long": "x" * 300 + ".py", "loop": "loop.py",
    }  # fmt: skip
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    (folder / "dangling.py").symlink_to("nowhere.py")
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "link.py").symlink_to(ANSWER)
    (folder / "binary.py").write_bytes(bytes(range(256)))
    (folder / "empty.py").write_bytes(b"")
    (folder / "latin.py").write_bytes("x = 'é'".encode("latin-1"))
    with (folder / "huge.py").open("wb") as file:
        file.truncate(1 << 40)
    for name in NAMES:
        (folder / name).write_bytes(b"x = 1\n")
    return made | {repr(name): name for name in NAMES}


def _cases(files: dict[str, str]) -> Iterator[tuple[tuple[str, ...], str, str, list[str]]]:
    """Yield a command, the parameter that is wrong, the wrong value, and all words of the call."""
    for words, command in commands():
        needed = [one for one in command.params if one.required]
        for wrong in command.params:
            if words in NEVER or getattr(wrong, "is_flag", False):
                continue
            is_path = "Path" in str(wrong.type_descriptor.annotation)
            values = [*TEXTS, *(files.values() if is_path else ())]
            for value in values[:: 6 if words in SLOW else 1]:
                given = [word for one in needed if one is not wrong for word in RIGHT[one.name]]
                option = [wrong.opts[0]] if wrong.opts[0].startswith("-") else []
                yield words, wrong.name, value, [*words, *ALSO.get(words, ()), *given, *option, value]


def _run(words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what is wrong with how a command ends; nothing where all is well."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("a long enough password\n"))
    try:
        with process_kept():
            code = main(words)
    except BaseException as fault:  # noqa: BLE001 - any of them would end in a traceback
        capsys.readouterr()
        return f"{type(fault).__name__}: {fault}"
    said = capsys.readouterr()
    odd = {character for character in said.out + said.err if not character.isprintable() and character != "\n"}
    forged = [line for line in said.out.splitlines() if line.startswith("forged")]
    if odd or forged:
        return f"writes {odd or forged}"
    return "" if code == 0 or (code in (1, 2) and said.err.count("\n") == 1) else f"{code} {said.err!r}"


@pytest.mark.usefixtures("warm")
def test_every_wrong_value_gets_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each command and each of its parameters, read off the command line; what is written is harmless to show."""
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path / "data"))
    main(["class-code"])  # makes the database
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    tried, wrong = 0, {}
    for words, parameter, value, call in _cases(_make(tmp_path / "here")):
        if (words[-1], parameter, value) in KNOWN_GAPS:
            continue
        tried += 1
        if found := _run(call, capsys, monkeypatch):
            wrong[(*words, parameter, value[:40])] = found[:200]

    assert not wrong, "\n".join(f"{call}: {found}" for call, found in wrong.items())
    assert tried > 150


PLACES = (
    "{here}/empty.py",
    "{here}/empty.py/below",
    "{here}/pipe.py",
    "{here}/loop.py",
    "x" * 300,
    "\x1b[2J\nforged/\u202e",
)
ADDRESSES = ("nonsense", "postgresql://nobody@127.0.0.1:1/none", "postgresql://a@b@c/d")


def test_every_wrong_place_of_the_data_gets_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command that opens the database, with a data folder and an address that are none."""
    wrong = {}
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    _make(tmp_path / "here")
    variables = [("ATTENTION_GYM_DATA", place) for place in PLACES] + [("DATABASE_URL", url) for url in ADDRESSES]
    for variable, value in variables:
        for words in (
            ("class-code",),
            ("user", "reset", "Ada"),
            ("status",),
            ("rebuild",),
            ("backup", "b"),
            ("worker",),
        ):
            with monkeypatch.context() as patched:
                patched.setenv("ATTENTION_GYM_DATA", str(tmp_path / "data"))
                patched.setenv(variable, value.format(here=tmp_path / "here"))
                if found := _run(list(words), capsys, patched):
                    wrong[(*words, variable, value)] = found[:300]

    assert not wrong, "\n".join(f"{call}: {found}" for call, found in wrong.items())
