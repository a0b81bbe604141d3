"""Two processes serve the pages, neither grades, and no visitor stays with one of them: it is as if there were one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import select

from grader.exercise.catalog import ROOT
from grader.settings import PREFIX
from grader.store.engine import Database
from grader.store.tables import BucketRow, TryoutRow
from tests.jobs import postgres
from tests.machine import free_port
from tests.pages.conftest import LEAVING, PASSWORD, SECONDS, wait_for
from tests.pages.test_journeys import EXERCISE, LATE_MASK, SOLUTION, ready, source, status, write
from tests.proxy import proxied

SERVE = (sys.executable, "-m", "grader", "serve", "--pages-only")
WORK = (sys.executable, "-m", "grader", "worker", "--queue", "cpu", "--slots", "1")
TEXT = {"Content-Type": "text/plain"}
SOFTMAX = "import torch\n\n\ndef softmax(x, dim=-1):\n    return torch.softmax(x, dim)\n"
SECRET = "the same in all processes that serve pages"
CODE = "green-tree-house"


@dataclass
class Cluster:
    """Its address behind the proxy, those of its servers, and a way to start one more process of it."""

    url: str
    servers: tuple[str, str]
    database: str
    start: Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Give two processes of pages and one machine that grades, behind a proxy."""
    running: list[subprocess.Popen[str]] = []
    folder = tmp_path_factory.mktemp("machines")

    with postgres.served() as server:
        url = postgres.make_database(server, "gym")

        def start(command: tuple[str, ...], **chosen: str) -> subprocess.Popen[str]:
            ours = {"DATABASE_URL": url, "SECRET": SECRET, "CLASS_CODE": CODE, **chosen}
            ours["DATA"] = str(folder / f"machine {len(running)}")
            environment = {**os.environ, **{PREFIX + key: value for key, value in ours.items()}}
            pipe = subprocess.PIPE
            running.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True))
            return running[-1]

        try:
            ports = (free_port(), free_port())
            for port in ports:
                start(SERVE, PORT=str(port))
            start(WORK)
            first, second = (f"http://127.0.0.1:{port}" for port in ports)
            wait_for(lambda: stopped(running) or (answers(first) and answers(second)), 120)
            assert "grading on cpu" in running[2].stdout.readline()  # type: ignore[union-attr]
            with proxied((first, second)) as address:
                yield Cluster(address, (first, second), url, start)
        finally:
            for one in running:
                one.terminate()
            said = [one.communicate(timeout=60)[1] for one in running]
    assert {one.returncode for one in running} <= {0, 2, -signal.SIGTERM}, said


def stopped(running: list[subprocess.Popen[str]]) -> bool:
    """Return whether a process of the cluster ended by itself."""
    return any(one.poll() is not None for one in running)


def answers(url: str) -> bool:
    """Return whether a server is up."""
    try:
        return httpx.get(f"{url}/health").status_code == 200
    except httpx.TransportError:
        return False


def test_a_visitor_becomes_a_student_and_solves_an_exercise(cluster: Cluster, browser: Browser) -> None:
    """Trying, checking, registering, drafts, a reload and the board: each request may reach the other process."""
    errors: list[str] = []
    context = browser.new_context(base_url=cluster.url, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(SECONDS * 1000)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(f"{line.text} {line.location}") if line.type == "error" else None)

    page.goto(EXERCISE)
    write(ready(page), LATE_MASK)
    page.get_by_role("button", name="Try", exact=True).click()
    expect(page.get_by_role("region", name="Try", exact=True)).to_contain_text(re.compile("differ"))
    page.get_by_role("button", name="Run checks").click()
    expect(status(page)).to_contain_text(re.compile(r"Done: \d+ of \d+ checks"))
    page.goto("/register")
    page.get_by_label("Name").fill("Nina Newcomer")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label(re.compile("Class code")).fill(CODE)
    page.get_by_role("button", name="Register").click()

    page.goto(EXERCISE)
    assert source(ready(page)) == LATE_MASK
    write(page, SOLUTION)
    page.get_by_role("button", name="Run checks").click()
    expect(status(page)).to_contain_text(re.compile(r"Done: all \d+ checks passed"))
    page.reload()
    assert source(ready(page)) == SOLUTION
    expect(page.get_by_role("img", name="100 of 100 points")).to_be_visible()
    context.close()

    assert [error for error in errors if not any(known in error for known in LEAVING)] == []


def test_guesses_are_counted_together(cluster: Cluster) -> None:
    """As many wrong passwords as one process would take, and no more."""
    with httpx.Client(base_url=cluster.url) as guesser:
        form = {"name": "Nobody", "password": "a wrong password"}
        said = [guesser.post("/sign-in", data=form).text for _ in range(10)]

    assert ["Too many" in page for page in said] == [False] * 8 + [True] * 2


def test_who_signs_out_is_signed_out_everywhere(cluster: Cluster) -> None:
    """The session is asked for with every request."""
    with httpx.Client(base_url=cluster.url) as browser:
        form = {"name": "Olga Outgoing", "password": PASSWORD, "class_code": CODE}
        assert browser.post("/register", data=form).status_code == 303
        cookies = dict(browser.cookies)
        assert ["Olga Outgoing" in httpx.get(f"{one}/account", cookies=cookies).text for one in cluster.servers] == [
            True,
            True,
        ]
        browser.post("/sign-out")

    assert not any("Olga Outgoing" in httpx.get(f"{one}/account", cookies=cookies).text for one in cluster.servers)


def test_nothing_of_a_try_stays(cluster: Cluster) -> None:
    """What was tried on another machine comes back, and is gone from the database."""
    body = json.dumps({"source": SOFTMAX, "example": ""})
    tried = httpx.post(f"{cluster.url}/try?ex=softmax", content=body, headers=TEXT, timeout=60)

    assert "right" in tried.json(), tried.text
    database = Database(cluster.database)
    with database.read() as session:
        assert session.scalars(select(TryoutRow.id)).all() == []
        assert session.scalars(select(BucketRow.id)).first() is not None
    database.close()


def test_another_secret_is_refused(cluster: Cluster) -> None:
    """Links and marks of one process would be worth nothing to the others; it says so on one line."""
    odd = cluster.start(SERVE, SECRET="of another installation, by mistake", PORT=str(free_port()))
    _, said = odd.communicate(timeout=60)

    assert odd.returncode == 2
    assert "ATTENTION_GYM_SECRET is not the one" in said
    assert "Traceback" not in said


def test_pages_without_graders_need_a_shared_database(tmp_path: Path) -> None:
    """On a file nobody would ever grade; it says which setting is missing."""
    environment = {**os.environ, PREFIX + "DATA": str(tmp_path)}
    done = subprocess.run(SERVE, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "DATABASE_URL is not set to a Postgres" in done.stderr
