"""The store is away: every route says so in one sentence, and the log in one line."""

from __future__ import annotations

import itertools
import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI

from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.tryouts import TryoutThread
from grader.pages.guard import Guard
from grader.pages.plain import AWAY
from grader.pages.requests import Event
from grader.pages.routes import Body, Route, Routes
from grader.service import Service
from grader.service.service import Rules
from grader.settings import Settings
from grader.store import migrate
from grader.store.engine import Database
from grader.store.records import Role
from tests.jobs import postgres
from tests.jobs.classroom import full_marks
from tests.pages.conftest import PASSWORD, in_a_loop, made

METRICS = "m" * 40
RUN = "a" * 24  # the id of a submission, in form
ENDS = ("/sign-out", "/teach/member")  # after which somebody is not who they were
# What monitors ask has words of its own.
OWN_WORDS = {"/ready": '{"ready":false', "/metrics": "The database does not answer."}
VALUES = {"act": "rename", "sure": "yes", "person": "1", "student": "1", "next": "/", "board": "name", "list": "all"}


@dataclass(frozen=True)
class Asked:
    """A request, and how its answer is to speak."""

    method: str
    path: str
    body: str = ""
    sent_as: str = ""
    json: bool = False


def everything(app: FastAPI) -> Iterator[Asked]:
    """Yield a request for each route and method, and for each event of each page."""
    guard = next(one for one in app.user_middleware if one.cls is Guard)
    for path, route in {**Routes(metrics=True)._table, f"/runs/{RUN}": Route()}.items():
        if route.static:
            continue
        yield Asked("GET", path) if "GET" in route.methods else Asked("POST", path, *_sent(path, route))
        if "POST" in route.methods and "GET" in route.methods:
            yield Asked("POST", path, *_sent(path, route))
    for name, event in guard.kwargs["events"].items():
        path = f"/gradio_api/run/{name}?ex=softmax&attempt={RUN}"
        yield Asked("POST", path, _document(name, event), "application/json", True)


def _sent(path: str, route: Route) -> tuple[str, str, bool]:
    if route.body is Body.TEXT:
        text = json.dumps({"source": "x = 1"}) if path == "/try" else "x = 1"
        return text, "text/plain", True
    fields = [f"{name}={VALUES.get(name, PASSWORD.replace(' ', '+'))}" for name in route.form]
    return "&".join(fields), Body.FORM.value, False


def _document(name: str, event: Event) -> str:
    free = "softmax" if name == "submit" else RUN
    data = [text.choices[0] if text.choices else free for text in event.inputs]
    return json.dumps({"fn_index": event.number, "data": data, "session_hash": "a"})


@dataclass(frozen=True)
class Stage:
    """An application, its database, and the cookies of a student and an instructor."""

    app: FastAPI
    database: Database
    people: dict[str, dict[str, str]]

    def ask_all(self, *but: str) -> dict[tuple[str, Asked], httpx.Response]:
        """Return the answer to every request of everybody, but for some paths."""

        async def run() -> dict[tuple[str, Asked], httpx.Response]:
            transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
            found = {}
            for who, asked in itertools.product(self.people, everything(self.app)):
                if asked.path in but:
                    continue
                async with httpx.AsyncClient(
                    transport=transport, base_url="http://gym.example", cookies=self.people[who], timeout=20
                ) as client:
                    headers = {
                        "Accept": "text/html",
                        "Origin": "http://gym.example",
                        "Authorization": f"Bearer {METRICS}",
                    }
                    if asked.sent_as:
                        headers["Content-Type"] = asked.sent_as
                    found[who, asked] = await client.request(
                        asked.method, asked.path, content=asked.body or None, headers=headers
                    )
            return found

        return in_a_loop(run())


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Callable[[str], Stage]]:
    """Give a function that sets everything up over a database."""
    opened: list[Database] = []

    def set_up(url: str) -> Stage:
        database = Database(url, patience=0.05)
        opened.append(database)
        migrate.upgrade(database)
        service = Service(
            database,
            Catalog([read_exercise(ROOT / "exercises" / "softmax")]),
            EmbeddedEngine(database, full_marks, workers=tmp_path / "workers"),
            rules=Rules(class_code="green-tree", secret=b"secret", slots={"cpu": 1}),
            tryouts=TryoutThread(lambda request: request.example),
            hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1),
        )
        people = {"guest": {}}
        for name, role in (("student", Role.STUDENT), ("instructor", Role.INSTRUCTOR)):
            service.add_user(name, PASSWORD, role)
            people[name] = {"attention_gym": service.sign_in(name, PASSWORD, "127.0.0.1")}
        return Stage(in_a_loop(made(service, Settings(metrics_token=METRICS, data=tmp_path))), database, people)

    yield set_up
    for database in opened:
        database.close()


def told(stage: Stage, caplog: pytest.LogCaptureFixture, needs: set[str]) -> int:
    """Check all answers while the store is away, and what is logged of them; return how many were refused for it.

    `needs`: whose requests that write or fill a page can none of them be answered.
    """
    caplog.clear()
    found, refused = stage.ask_all(), 0
    for (who, asked), answer in found.items():
        place = (who, asked, answer.status_code, answer.text[:300])
        assert answer.status_code != 500, place
        assert "Traceback" not in answer.text, place
        if answer.status_code == 503:
            refused += 1
            said = answer.json()["error"] if asked.json else answer.text
            assert AWAY in said or "error on our side" in said or said.startswith(OWN_WORDS.get(asked.path, AWAY)), (
                place
            )
        elif who in needs and "run/" in asked.path:
            assert "error on our side" in answer.text, place  # the panel of a hand-in says it itself
    lines = [line for line in caplog.records if line.levelno >= logging.WARNING and line.name.startswith("grader")]
    assert [line.getMessage() for line in lines if line.exc_info] == []
    assert len([line for line in lines if line.levelno >= logging.ERROR]) <= 2, [line.getMessage() for line in lines]
    return refused


@contextmanager
def gone(file: Path, database: Database) -> Iterator[None]:
    """Have something else stand at the place of a database file."""
    database.engine.dispose()
    aside = file.with_name("aside")
    os.rename(file, aside)
    file.mkdir()
    yield
    file.rmdir()
    os.rename(aside, file)


@contextmanager
def damaged(file: Path, database: Database) -> Iterator[None]:
    """Have something else stand in a database file."""
    database.engine.dispose()
    content = file.read_bytes()
    file.write_bytes(b"no database at all" * 1000)
    yield
    database.engine.dispose()
    file.write_bytes(content)


@contextmanager
def locked(file: Path, database: Database) -> Iterator[None]:
    """Have another process write for long."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_no_route_breaks_while_a_file_is_away(
    stage: Callable[[str], Stage], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Gone, damaged or locked, cold and once people are known; afterwards everything is answered again."""
    file = tmp_path / "class.sqlite3"
    scene = stage(f"sqlite:///{file}")
    for known in (False, True):
        for trouble, needs in (
            (gone, {"student", "instructor"}),
            (damaged, {"student", "instructor"}),
            (locked, set()),
        ):
            with trouble(file, scene.database):
                refused = told(scene, caplog, needs)
            assert refused > (2 if trouble is locked else 20), (trouble, refused)
        if not known:
            broken = {asked.path for (_, asked), answer in scene.ask_all(*ENDS).items() if answer.status_code >= 500}
            assert broken == {"/ready"}  # nothing is graded here


def test_no_route_breaks_while_postgres_is_away(
    stage: Callable[[str], Stage], caplog: pytest.LogCaptureFixture
) -> None:
    """Stopped under people who are known, and back again: one line for each, and not one trace."""
    with postgres.running() as server:
        scene = stage(postgres.make_database(server.url, "gym"))
        healthy = scene.ask_all(*ENDS)
        assert {answer.status_code for answer in healthy.values()} & {500} == set()
        server.stop()
        assert told(scene, caplog, {"student", "instructor"}) > 20
        server.start()
        caplog.clear()
        assert scene.ask_all(*ENDS).keys() == healthy.keys()
        assert [line for line in caplog.records if line.levelno >= logging.ERROR] == []
