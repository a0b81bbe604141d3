"""Several machines on one Postgres, as `python -m grader worker` runs them, with real sandboxes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from grader.exercise.catalog import ROOT, Catalog
from grader.grading_process import assemble
from grader.jobs import claims
from grader.sandbox.plain import PlainBox
from grader.service import Service
from grader.settings import PREFIX, Settings
from grader.store.records import Role
from grader.store.tables import GradingRow
from tests.jobs import postgres
from tests.jobs.classroom import until

RIGHT = (ROOT / "exercises/softmax/examples/right_detached_max.py").read_text(encoding="utf-8")
SECRET = "of all machines, and not to be guessed"
COMMAND = [sys.executable, "-m", "grader", "worker", "--queue", "cpu", "--slots", "1"]


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Service]:
    with postgres.served() as server:
        url = postgres.make_database(server, "gym")
        service = assemble(
            Settings(data=tmp_path / "pages", database_url=url, secret=SECRET), Catalog.load(), PlainBox()
        )
        yield service
        service.stop()


@pytest.fixture
def machine(tmp_path: Path, pages: Service) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Give a function that starts a machine which grades, and returns it once it does."""
    running: list[subprocess.Popen[str]] = []
    url = pages._database.engine.url.render_as_string(hide_password=False)

    def start(name: str) -> subprocess.Popen[str]:
        ours = {"DATABASE_URL": url, "SECRET": SECRET, "DATA": str(tmp_path / name)}
        environment = {**os.environ, **{PREFIX + key: value for key, value in ours.items()}}
        running.append(subprocess.Popen(COMMAND, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True))
        assert running[-1].stdout is not None
        assert "grading on cpu" in running[-1].stdout.readline()
        return running[-1]

    yield start
    for one in running:
        if one.poll() is None:  # the thread that gets the signal need not be the main one: after SIGCONT it is any
            os.kill(max(int(thread.name) for thread in Path(f"/proc/{one.pid}/task").iterdir()), signal.SIGTERM)
        one.communicate(timeout=60)
    assert {one.returncode for one in running} <= {0, -signal.SIGKILL}


def test_a_machine_that_is_killed_loses_nothing(pages, machine):
    """One of two machines is killed while both grade; the other one grades the rest, and everything once."""
    people = [pages.add_user(f"Student {number}", "a good password", Role.STUDENT) for number in range(12)]
    lost, _ = machine("one"), machine("another")
    for who in people:
        pages.submit(who, "softmax", RIGHT)
    until(lambda: held(pages) == 2, "both grade")
    lost.kill()

    until(lambda: graded(pages) == {100.0: 12}, "all are graded, with full marks")


def held(pages: Service) -> int:
    with pages._database.read() as session:
        return len(claims.holders(session))


def graded(pages: Service) -> dict[float, int]:
    with pages._database.read() as session:
        found = session.execute(select(GradingRow.score, func.count()).group_by(GradingRow.score))
        return {score: number for score, number in found}  # noqa: C416 - a row is no pair to mypy


def test_a_worker_needs_a_database_that_machines_share(tmp_path):
    """Without one it says which setting is missing, on one line."""
    environment = {**os.environ, PREFIX + "DATA": str(tmp_path)}
    done = subprocess.run(COMMAND, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "DATABASE_URL is not set to a Postgres" in done.stderr
    assert "Traceback" not in done.stderr
