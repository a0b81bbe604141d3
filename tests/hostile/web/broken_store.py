"""Learn something from a fault of ours: ask while the database cannot be opened.

Expected: a sentence of ours, or none; no path, no query, no trace
Stopped by: errors are logged, not shown
Own: yes
"""

from grader.exercise.catalog import ROOT
from grader.service import Service
from grader.service.service import Condition
from grader.settings import Settings
from grader.store.engine import Database
from tests.pages.conftest import in_a_loop, made

PATHS = ["/", "/leaderboard", "/exercise?ex=softmax", "/work", "/sign-in", "/config", "/health", "/ready"]


def control(world):
    base = Database(f"sqlite:///{world.folder}")  # a folder is no database
    try:
        with base.read() as session:
            session.connection()
    except Exception as fault:
        told = repr(fault.__cause__ or fault) + str(fault)
    base.close()
    assert "unable to open" in told or "sqlite" in told


def attack(world):
    healthy = world.small("broken")
    database = healthy._database
    broken = Database(f"sqlite:///{world.folder}")
    for part in (healthy, healthy._classrooms, healthy.accounts, healthy._queue, healthy._queue._watching):
        part._database = broken
    healthy.condition = Condition(broken, healthy._queue)
    assert isinstance(healthy, Service)
    app = in_a_loop(made(healthy, Settings()))

    async def ask(client):
        answers = [await client.get(path, headers={"Cookie": "attention_gym=whatever"}) for path in PATHS]
        answers.append(await client.post("/sign-in", data={"name": "Ada", "password": "correct horse"}))
        answers.append(await client.get("/teach/export.csv", headers={"Cookie": "attention_gym=x"}))
        return answers

    for answer in world.bare(ask, app):
        assert [trace for trace in ("Traceback", "sqlite", str(world.folder), "SELECT", str(ROOT), "site-packages") if trace in answer.text] == []
    broken.close()
    database.close()
