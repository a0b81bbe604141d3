"""What the log says of a hand-in, a sign-in and a reset: whose submission it is, and nothing of what they hold."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from sqlalchemy import text

from grader.exercise.catalog import ROOT, Catalog
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.queue import Tracker
from grader.jobs.tryouts import TryoutThread
from grader.jobs.worker import Retries
from grader.judge.report import Report
from grader.log import JsonLines, Short
from grader.service import Service
from grader.service.service import Rules
from grader.settings import Settings
from grader.store.records import Submission
from tests.jobs.classroom import full_marks, open_database
from tests.pages.conftest import in_a_loop, made

# What may never be logged, by the names that docs/operators.md has for it, with a value that these tests hand over.
NEVER = {
    "source": "sesame_source = 1",
    "draft": "sesame_draft = 2",
    "password": "sesame password",
    "new password": "another sesame",
    "class code": "sesame-tree-code",
    "secret": "sesame secret of the seeds, not to be guessed",
    "metrics token": "sesame-metrics-0123456789abcdef-ok",
    "report": "sesame advice",
}
FAULT = "the second hand-in ends in this fault"


class Written(logging.Handler):
    """Keeps what is logged in both forms; an entry that cannot be written is an error of whoever logs it."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        super().__init__()
        self.entries: dict[str, list[str]] = {"json": [], "text": []}
        self._forms = {"json": JsonLines(), "text": Short()}

    def emit(self, record: logging.LogRecord) -> None:
        """Write an entry, unless it comes from this test's own client."""
        if not record.name.startswith(("httpx", "httpcore")):
            for name, form in self._forms.items():
                self.entries[name].append(form.format(record))


@pytest.fixture
def log() -> Iterator[dict[str, list[str]]]:
    """Give what is written from now on, of every level, in both forms."""
    root, written = logging.getLogger(), Written()
    before = root.level
    root.addHandler(written)
    root.setLevel(logging.DEBUG)
    yield written.entries
    root.setLevel(before)
    root.removeHandler(written)


@pytest.fixture
def service(tmp_path: Path, catalog: Catalog, log: object) -> Iterator[Service]:
    """Give a service, started, that gives full marks at first, and then fails."""

    def grade(submission: Submission, tracker: Tracker) -> Report:
        if submission.number > 1:
            raise RuntimeError(FAULT)
        return Report(
            submission.exercise, full_marks(submission, tracker).status, 100.0, 1, "cpu", 0.0, advice=(NEVER["report"],)
        )

    engine = EmbeddedEngine(open_database(tmp_path), grade, workers=tmp_path / "workers", retries=Retries((0.0,)))
    service = Service(
        engine._database,
        catalog,
        engine,
        rules=Rules(class_code=NEVER["class code"], secret=NEVER["secret"].encode(), slots={"cpu": 1}),
        tryouts=TryoutThread(lambda request: request.example),
        box_name="nothing at all",
        hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1),
    )
    service.start()
    yield service
    service.stop()


async def _live(service: Service, settings: Settings) -> dict[str, str]:
    """Register, hand in twice, draft, reset, sign in; then the same without tables. Return the cookies and tokens."""
    app = await made(service, settings)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://gym.example", timeout=20) as client:
        form = {"name": "Ada", "password": NEVER["password"], "class_code": NEVER["class code"]}
        assert (await client.post("/register", data=form)).status_code == 303
        for _ in range(2):
            id = await _hand_in(client)
            assert "event: end" in (await client.get(f"/runs/{id}")).text
        draft = {"content": NEVER["draft"], "headers": {"Content-Type": "text/plain"}}
        assert (await client.post("/draft?ex=softmax&base=", **draft)).status_code == 200
        hidden = {f"cookie {name}": value for name, value in client.cookies.items()}
        token = hidden["reset token"] = service.own_account.link_for("Ada")
        assert (await client.get(f"/reset?token={token}")).status_code == 200
        new = {"token": token, "password": NEVER["new password"]}
        assert (await client.post("/reset", data=new)).status_code == 303
        for word in ("password", "new password"):
            await client.post("/sign-in", data={"name": "Ada", "password": NEVER[word]})
        hidden |= {f"later {name}": value for name, value in client.cookies.items()}
        await client.get("/metrics", headers={"Authorization": f"Bearer {settings.metrics_token}"})
        with service._database.write() as session:
            for table in ("sessions", "jobs", "drafts"):
                session.execute(text(f"ALTER TABLE {table} RENAME TO {table}_gone"))
        await _hand_in(client)
        await client.post("/draft?ex=softmax&base=", **draft)
        await client.post("/sign-in", data={"name": "Ada", "password": NEVER["new password"]})
    return hidden


async def _hand_in(client: httpx.AsyncClient) -> str:
    data = {"data": ["softmax", NEVER["source"]], "session_hash": "abc"}
    answer = await client.post("/gradio_api/run/submit", json=data)
    return str(answer.json()["data"][0]) if answer.status_code == 200 else ""


def test_the_log_holds_nothing_that_people_hand_over(
    service: Service, log: dict[str, list[str]], tmp_path: Path
) -> None:
    """At every level, in both forms, also where things break; and what is about a submission names it."""
    settings = Settings(data=tmp_path, metrics_token=NEVER["metrics token"])
    hidden = NEVER | in_a_loop(_live(service, settings))
    written = {name: "\n".join(said) for name, said in log.items()}
    entries: list[dict[str, Any]] = [json.loads(line) for line in written["json"].splitlines()]
    about = [entry for entry in entries if FAULT in entry["message"]]

    assert [(name, what) for name, said in written.items() for what, value in hidden.items() if value in said] == []
    assert len(hidden) > len(NEVER) + 2
    assert about
    assert all(re.fullmatch("[0-9a-f]{24}", entry["submission"]) for entry in about)
    assert any("sessions" in entry.get("trace", "") for entry in entries), "the broken tables were noticed"


def test_operators_read_what_is_never_logged() -> None:
    """The docs name everything that is looked for here."""
    line = next(line for line in (ROOT / "docs/operators.md").read_text().splitlines() if "are never logged" in line)

    assert [name for name in NEVER if name not in line.lower()] == []
