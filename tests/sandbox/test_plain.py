"""The plain subprocess keeps the protocol, the clock and the cap, and claims no more."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from grader.box.observations import CallSeen
from grader.box.run import Ending, Limits
from grader.exercise.catalog import ROOT
from grader.sandbox.plain import PlainBox
from grader.sandbox.runner import Sandbox
from tests.box.late_imports import named
from tests.sandbox import cheats
from tests.sandbox.errand import HONEST, plan, verdict

# What has a forbidden name there generates code, counts operations, gives shapes or calls a kernel that is trapped.
_WITHOUT_NUMBERS = (
    *("torch._inductor.codegen.", "torch.fx.experimental.optimization.", "torch.jit._shape_functions."),
    *("torch.nested._internal.", "torch.utils.flop_counter."),
)
_LATE_ATTENTION = """
import torch.onnx.ops._impl

def attend(q, k, v):
    return torch.onnx.ops._impl.attention_23(q[:, None], k[:, None], v[:, None], qk_matmul_output_mode=1)[0][:, 0]
"""


def test_it_says_that_it_is_no_sandbox() -> None:
    """The name that a report shows promises nothing."""
    assert PlainBox().name == "plain subprocess, no sandbox"


def test_an_honest_submission_comes_back_right_with_its_prints() -> None:
    """The same plan gives the same answer as behind the walls."""
    heard: list[CallSeen] = []
    run = PlainBox().run(plan(("attention",)), f"print('hello')\n{HONEST}", Limits(), heard.append)
    names = [seen.name for seen in heard]
    assert (verdict(run), run.output.split(), names) == ("right", ["hello"], ["case/plain"])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import os; os._exit(3)", (Ending.CRASHED, "exit code 3")),
        ("import os\nwhile True: os.write(1, b'x' * 999)", (Ending.OUTPUT, "more than 65536 bytes")),
        ("while True: pass", (Ending.TIMEOUT, "more than 0.5 s in all")),
    ],
)
def test_an_early_end_is_told_for_what_it_is(source: str, expected: tuple[Ending, str]) -> None:
    """A crash, a flood and an endless loop end the subprocess and are named."""
    run = PlainBox().run(plan(), source, Limits(wall_seconds=0.5 if expected[0] is Ending.TIMEOUT else 60))
    assert (run.ending, run.detail) == expected


def test_no_module_of_torch_that_comes_late_has_a_forbidden_function() -> None:
    """Each that defines one is imported after the traps: what it has is trapped, or gives no numbers."""
    command = [sys.executable, "-m", "tests.box.late_imports"]
    found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)

    through = [name for name in found["through"] if not name.startswith(_WITHOUT_NUMBERS)]
    assert through == []
    assert found["late"] > 20


def test_attention_that_is_imported_late_is_trapped() -> None:
    """A function of torch that composes it of harmless operations, in a module that nothing loads before."""
    run = PlainBox().run(cheats.plan("attention"), _LATE_ATTENTION, Limits(wall_seconds=60))
    free = PlainBox().run(cheats.plan("attention", trapped=False), _LATE_ATTENTION, Limits(wall_seconds=60))

    assert [cheats.verdict(run, "attention"), cheats.verdict(free, "attention")] == ["forbidden", "right"]


def test_in_the_sandbox_no_such_module_comes_late(sandbox: Sandbox) -> None:
    """No file can be opened there."""
    source = (
        "import importlib, sys\nlate = []\n"
        f"for name in {named()!r}:\n    if name not in sys.modules:\n"
        "        try:\n            importlib.import_module(name)\n            late.append(name)\n"
        "        except Exception:\n            pass\nprint(late)\n" + HONEST
    )
    run = sandbox.run(plan(("attention",)), source, Limits())

    assert (run.ending, run.output.split()) == (Ending.FINISHED, ["[]"])
