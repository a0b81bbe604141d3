"""Grading with pytest: in this process where that shows the same, as a program where something must not be there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, parse

import pytest

from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.sheet import draw_up
from grader.pytest_plugin import STARTER

pytest_plugins = ["pytester"]

CAUSAL = ROOT / "exercises" / "causal_attention" / "examples"
NAMES = [item.name for item in draw_up(read_exercise(ROOT / "exercises" / "causal_attention"), 0).items if item.points]
BLOCKED = """
import sys
for name in ("gradio", "fastapi", "sqlalchemy", "alembic", "argon2", "grader.service", "grader.store", "grader.pages"):
    sys.modules[name] = None  # an import of it raises now
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One test as the JUnit file has it."""

    name: str
    outcome: str
    message: str
    points: float


@dataclass(frozen=True, slots=True)
class Graded:
    """One run of pytest over several files: its tests by file, and what it wrote above the failures and below them."""

    cases: dict[str, list[Case]]
    causes: str
    summary: str


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Return what came of a right file, a wrong one, one that does not load, and one that ends its process."""
    folder = tmp_path_factory.mktemp("graded")
    sources = {
        "right": (CAUSAL / "right_loud.py").read_text(encoding="utf-8"),
        "wrong": (CAUSAL / "wrong_diagonal_two.py").read_text(encoding="utf-8"),
        "unloadable": "def attention(:",
        "ends": "import os; os._exit(0)",
    }
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    options = ["-p", "grader.pytest_plugin", "--exercise", "causal_attention", "--junitxml", str(folder / "junit.xml")]
    files = [str(folder / f"{name}.py") for name in sources]
    command = [sys.executable, "-m", "pytest", *options, *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    elements = list(parse(folder / "junit.xml").iter("testcase"))
    cases = {name: [_read(e) for e in elements if e.get("classname", "").endswith(name)] for name in sources}
    causes, _, below = done.stdout.partition("= FAILURES =")
    return Graded(cases, causes, below)


def _read(element: Element) -> Case:
    told = next((child for child in element if child.tag in ("failure", "error", "skipped")), None)
    points = element.find("properties/property[@name='points']")
    return Case(
        name=element.get("name", ""),
        outcome="passed" if told is None else told.tag,
        message="" if told is None else f"{told.get('message')} {told.text}",
        points=0.0 if points is None else float(points.get("value", "0")),
    )


@pytest.fixture
def desk(pytester: pytest.Pytester) -> pytest.Pytester:
    """Return an empty folder of a student, with the plugin."""
    pytester.makeini("[pytest]\naddopts = -p grader.pytest_plugin")
    pytester.mkdir("solutions")
    return pytester


def put(desk: pytest.Pytester, source: str | bytes, name: str = "causal_attention.py") -> str:
    """Write a solution and return its path as it is typed."""
    path = desk.path / "solutions" / name
    path.write_bytes(source.encode() if isinstance(source, str) else source)
    return f"solutions/{name}"


def test_each_check_of_the_exercise_is_a_test(desk: pytest.Pytester) -> None:
    """The names of the tests are those of the checks, and collecting runs nothing of the file."""
    path = put(desk, "open('it ran', 'w'); raise SystemExit(3)")
    result = desk.runpytest_inprocess("--collect-only", "-q", path)

    assert [line for line in result.outlines if "::" in line] == [f"{path}::{name}" for name in NAMES]
    assert not (desk.path / "it ran").exists()


def test_a_right_file_passes_every_check(graded: Graded) -> None:
    """As many tests pass as there are checks, and the summary shows what the file printed."""
    assert [case.outcome for case in graded.cases["right"]] == ["passed"] * len(NAMES)
    assert "right.py: 100 of 100" in graded.summary
    assert "Weights found" in graded.summary
    assert "Your code printed" in graded.summary


def test_a_wrong_file_fails_with_the_words_of_the_report(graded: Graded) -> None:
    """A failed check shows its message and no traceback; the diagnosis stands once, above all."""
    messages = [case.message for case in graded.cases["wrong"] if case.outcome == "failure"]

    assert [case.name for case in graded.cases["wrong"]] == NAMES
    assert any("expected" in message and "got" in message for message in messages)
    assert not any("pytest_plugin" in message for message in messages)
    assert "What happened: Your mask starts one position too late." in graded.causes
    assert "Your mask starts one position too late" not in graded.summary


def test_a_check_that_builds_on_a_failed_one_is_skipped(graded: Graded) -> None:
    """What cannot be judged any more is no second failure, and says why."""
    messages = [case.message for case in graded.cases["wrong"] if case.outcome == "skipped"]

    assert messages
    assert all("did not pass" in message or "output in evaluation mode is wrong" in message for message in messages)


@pytest.mark.parametrize(("file", "reason"), [("unloadable", "rejected: "), ("ends", "crashed: ")])
def test_a_file_that_could_not_be_graded_fails_every_check(graded: Graded, file: str, reason: str) -> None:
    """A file that does not load, or ends its process, is no success: each test fails and says why."""
    assert [case.outcome for case in graded.cases[file]] == ["failure"] * len(NAMES)
    assert all(reason in case.message for case in graded.cases[file])
    assert graded.causes.count(reason) == 1


def test_the_starter_fails_in_one_line(desk: pytest.Pytester) -> None:
    """However it is spaced; it runs nothing, and no check of it is told apart."""
    starter = (ROOT / "exercises" / "causal_attention" / "starter.py").read_text(encoding="utf-8")
    result = desk.runpytest_inprocess(put(desk, f"\n{starter}\n\n"))

    result.assert_outcomes(failed=1)
    assert [line for line in result.outlines if line == STARTER] == [STARTER]


def test_points_are_written_for_other_programs(graded: Graded) -> None:
    """A JUnit file carries the points of each check."""
    assert sum(case.points for case in graded.cases["right"]) == pytest.approx(100, abs=0.1)
    assert sum(case.points for case in graded.cases["unloadable"]) == 0


@pytest.mark.usefixtures("warm")
def test_any_file_is_graded_by_the_name_of_its_exercise(desk: pytest.Pytester) -> None:
    """`--exercise` makes an answer of a file of any name; the seed can be chosen, and one check run alone."""
    path = put(desk, (CAUSAL / "right_plain.py").read_bytes(), name="test_mine.py")
    chosen = ("--exercise", "causal_attention", "--exercise-seed", "5")
    result = desk.runpytest_inprocess(*chosen, f"{path}::{NAMES[-1]}")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["exercise causal_attention, seed 5, cpu, *"])


def test_a_folder_of_solutions_leaves_tests_and_notes_alone(desk: pytest.Pytester) -> None:
    """In `solutions`, files named like exercises are graded; a student's own tests are tests, notes are nothing."""
    put(desk, "", name="softmax.py")
    put(desk, "def test_one_is_one():\n    assert 1 == 1\n", name="test_own.py")
    put(desk, "raise RuntimeError", name="notes.py")
    result = desk.runpytest_inprocess("--collect-only", "-q", "solutions")
    files = {line.partition("::")[0] for line in result.outlines if "::" in line}

    assert files == {"solutions/softmax.py", "solutions/test_own.py"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("solutions/causal_atention.py",), "*did you mean causal_attention*"),
        (("--exercise", "softmx", "solutions/causal_atention.py"), "*did you mean softmax*"),
        (("--exercise", "softmax"), "*--exercise needs the file to grade*"),
        (("--exercise-seed", "-1", "solutions/causal_atention.py"), "*the seed is -1; it must be 0 or more*"),
    ],
)
def test_wrong_use_is_told_in_a_line(desk: pytest.Pytester, arguments: tuple[str, ...], said: str) -> None:
    """A misspelt name or a wrong option is told without a traceback, and nothing counts as passed."""
    put(desk, "", name="causal_atention.py")
    result = desk.runpytest_inprocess(*arguments)

    assert result.ret != pytest.ExitCode.OK
    (result.stderr if result.errlines else result.stdout).fnmatch_lines([said])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_neither_service_nor_store_nor_pages_are_needed(tmp_path: Path) -> None:
    """With Gradio, SQLAlchemy and our own service out of reach, a file is graded all the same."""
    file = tmp_path / "softmax.py"
    file.write_bytes((ROOT / "exercises" / "softmax" / "examples" / "right_two_lines.py").read_bytes())
    command = [sys.executable, "-c", BLOCKED, "-q", "-p", "grader.pytest_plugin", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert "100 of 100" in done.stdout


def test_the_root_conftest_is_enough(tmp_path: Path) -> None:
    """In the project's folder no option is needed: `pytest solutions/<exercise>.py` collects the checks."""
    for folder in ("grader", "reference", "exercises/softmax"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "pages"))
    for file in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "softmax.py").write_text("raise RuntimeError", encoding="utf-8")
    # Unlike `python -m pytest`, the program puts no folder on the path.
    pytest_program = str(Path(sys.executable).with_name("pytest"))
    command = [pytest_program, "--collect-only", "-q", "solutions/softmax.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert "solutions/softmax.py::" in done.stdout


def test_what_pytest_runs_beside_a_file_is_named(tmp_path: Path) -> None:
    """A collected folder may hold a conftest.py and a pytest.ini, which pytest takes as its own, without a sandbox."""
    (tmp_path / "conftest.py").write_text("", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "answer.py").write_text("raise RuntimeError", encoding="utf-8")
    pytest_program = str(Path(sys.executable).with_name("pytest"))
    command = [pytest_program, "-q", "--exercise", "softmax", "answer.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    named = f"{tmp_path / 'conftest.py'}, {tmp_path / 'pytest.ini'}"
    assert f"pytest has run or obeyed {named}; for files of others use `attention-gym grade`" in done.stdout
