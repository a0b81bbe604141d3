"""What a hidden result tells nobody through others that are shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from grader.judge.report import Report, Status
from grader.service import Service
from grader.store import gradings
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Role, State, User
from tests.service.test_service import follow, graded

ASSIGNMENT = {"class": "the-class", "assignment": "one", "opens": "1970-01-01T00:00", "due": "2100-01-01T00:00"}


@pytest.mark.parametrize("status", [Status.GRADED, Status.REJECTED])
def test_the_number_of_a_later_attempt_tells_nothing_of_a_hidden_one(
    service: Service, database: Database, person: Callable[..., User], status: Status
) -> None:
    """Whether that used up an attempt is a result as well."""
    ada, boss = person("Ada"), person("Boss", Role.INSTRUCTOR)
    service.start()
    shown = {**ASSIGNMENT, "items": {"softmax": "10"}, "show": "never"}
    service.classes.do(boss, "assign", shown)
    hidden = graded(service, ada)
    report = Report("softmax", status, 0.0, 0, "cpu", 0.0)
    with database.write() as session:
        gradings.store(session, hidden, Grading.of(report, Versions(exercise="", grader="", torch=""), 1.0))
    service.classes.do(boss, "assign_change", {**_KEY, "set": {"items": {"causal_attention": "10"}}})
    practice = graded(service, ada)
    watched = asyncio.run(follow(service, ada, practice))[-1]

    assert [(one.state, one.nth) for one in service.attempts(ada)] == [(State.DONE, 2), (State.SEALED, 1)]
    assert (service.submission(ada, practice).nth, watched.nth) == (2, 2)


_KEY = {name: ASSIGNMENT[name] for name in ("class", "assignment")}
