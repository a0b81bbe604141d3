"""Whether the service can do its work, as monitors are told."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from grader.jobs.embedded import EmbeddedEngine
from grader.service.condition import Condition
from grader.store.engine import Database
from tests.jobs.classroom import full_marks, open_database


def test_a_service_is_ready_from_its_start_to_its_stop(tmp_path: Path) -> None:
    """Before and afterwards nothing is graded, although everything can be read."""
    with closing(open_database(tmp_path)) as database:
        engine = EmbeddedEngine(database, full_marks, workers=tmp_path / "workers")
        condition = Condition(database, engine)
        before = condition.missing()
        engine.run({"cpu": 1})
        running = condition.missing()
        engine.drain(5.0)

        assert (before, running, condition.missing()) == (["grading"], [], ["grading"])


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_a_database_that_cannot_be_read_is_missing(tmp_path: Path, content: bytes) -> None:
    """One without tables, a damaged one, and one that is a folder."""
    file = tmp_path / "class.sqlite3"
    file.write_bytes(content)
    for place in (file, tmp_path):
        with closing(Database(f"sqlite:///{place}")) as database:
            engine = EmbeddedEngine(database, full_marks, workers=tmp_path / "workers")
            assert Condition(database, engine).missing() == ["database", "grading"]
