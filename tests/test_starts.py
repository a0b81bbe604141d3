"""What a start brings into which process, since each second of it is waited for."""

from __future__ import annotations

import gc
import subprocess
import sys

from grader.exercise.catalog import ROOT
from grader.local import LocalGrader
from tests.conftest import LentBox

WITHOUT_TORCH = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError(f"{name} is imported by the pages")

sys.meta_path.insert(0, Refuse())
import grader.bootstrap, grader.pages.application, grader.pages.server
"""
BEFORE_THE_PROCESSES = """
import sys
import grader.bootstrap, grader.pages.server
print(*(name for name in ("torch", "gradio", "fastapi", "uvicorn") if name in sys.modules))
"""
BEFORE_THE_COMMAND = """
import runpy, sys
from grader.sandbox import choice

class Begun:
    def __init__(self):
        print(*(name for name in ("typer", "pydantic", "torch") if name in sys.modules), "begun", flush=True)

    def kill(self):
        pass

    def close(self):
        print("closed", flush=True)

choice.BoxToCome = Begun
sys.argv[1:] = ["grade", "no_such_exercise", "answer.py"]
runpy.run_module("grader", run_name="__main__")
"""
A_WRONG_ANSWER = """
import sys
from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade

exercise = read_exercise(ROOT / "exercises" / "causal_attention")
(answer,) = exercise.folder.glob("examples/wrong_diagonal_two.py")
report = grade(exercise, answer.read_text(), seed=1, box=InlineBox())
print(report.score < 100, bool(report.diagnosis), *(name for name in ("sympy", "torch._dynamo") if name in sys.modules))
"""


def test_the_pages_do_without_torch() -> None:
    """It takes a second and 200 MiB; the processes that grade have it."""
    told = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], cwd=ROOT, capture_output=True, text=True)

    assert (told.returncode, told.stderr) == (0, "")


def test_the_processes_that_grade_are_started_before_the_pages_are_imported() -> None:
    """Both take seconds, and the machine has several cores."""
    told = subprocess.run([sys.executable, "-c", BEFORE_THE_PROCESSES], cwd=ROOT, capture_output=True, text=True)

    assert (told.returncode, told.stdout.split()) == (0, [])


def test_a_box_warms_up_before_the_command_is_imported_that_wants_it() -> None:
    """The command line takes a quarter of a second, the sandbox much longer; it is ended where nobody takes it."""
    told = subprocess.run([sys.executable, "-c", BEFORE_THE_COMMAND], cwd=ROOT, capture_output=True, text=True)

    assert (told.returncode, told.stdout.split()) == (2, ["begun", "closed"]), told.stderr


def test_a_local_grader_collects_garbage_once_it_has_a_box(warm: LentBox) -> None:
    """Only its start does without: pytest, and the gate, go on for minutes in the same process."""
    with LocalGrader() as own:
        assert not gc.isenabled()
        assert own.box.name
        assert gc.isenabled()


def test_the_first_wrong_answer_imports_no_symbolic_algebra() -> None:
    """It takes half a second, a verdict a twentieth; some functions of torch import it to compare sizes."""
    told = subprocess.run([sys.executable, "-c", A_WRONG_ANSWER], cwd=ROOT, capture_output=True, text=True)

    assert (told.returncode, told.stdout.split()) == (0, ["True", "True"]), told.stderr
