"""Which open files a worker keeps: its own at fixed numbers, and those that a driver cannot do without."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from grader.sandbox.lockdown.descriptors import JOB, RESULT, move

_REPORT, _OUTPUT, _LINE = 5, 6, 7
_FIRST_FOREIGN = 8
_ALL = 1 << 20
_DRIVER = "/dev/nvidia"
# What a driver makes for itself: its threads wait on these, and none of them leads to a file of the machine.
_HARMLESS = ("anon_inode:[eventfd]", "anon_inode:[eventpoll]", "pipe:[", "/memfd:", "/dev/null")


@dataclass(frozen=True, slots=True)
class WorkerDescriptors:
    """The numbers at which a worker finds its own files; `output` and `line` are gone once the walls are up."""

    job: int = JOB
    result: int = RESULT
    report: int = _REPORT
    output: int = _OUTPUT
    line: int = _LINE


def settle(*, job: int, result: int, report: int, output: int, line: int) -> WorkerDescriptors:
    """Move a worker's own descriptors to their numbers, before a driver opens any, and close all others.

    Standard output and standard error stay what they are: whatever is said while warming up is for our log.
    """
    own = WorkerDescriptors()
    places = {own.job: job, own.result: result, own.report: report, own.output: output, own.line: line}
    move(places)
    os.closerange(_FIRST_FOREIGN, _ALL)
    return own


def keep_the_drivers() -> tuple[int, ...]:
    """Close what was opened since `settle`, but for a driver's own; return the driver's device files.

    Stops the use of a file, a socket or a folder that some library left open.
    """
    found = {number: target for number, target in _opened() if number >= _FIRST_FOREIGN}
    devices = tuple(number for number, target in found.items() if target.startswith(_DRIVER))
    for number, target in found.items():
        if number not in devices and not target.startswith(_HARMLESS):
            os.close(number)
    return devices


def hand_over_output(descriptors: WorkerDescriptors) -> None:
    """Let prints go to the runner from now on; what is said before is ours."""
    for standard in (1, 2):
        os.dup2(descriptors.output, standard, inheritable=False)
    os.close(descriptors.output)


def highest() -> int:
    """Return the largest number of an open file."""
    return max(number for number, _ in _opened())


def _opened() -> list[tuple[int, str]]:
    """Return the open files, by number, with what they lead to; the listing's own one is gone again."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.append((int(name), os.readlink(f"/proc/self/fd/{name}")))
    return sorted(found)
