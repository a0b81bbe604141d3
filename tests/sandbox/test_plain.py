"""The plain subprocess keeps the protocol, the clock and the cap, and claims no more."""

from __future__ import annotations

import pytest

from grader.box.observations import CallSeen
from grader.box.run import Ending, Limits
from grader.sandbox.plain import PlainBox
from tests.sandbox.errand import HONEST, plan, verdict


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
        ("while True: pass", (Ending.TIMEOUT, "more than 0.5 s")),
    ],
)
def test_an_early_end_is_told_for_what_it_is(source: str, expected: tuple[Ending, str]) -> None:
    """A crash, a flood and an endless loop end the subprocess and are named."""
    run = PlainBox().run(plan(), source, Limits(wall_seconds=0.5 if expected[0] is Ending.TIMEOUT else 60))
    assert (run.ending, run.detail) == expected
