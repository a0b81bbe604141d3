"""The command line imports nothing from the folder in which it is used, where collected hand-ins may lie."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from grader.exercise.catalog import ROOT
from tests.commands import commands

PROGRAM = str(Path(sys.executable).with_name("attention-gym"))
ANSWER = ROOT / "exercises" / "softmax" / "examples" / "right_constant_of_the_file.py"
TRAP = """\
import os
file = os.open({file!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(file, (__name__ + " ").encode())
os.close(file)
"""
# What each command is given in the folder of hand-ins; the service's data lies elsewhere.
GIVEN: dict[tuple[str, ...], tuple[object, ...]] = {
    ("grade",): ("softmax", ANSWER, "--plots", "pictures"),
    ("exercise", "list"): (),
    ("exercise", "start"): ("softmax",),
    ("exercise", "new"): ("softmax",),  # refused: it is there
    ("exercise", "check"): ("softmx",),  # refused; what it would import is imported by name
    ("exercise", "table"): (),
    ("exercise", "pack"): ("softmax",),
    ("serve",): (),  # refused by a setting; likewise
    ("worker",): (),  # refused: no Postgres
    ("doctor",): (),
    ("class-code",): (),
    ("user", "add"): ("Ada", "--password-stdin"),
    ("user", "reset"): ("Ada",),
    ("user", "administrator"): ("Ada",),
    ("status",): (),
    ("regrade",): ("0" * 24,),
    ("rebuild",): (),
    ("migrate",): (),
    ("move",): ("--to", "postgresql://nobody@127.0.0.1:1/none"),
    ("backup",): ("kept.backup",),
    ("restore",): ("kept.backup",),
    ("class", "create"): ("A", "--zone", "UTC"),
    ("class", "list"): (),
    ("class", "staff"): ("A", "ada@school.edu"),
    ("class", "copy"): ("A", "B", "--weeks", "1"),
    ("class", "import"): ("A", "roster.csv"),  # this and the like: refused, there is no such file
    ("class", "assign"): ("A", "assignments.json"),
    ("class", "grades"): ("A",),
    ("class", "whatif"): ("A", "change.json"),
    ("class", "export"): ("A", "--format", "canvas"),
    ("class", "board"): ("A", "A-1", "softmax"),
    ("class", "mistakes"): ("A",),
    ("class", "audit"): ("A",),
    ("class", "replay"): ("term.jsonl",),
}
ALL = """\
import sys
from grader import search_path
search_path.leave_out_the_current_folder()
import importlib, os, pkgutil
import grader
from grader.cli.main import main
for command in {commands!r}:
    os.environ["ATTENTION_GYM_PORT"] = "none" if command == ["serve"] else "7860"
    print(">", *command[:2], main(command), flush=True)
for module in pkgutil.walk_packages(grader.__path__, "grader."):
    if not module.name.startswith(("grader.store.migrations.", "grader.__main__")):
        importlib.import_module(module.name)
loaded = {{name.partition(".")[0] for name, module in sys.modules.items() if getattr(module, "__file__", None)}}
print(*sorted(loaded), flush=True)
os._exit(0)
"""
# What Python and the script that pip has written import before our first line.
BEFORE_US = "import re, sys; import grader; print(*{name.partition('.')[0] for name in sys.modules})"


def _names() -> set[str]:
    """Return the first name of every module of the standard library, of each installed package, and of ours."""
    ours = {"grader", "reference", "exercises", "tests", "benchmarks", "conftest", "app", "usercustomize"}
    loaded = {name.partition(".")[0] for name in sys.modules}
    found = {*sys.stdlib_module_names, *packages_distributions(), *loaded, *ours, "sitecustomize"}
    return {name for name in found if name.isidentifier()}


class Folder:
    """A folder with a trap for each name; `fired` says which of them were run."""

    def __init__(self, path: Path, names: set[str]) -> None:
        path.mkdir(exist_ok=True)
        self.path, self.names, self._log = path, names, path.parent / "fired"
        trap = path.parent / "trap.py"
        trap.write_text(TRAP.format(file=str(self._log)), encoding="utf-8")
        for name in names:
            os.link(trap, path / f"{name}.py")
        (path / "matplotlibrc").write_bytes(b"\xff")  # to read it is an exception

    @property
    def fired(self) -> list[str]:
        """The names of the traps that were run, in order."""
        return self._log.read_text().split() if self._log.exists() else []

    def run(self, *command: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the folder, with none of Python's variables but those that are given."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run(
            [str(word) for word in command],
            cwd=self.path,
            env=kept | {"ATTENTION_GYM_DATA": str(self.path.parent / "data")} | variables,
            input="a long enough password\n",
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder with a trap for every name."""
    return Folder(tmp_path / "handed_in", _names())


def test_the_traps_are_run_by_what_looks_there(folder: Folder) -> None:
    """The control: Python by itself runs the first one that it meets."""
    done = folder.run(sys.executable, "-c", "import random, torch")

    assert (done.returncode, set(folder.fired)) == (0, {"random", "torch"})


def test_no_command_imports_what_lies_in_the_current_folder(folder: Folder) -> None:
    """All commands, and all modules of the grader, in one process that has a trap for whatever they import."""
    assert sorted(GIVEN) == sorted(words for words, _ in commands()), "name here what the new command is given"
    given = [[*words, *map(str, arguments)] for words, arguments in GIVEN.items()]

    (folder.path / "grader.py").unlink()  # as for `python -m grader`, which would run it before any line of ours
    done = folder.run(sys.executable, "-c", ALL.format(commands=given))

    assert (done.returncode, folder.fired) == (0, []), done.stderr
    ends = dict(line[2:].rsplit(" ", 1) for line in done.stdout.splitlines() if line.startswith("> "))
    assert (len(ends), ends["grade softmax"]) == (len(GIVEN), "0"), done.stdout
    loaded = set(done.stdout.splitlines()[-1].split())
    assert len(loaded) > 200
    assert {name for name in loaded - folder.names if name.isidentifier()} <= {"_cyutility"}, "names without a trap"


def test_the_program_grades_between_traps(folder: Folder) -> None:
    """The sandbox too, its zygote and its children import nothing from there."""
    done = folder.run(PROGRAM, "grade", "softmax", ANSWER, "--json")

    assert (done.returncode, folder.fired, done.stderr) == (0, [], "")
    assert '"score": 100.0' in done.stdout


@pytest.mark.parametrize("entry", ["", ".", "lib", "absolute"])
def test_a_search_path_that_names_the_current_folder_is_mended(entry: str, tmp_path: Path) -> None:
    """What Python imports before our first line is the first of PYTHONPATH's folders that has it; all else is ours."""
    first = set(subprocess.run([sys.executable, "-c", BEFORE_US], capture_output=True, text=True).stdout.split())
    names = _names() - first - {"sitecustomize", "usercustomize", "nt", "_winapi"}  # Python looks for these as well
    folder = Folder(tmp_path / ("lib" if entry == "lib" else "handed_in"), names)
    if entry == "lib":
        folder.path = tmp_path

    variable = str(folder.path) if entry == "absolute" else f"{entry}{os.pathsep}/nowhere"
    done = folder.run(PROGRAM, "exercise", "list", PYTHONPATH=variable)

    assert (done.returncode, folder.fired, done.stderr) == (0, [], "")


@pytest.mark.parametrize("command", [("-m", "grader", "exercise", "list"), ("app.py",)])
def test_a_checkout_that_is_not_installed_finds_itself_between_traps(command: tuple[str, ...], tmp_path: Path) -> None:
    """`python -m grader` and `app.py` find the package beside them, and nothing else there, before and in children."""
    for part in ("grader", "exercises", "reference"):
        shutil.copytree(ROOT / part, tmp_path / "it" / part, ignore=shutil.ignore_patterns("__pycache__", "examples"))
    names = _names() - {"grader", "app"}
    folder = Folder(tmp_path / "it", names)
    shutil.copy(ROOT / "app.py", folder.path)

    done = folder.run(sys.executable, *command, ATTENTION_GYM_PORT="none")

    assert (done.returncode, folder.fired) == (2 if command == ("app.py",) else 0, []), done.stderr
    assert "softmax" in done.stdout or done.stderr.startswith("ATTENTION_GYM_PORT is 'none'")


def test_every_process_is_started_isolated() -> None:
    """Whatever the grader starts is a Python that `search_path` has cut off from the folder and the environment."""
    starters = ("Popen", "run", "call", "check_output", "check_call", "execv", "execve", "posix_spawn", "system")
    calls = [
        (path, ast.unparse(node.args[0]))
        for path in sorted((ROOT / "grader").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func).startswith(("subprocess.", "os.", "multiprocessing."))
        and node.func.attr in starters
    ]

    assert len(calls) == 5
    assert [call for call in calls if not call[1].startswith("search_path.isolated(")] == []
