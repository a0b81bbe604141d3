"""Registering costs as much among very many people as among few, and overlooks nobody."""

from __future__ import annotations

import pytest

from grader.errors import NotAllowed
from grader.service import Service, taken
from grader.store import people
from grader.store.engine import Database
from grader.store.records import Role
from tests.service.conftest import Clock


def store(database: Database, *names: str) -> None:
    """Put people into the store as another process does."""
    with database.write() as session:
        for name in names:
            people.add(session, name, Role.STUDENT, key=name, password="", now=0.0)


def test_a_new_name_is_compared_with_what_has_come_since(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the names were read, a registration reads how its own looks, however many others there are."""
    store(database, *(f"student {n}" for n in range(2000)))
    read: list[str] = []
    known = taken.skeleton
    monkeypatch.setattr(taken, "skeleton", lambda name: read.append(name) or known(name))
    costs = []
    for n in range(4):
        service.register(f"newcomer {n}", "correct horse", "green-tree")
        costs.append(len(read))
        read.clear()

    assert costs[0] > 2000
    assert max(costs[1:]) <= 4


def test_what_other_processes_do_is_seen(service: Service, database: Database, clock: Clock) -> None:
    """A name that was stored elsewhere is taken at once, at a lower id too; one deleted is free."""
    service.register("Grete", "correct horse", "green-tree")
    store(database, "Heidi")
    with pytest.raises(NotAllowed, match="Heidi"):
        service.register("Heidi", "correct horse", "green-tree")
    with database.engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        connection.exec_driver_sql("UPDATE memberships SET user_id = 100 WHERE user_id = 2")
        connection.exec_driver_sql("UPDATE users SET id = 100 WHERE name = 'Heidi'")
    service.register("Ida", "correct horse", "green-tree")  # 101
    with database.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO users (id, name, key, password, created) VALUES (50, 'Käthe', 'käthe', '', 0)"
        )
        connection.exec_driver_sql("DELETE FROM users WHERE name = 'Heidi'")
        connection.exec_driver_sql(
            "INSERT INTO users (id, name, key, password, created) VALUES (51, 'Lena', 'lena', '', 0)"
        )
    for name in ("Käthe", "Lena"):
        with pytest.raises(NotAllowed, match=name):
            service.register(name, "correct horse", "green-tree")
    service.register("Heidi", "correct horse", "green-tree")
