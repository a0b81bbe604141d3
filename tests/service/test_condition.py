"""Whether the service can do its work, as monitors are told."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from grader.errors import AuthorError
from grader.exercise.catalog import ROOT, Catalog
from grader.jobs.engine import EmbeddedEngine
from grader.service.service import Condition
from grader.store import people
from grader.store.engine import Database
from grader.store.records import Role
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


@pytest.mark.parametrize(
    "file", ["exercises/softmax/exercise.toml", "exercises/softmax/mistakes.py", "reference/softmax.py"]
)
def test_an_exercise_whose_files_are_gone_is_missing(tmp_path: Path, file: str) -> None:
    """Nothing that is handed in to it can be graded; its page, which was read at the start, is still shown."""
    for name in ("exercises/softmax", "reference"):
        shutil.copytree(ROOT / name, tmp_path / name)
    catalog = Catalog.load(tmp_path)
    with closing(open_database(tmp_path)) as database:
        engine = EmbeddedEngine(database, full_marks, workers=tmp_path / "workers")
        engine.run({"cpu": 1})
        condition = Condition(database, engine, catalog)
        catalog.read_texts()
        before = condition.missing()
        (tmp_path / file).unlink()
        (tmp_path / "exercises/softmax/statement.md").unlink()
        after = condition.missing()
        engine.drain(5.0)

    assert (before, after) == ([], ["exercises"])
    assert "softmax" in catalog["softmax"].statement.lower()


def test_a_text_of_an_exercise_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    """In a sentence with the file, not with an error of each page that shows it."""
    shutil.copytree(ROOT / "exercises" / "softmax", tmp_path / "exercises" / "softmax")
    shutil.copytree(ROOT / "reference", tmp_path / "reference")
    (tmp_path / "exercises/softmax/statement.md").write_bytes(b"\xff")

    with pytest.raises(AuthorError, match=r"statement\.md` cannot be read; expected: a text in UTF-8"):
        Catalog.load(tmp_path).read_texts()


@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
def test_a_damaged_page_makes_a_database_missing(tmp_path: Path, caplog: pytest.LogCaptureFixture, at: float) -> None:
    """Although everything that is asked for at a start can be read; the log says it once."""
    with closing(open_database(tmp_path)) as database:
        for number in range(40):
            with database.write() as session:
                people.add(session, "x" * 60, Role.STUDENT, key=f"{number}" + "y" * 100, password="h" * 150, now=1.0)
    file = tmp_path / "class.sqlite3"
    content = bytearray(file.read_bytes())
    rows = [place for place in range(0, len(content), 4096) if b"y" * 100 in content[place : place + 4096]]
    page = rows[int(at * len(rows))]  # of the people, whom nobody asks for at a start
    content[page : page + 4096] = b"\xa5" * 4096
    file.write_bytes(content)
    with closing(Database(f"sqlite:///{file}")) as database:
        engine = EmbeddedEngine(database, full_marks, workers=tmp_path / "workers")
        condition = Condition(database, engine)
        condition.look()
        condition.look()

        assert condition.missing() == ["database", "grading"]
    assert sum("is damaged" in line.getMessage() for line in caplog.records) == 1
