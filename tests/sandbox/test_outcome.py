"""Endings are decided from facts, in a fixed order."""

from __future__ import annotations

import pytest

from grader.box.run import Ending, Limits
from grader.sandbox.interior import OUT_OF_MEMORY
from grader.sandbox.outcome import Facts, ending

_LIMITS = Limits(cpu_seconds=2, wall_seconds=3, memory_bytes=100 << 20, output_bytes=1000)
_SPENT = (Ending.TIMEOUT, "more than 2 s of processor time")


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (Facts(finished=True, code=-9), (Ending.FINISHED, "")),
        (Facts(finished=True, broken="two ends"), (Ending.PROTOCOL, "two ends")),
        (Facts(finished=True, overflow=True), (Ending.OUTPUT, "more than 1000 bytes")),
        (Facts(late=True, code=-9), (Ending.TIMEOUT, "more than 3 s in all")),
        (Facts(finished=True, spent=True, code=-9), (Ending.FINISHED, "")),
        (Facts(spent=True, late=True, code=-9), (Ending.TIMEOUT, "more than 2 s of processor time")),
        (Facts(spent=True, code=-9, grown_bytes=101 << 20), (Ending.MEMORY, "more than 100 MiB")),
        (Facts(spent=True, code=-9, grown_bytes=99 << 20), _SPENT),
        (Facts(hoarded=True, late=True, code=-9), (Ending.MEMORY, "more than 100 MiB")),
        (Facts(code=-9, cpu_seconds=1.9), (Ending.TIMEOUT, "more than 2 s of processor time")),
        (Facts(code=-24, cpu_seconds=2.0), (Ending.TIMEOUT, "more than 2 s of processor time")),
        (Facts(code=-9, cpu_seconds=0.5), (Ending.MEMORY, "more than 100 MiB")),
        (Facts(code=-9, cpu_seconds=0.1, wall_seconds=2.0), (Ending.MEMORY, "more than 100 MiB")),
        (Facts(code=-9, cpu_seconds=0.1, wall_seconds=2.0, short=False), _SPENT),
        (Facts(code=-9, cpu_seconds=0.1, wall_seconds=0.5, short=False), (Ending.MEMORY, "more than 100 MiB")),
        (Facts(code=OUT_OF_MEMORY), (Ending.MEMORY, "more than 100 MiB")),
        (Facts(code=-11, grown_bytes=90 << 20), (Ending.MEMORY, "more than 100 MiB")),
        (Facts(code=-11, grown_bytes=10 << 20), (Ending.CRASHED, "SIGSEGV")),
        (Facts(code=0), (Ending.CRASHED, "exit code 0")),
    ],
)
def test_an_ending_follows_from_the_facts(facts: Facts, expected: tuple[Ending, str]) -> None:
    """The first fact that explains the end gives the verdict and its word."""
    assert ending(facts, _LIMITS) == expected
