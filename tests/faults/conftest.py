"""A service to take things away from, and what a student and an operator see of it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from grader.exercise.catalog import ROOT
from grader.judge.report import Report
from grader.store.records import SubmissionId
from tests.faults.victim import Refused, serve
from tests.sandbox.user_story import runs_of

PATIENCE_SECONDS = 60.0
RIGHT = (ROOT / "reference" / "softmax.py").read_text(encoding="utf-8")
WRONG = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum()\n"


def slow(seconds: float) -> str:
    return f"{RIGHT}\nimport time\ntime.sleep({seconds})\n"


@dataclass
class Victim:
    process: BaseProcess
    line: Connection
    own_disk: bool
    name: str = ""
    names: Iterator[int] = field(default_factory=count)

    def ask(self, what: str, *arguments: Any) -> Any:
        self.line.send((what, *arguments))
        assert self.line.poll(PATIENCE_SECONDS), f"no answer to {what}"
        return self.line.recv()

    def enter(self) -> None:
        self.name = f"student {next(self.names)}"
        assert self.ask("enter", self.name) is None

    def submit(self, source: str = RIGHT, exercise: str = "softmax") -> Any:
        return self.ask("submit", self.name, exercise, source)

    def end(self, id: SubmissionId) -> tuple[str, Report]:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            state, body = self.ask("outcome", self.name, id)
            if body is not None and (report := Report.from_json(body)).complete:
                return state, report
            assert time.monotonic() < until, f"still {state}: {self.ask('logged')}"
            time.sleep(0.02)

    def state(self, id: SubmissionId) -> str:
        return str(self.ask("outcome", self.name, id)[0])

    def reaches(self, id: SubmissionId, state: str) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while self.state(id) != state:
            assert time.monotonic() < until, f"never {state}"
            time.sleep(0.005)

    def has_logged(self, *texts: str) -> None:
        self.ask("forget")
        until = time.monotonic() + PATIENCE_SECONDS
        while not all(text in self.ask("logged") for text in texts):
            assert time.monotonic() < until, self.ask("logged")
            time.sleep(0.02)

    def zygotes(self) -> list[int]:
        return [int(pid) for text in self._threads("children") for pid in text.split()]

    def runs(self) -> None:
        self._wait(lambda: any(runs_of(self.pid)), "nothing runs")

    def rests(self) -> None:
        """Wait until nothing runs, and no thread of the service has anything to do."""
        idle = 0

        def is_idle() -> bool:
            nonlocal idle
            states = [text.rpartition(")")[2].split()[0] for text in self._threads("stat")]
            idle = idle + 1 if set(states) == {"S"} and not any(runs_of(self.pid)) else 0
            return idle > 10

        self._wait(is_idle, "never idle")

    def _threads(self, fact: str) -> Iterator[str]:
        for file in Path(f"/proc/{self.pid}/task").glob(f"*/{fact}"):
            with contextlib.suppress(OSError):  # ended meanwhile
                yield file.read_text()

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def _wait(self, ready: Callable[[], bool], otherwise: str) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not ready():
            assert time.monotonic() < until, otherwise
            time.sleep(0.005)

    def kill_zygotes(self) -> None:
        for pid in self.zygotes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def expect_right(self) -> None:
        self.enter()
        state, report = self.end(self.submit())
        assert (state, report.score, report.incident) == ("done", 100.0, "")

    def expect_apology(self, id: SubmissionId, exercise: str = "softmax") -> str:
        """A submission ends as ours: with an id that the log has, no attempt used, and the way free; return the id."""
        state, report = self.end(id)
        assert (state, report.score) == ("broken", 0.0)
        assert report.incident
        assert report.incident in report.reason
        assert f"incident {report.incident}" in self.ask("logged")
        assert self.ask("used", self.name) == {}
        assert self.ask("unfinished", self.name, exercise) is None
        return report.incident

    def expect_refusal(self, answer: Any) -> None:
        """Something could not be handed in, by our fault, and nothing of it is stored."""
        assert isinstance(answer, Refused)
        assert answer.family == "GraderFault"
        assert self.ask("stored", self.name) == 0
        assert self.ask("unfinished", self.name, "softmax") is None


def copy_exercise(root: Path, name: str, **changes: Callable[[str], str]) -> None:
    """Put the softmax exercise below `root` as `name`, its files changed; `reference` is one of them."""
    shutil.copytree(ROOT / "exercises" / "softmax", root / "exercises" / name)
    (root / "reference").mkdir(exist_ok=True)
    shutil.copy(ROOT / "reference" / "softmax.py", root / "reference" / f"{name}.py")
    for what, change in changes.items():
        ending = "toml" if what == "exercise" else "py"
        own = root / "exercises" / name / f"{what}.{ending}"
        file = root / "reference" / f"{name}.py" if what == "reference" else own
        file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")


BREAKS = 'check = "dropout"'  # it raises here: nothing of the exercise drops anything
RAISES = "\n\nraise ZeroDivisionError('a bug of ours')\n"


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("root")
    for name in ("softmax", "again", "more"):
        copy_exercise(root, name)
    copy_exercise(root, "bad_reference", reference=lambda _: "def softmax(x, dim=-1):\n    return 1 / 0\n")
    copy_exercise(root, "bad_draws", inputs=lambda text: text + "\n\ndef hide_some(*_):\n    return 1 / 0\n")
    copy_exercise(root, "bad_mistakes", mistakes=lambda text: text + RAISES)
    copy_exercise(root, "bad_words", mistakes=lambda text: text.replace('"""You', '"""\\ud800 You'))
    copy_exercise(
        root, "bad_check", exercise=lambda text: text.replace('check = "steady"', BREAKS).replace("others = ", "# ")
    )
    return root


@pytest.fixture(scope="session")
def service(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    """Give a service over these exercises, on a small disk of its own where the system grants one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.victim"])
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(tmp_path_factory.mktemp("data"), root, theirs))
    process.start()
    theirs.close()
    assert ours.poll(PATIENCE_SECONDS)
    yield Victim(process, ours, own_disk=ours.recv())
    ours.send(None)
    process.join(10)
    process.kill()
    ours.close()


@pytest.fixture
def victim(service: Victim) -> Iterator[Victim]:
    """Give the service, and see that it grades as ever when the test is over."""
    service.enter()
    yield service
    service.expect_right()
