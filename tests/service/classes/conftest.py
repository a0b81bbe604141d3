"""A school on a database file: one that a test may change, and one that it may not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from grader.store import migrate
from grader.store.engine import Database
from tests.service.classes.school import School


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the file of a school that is set up."""
    file = tmp_path_factory.mktemp("school") / "school.sqlite3"
    with closing(Database(f"sqlite:///{file}")) as database:
        migrate.upgrade(database)
        School(database).set_up()
    return file


@pytest.fixture
def school(filled: Path, tmp_path: Path) -> Iterator[School]:
    """Give a school of the test's own."""
    file = shutil.copy(filled, tmp_path / "school.sqlite3")
    with closing(Database(f"sqlite:///{file}")) as database:
        yield School(database)


@pytest.fixture(scope="module")
def same_school(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    """Give a school in which whatever is asked is refused, so that one is enough."""
    file = shutil.copy(filled, tmp_path_factory.mktemp("same") / "school.sqlite3")
    with closing(Database(f"sqlite:///{file}")) as database:
        yield School(database)
