"""What monitors are told over HTTP."""

from __future__ import annotations

from contextlib import closing

import pytest

from grader.pages.routes import Routes
from grader.service.service import Condition
from grader.store.engine import Database


def test_a_service_that_grades_is_ready(visitor):
    """And alive."""
    with visitor() as monitor:
        ready, alive = monitor.get("/ready"), monitor.get("/health")

    assert (ready.status_code, ready.json()) == (200, {"ready": True, "missing": []})
    assert (alive.status_code, alive.json()) == (200, {"status": "ok"})


def test_a_service_without_its_database_is_alive_and_not_ready(site, visitor, monkeypatch, tmp_path):
    """The answer names what is missing, and nothing of where it is."""
    with closing(Database(f"sqlite:///{tmp_path}")) as broken, visitor() as monitor:
        monkeypatch.setattr(site.service, "condition", Condition(broken, site.service._queue))
        ready, alive = monitor.get("/ready"), monitor.get("/health")

    assert (ready.status_code, ready.json()) == (503, {"ready": False, "missing": ["database"]})
    assert str(tmp_path) not in ready.text
    assert alive.status_code == 200


@pytest.mark.parametrize("path", [path for path, route in Routes()._table.items() if "HEAD" in route.methods])
def test_a_monitor_may_ask_for_the_head_alone(path, visitor):
    """With the status that the whole page has, as HTTP says; several monitors ask by HEAD."""
    with visitor() as monitor:
        assert monitor.head(path).status_code == monitor.get(path).status_code
