"""The processor time of the tests, file by file: `python -m benchmarks tests tests/judge tests/pack`.

Unlike the time on a clock it says the same whatever else the machine does, within a third on two cores that are
busy. What is counted is pytest itself, and every process below it, dead or alive, with those that it has waited for.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pytest
import typer

from grader.sandbox.walls import kernel

_FILE = "ATTENTION_GYM_SPENT"  # where the plugin writes
_TICKS = os.sysconf("SC_CLK_TCK")
_START = "start and collection"
_PR_SET_CHILD_SUBREAPER = 36


def suite(
    paths: Annotated[list[str] | None, typer.Argument(help="folders or files; all of tests/ if left out")] = None,
) -> None:
    """Run tests in one process, and print what each file spent, the greatest first."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spent"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "benchmarks.suite", *(paths or [])]
        code = subprocess.run(command, env={**os.environ, _FILE: str(file)}, check=False).returncode
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    seconds: Counter[str] = Counter()
    for name, spent in lines:
        seconds[name] += spent
    counted = Counter(name for name, _ in lines)
    typer.echo(f"{'file':<60}{'tests':>6}{'seconds':>9}")
    for name, spent in seconds.most_common():
        typer.echo(f"{name:<60}{counted[name] if name != _START else '':>6}{spent:>9.1f}")
    typer.echo(f"{'all':<60}{sum(counted.values()) - counted[_START]:>6}{seconds.total():>9.1f}")
    raise typer.Exit(code)


class _Meter:
    """Writes down what was spent since the line before."""

    def __init__(self, file: Path) -> None:
        self._file, self._before = file, 0.0
        kernel.prctl(_PR_SET_CHILD_SUBREAPER, 1)  # what outlives its parent, as parts of a browser do, stays below us

    def note(self, name: str) -> None:
        """Add a line for what has just come to its end."""
        now = _spent()
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps([name, round(now - self._before, 3)]) + "\n")
        self._before = now

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        """Count what was spent before the first test."""
        self.note(_START)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Count a test with its fixtures to its file."""
        done = yield
        self.note(item.nodeid.partition("::")[0])
        return done


def pytest_configure(config: pytest.Config) -> None:
    """Measure, where the command of this module asks for it."""
    config.pluginmanager.register(_Meter(Path(os.environ[_FILE])))


def _spent() -> float:
    """Return the seconds of processor time of this process and of all below it."""
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in own) + sum(spent_below(os.getpid()))


def spent_below(parent: int) -> Iterator[float]:
    """Yield what each process below `parent` has spent, with those that it has waited for."""
    for children in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            found = [int(child) for child in children.read_text(encoding="ascii").split()]
        except OSError:  # the thread has ended meanwhile
            continue
        for child in found:
            try:
                facts = Path(f"/proc/{child}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            except OSError:  # as above
                continue
            yield sum(map(int, facts[11:15])) / _TICKS
            yield from spent_below(child)
