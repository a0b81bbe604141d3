"""The whole service over a trusted box: from a source text to the leaderboard."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from grader import grading_entry, grading_process, installation
from grader.box.inline import InlineBox
from grader.errors import AuthorError
from grader.exercise.catalog import ROOT, Catalog
from grader.grading_entry import NICENESS
from grader.jobs.supervisor import WorkerSupervisor
from grader.judge.report import Status
from grader.service import Service
from grader.settings import Settings
from grader.store.records import Role, State, SubmissionId, User, Watch
from tests.jobs.classroom import hand_in, until


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data", slots=1, class_code="green-tree")


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    """Give the service, started, over a box without walls: what these tests submit is our own."""
    service = grading_process.assemble(settings, Catalog.load(), InlineBox())
    service.start()
    yield service
    service.stop()


async def follow(service: Service, user: User, id: SubmissionId) -> list[Watch]:
    return [watch async for watch in service.watch(user, id)]


def test_the_reference_earns_full_marks_and_leads_the_board(service: Service) -> None:
    """Every part in its place: stored, queued, planned, run, judged, stored, listed."""
    ada = service.register("Ada", "correct horse", "green-tree")
    source = service.catalog["softmax"].reference_path.read_text()
    seen = asyncio.run(follow(service, ada, service.submit(ada, "softmax", source)))

    assert seen[-1].state is State.DONE
    assert seen[-1].report is not None
    assert (seen[-1].report.status, seen[-1].report.score) == (Status.GRADED, 100.0)
    assert [(line.user, line.score, line.solved) for line in service.leaderboard()] == [(ada.id, 100.0, 1)]


def test_what_is_no_text_is_rejected_and_costs_nothing(service: Service) -> None:
    """The bytes reach the judge as they were handed in."""
    ada = service.register("Ada", "correct horse", "green-tree")
    seen = asyncio.run(follow(service, ada, service.submit(ada, "softmax", b"\xff\xfe\x00")))

    assert seen[-1].report is not None
    assert seen[-1].report.status is Status.REJECTED
    assert service.best(ada) == {}


def test_a_second_start_finds_everything(settings: Settings) -> None:
    """Accounts, code and secret outlive the process."""
    first = grading_process.assemble(settings, Catalog.load(), InlineBox())
    ada = first.add_user("Ada", "correct horse", Role.STUDENT)
    id = first.submit(ada, "softmax", "x = 1")
    seed = first.submission(ada, id).seed
    first.stop()
    second = grading_process.assemble(settings, Catalog.load(), InlineBox())
    found = second.submission(ada, id)
    second.stop()

    assert (found.state, found.seed, second.class_code) == (State.QUEUED, seed, "green-tree")
    assert installation.rules_of(settings).secret == installation.rules_of(settings).secret


def test_a_wrong_option_of_a_check_is_told_at_the_start(tmp_path: Path) -> None:
    """With the file, the check and the option; else each submission to the exercise would fail."""
    shutil.copytree(ROOT / "exercises" / "softmax", tmp_path / "exercises" / "softmax")
    (tmp_path / "reference").mkdir()
    shutil.copy(ROOT / "reference" / "softmax.py", tmp_path / "reference")
    toml = tmp_path / "exercises" / "softmax" / "exercise.toml"
    toml.write_text(toml.read_text().replace('check = "shape"', 'check = "shape"\nrows = 3', 1))

    with pytest.raises(AuthorError, match=r"softmax/exercise.toml`: check `shape`: it takes no `rows`"):
        grading_process.check_options(Catalog.load(tmp_path))


def test_a_grading_process_logs_as_the_pages_do(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In bounded entries of the chosen form, each with the submission that it is about."""
    settings = Settings(data=tmp_path / "data", allow_one_wall=True, gpu_slots=0, log_format="json")
    database = installation.opened(settings)
    crew = WorkerSupervisor(database, partial(grading_entry.start, settings, 0), 1)
    lines: list[str] = []

    def told() -> bool:
        lines.extend(capfd.readouterr().err.splitlines())
        return any("no longer there" in line for line in lines)

    try:
        crew.wait()
        crew.start({"cpu": 1})
        hand_in(database, crew, "one", exercise="no_exercise")
        until(told, "a failed try is logged")
    finally:
        crew.drain(0.0)
        database.close()
    entry = next(entry for entry in map(json.loads, lines) if "no longer there" in entry["message"])

    assert (entry["submission"], entry["level"], entry["logger"]) == ("one", "WARNING", "grader.jobs.worker")
    assert "GraderFault" in entry["trace"]
    assert entry["process"] != os.getpid()


def test_all_that_grades_stands_behind_the_pages(tmp_path: Path) -> None:
    """The sandbox as well, which is started early in a grading process and inherits its priority."""
    settings = Settings(data=tmp_path / "data", allow_one_wall=True, gpu_slots=0)
    database = installation.opened(settings)
    before = descendants(os.getpid())
    crew = WorkerSupervisor(database, partial(grading_entry.start, settings, 0), 1)
    try:
        crew.wait()
        started = {pid for pid in descendants(os.getpid()) - before if b"from grader." in command(pid)}
        niceness = [os.getpriority(os.PRIO_PROCESS, pid) for pid in started]
    finally:
        crew.drain(0.0)
        database.close()

    assert len(niceness) >= 2, "the grading process and its zygote"
    assert min(niceness) >= os.getpriority(os.PRIO_PROCESS, 0) + NICENESS


def descendants(pid: int) -> set[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    found = {int(child) for child in children.read_text().split()} if children.exists() else set()
    return found.union(*map(descendants, found))


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
