"""What waits for the database waits in a thread: on the event loop, everybody else would wait with it."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import event

import grader.pages
from grader.pages.routes import Body, Routes
from grader.store.records import Role
from tests.pages.conftest import CODE, Person, Site
from tests.pages.test_journeys import SOLUTION

FIELDS = {
    "name": "Nobody Known", "password": "wrong horse battery", "class_code": CODE, "next": "/", "act": "password",
    "new": "short", "board": "own", "token": "x", "student": "1", "person": "1", "sure": "yes", "find": "a",
}  # fmt: skip
PLAIN = {"Content-Type": "text/plain"}
PAGES = Path(grader.pages.__file__).parent


@pytest.fixture
def on_the_loop(site: Site) -> Iterator[list[str]]:
    """Give where a transaction began on an event loop, by the lines of ours that led to it."""
    found: list[str] = []

    def begun(*_: object) -> None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        stack = [one for one in traceback.extract_stack() if Path(one.filename).parent == PAGES]
        found.append(" ".join(f"{Path(one.filename).name}:{one.name}" for one in stack))

    engine = site.service.accounts._database.engine
    event.listen(engine, "begin", begun)
    yield found
    event.remove(engine, "begin", begun)


def asked(client: httpx.Client, site: Site, submission: str) -> Iterator[httpx.Response]:
    """Ask for everything there is, in each way."""
    for path, route in {**Routes()._table, f"/runs/{submission}": Routes().find("/runs/01")}.items():
        if route.static:
            continue
        if "GET" in route.methods:
            yield client.get(path)
        if route.body is Body.FORM:
            for values in (FIELDS, {**FIELDS, "class_code": "wrong"}, {**FIELDS, "name": "a" * 1900}):
                yield client.post(path, data={name: value for name, value in values.items() if name in route.form})
        if route.body is Body.TEXT:
            yield client.post(path, params={"ex": "softmax"}, content=json.dumps({"source": SOLUTION}), headers=PLAIN)
    for number in range(30):
        body = {"fn_index": number, "data": [], "session_hash": "a"}
        yield client.post("/gradio_api/run/predict", json=body)


@pytest.mark.parametrize("role", [None, Role.STUDENT, Role.INSTRUCTOR])
def test_no_request_asks_the_database_on_the_event_loop(
    site: Site,
    person: Callable[..., Person],
    visitor: Callable[..., httpx.Client],
    on_the_loop: list[str],
    role: Role | None,
) -> None:
    """On Postgres a try to sign in is seven transactions, which take as long as others hold what they lock."""
    who = person(role=role) if role else None
    id = site.service.submit(who.user, "softmax", "x = 1") if who else "01"
    with visitor(who) as client:
        statuses = set()
        for answer in asked(client, site, id):
            statuses.add(answer.status_code)
            site.service.accounts.sessions.forget()  # as on Postgres, where nobody is remembered

    assert 200 in statuses
    assert set(on_the_loop) == set()
