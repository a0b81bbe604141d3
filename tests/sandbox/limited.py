"""A place with little memory: a control group with a limit, as a container is one, and a service that grades in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.memory import ControlGroup, find_group, why_no_group
from tests.sandbox.ordinary_user import NOT_POSSIBLE

_ROOT = Path(__file__).resolve().parents[2]
_JOIN = 'echo $$ > "$1"/cgroup.procs && shift && exec "$@"'
_NOBODY = 65534


class NotHere(Exception):
    """No control group with a limit on memory can be made on this machine; the text says why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    Attributes:
        exit: the exit code of the service; below 0, the signal that killed it.
        told: for each attack its status and score, and those of the honest submission that was handed in with it.
        most: the most memory that all processes together had, in bytes.
        left: control groups that are still there after the service.
        seconds: how long it took.
    """

    exit: int
    told: list[list[list[object]]]
    most: int
    left: list[str]
    seconds: float


def grade_attacks(attacks: int, *, memory: int, slots: int = 1, ordinary: bool = False) -> Outcome:
    """Have a service grade memory attacks where there are only so many bytes of `memory`.

    Args:
        ordinary: the service is an ordinary user's, who can make no control group.

    Raises:
        NotHere: the machine does not let us.
    """
    with _group(memory) as folder, _data() as data:
        program = [sys.executable, "-m", "tests.sandbox.memory_victim"]
        if ordinary:
            program = [sys.executable, "tests/sandbox/ordinary_user.py", "tests.sandbox.memory_victim"]
        command = ["sh", "-c", _JOIN, "sh", str(folder), *program, str(data), str(attacks), str(slots)]
        start = time.monotonic()
        done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
        if done.returncode == NOT_POSSIBLE:
            raise NotHere(done.stderr.strip())
        sys.stderr.write(done.stderr)
        return Outcome(
            exit=done.returncode,
            told=[json.loads(line) for line in done.stdout.splitlines()],
            most=_most(folder),
            left=[str(group) for group in folder.glob("*/")],
            seconds=time.monotonic() - start,
        )


@contextmanager
def _group(memory: int) -> Iterator[Path]:
    place = find_group()
    try:
        if place is None:
            raise NotHere(why_no_group())
        group = ControlGroup(memory, place)
    except OSError as error:
        raise NotHere(str(error)) from error
    try:
        yield group.folder
    finally:
        group.remove()


@contextmanager
def _data() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="limited-"))
    if os.geteuid() == 0:
        os.chown(folder, _NOBODY, _NOBODY)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _most(folder: Path) -> int:
    """Return the most memory that a group has had; a kernel of version 2 tells it since Linux 5.19."""
    files = (folder / "memory.max_usage_in_bytes", folder / "memory.peak")
    return next((int(file.read_text()) for file in files if file.exists()), 0)
