"""Keeps the grading files of every version that submissions were graded with, so that they can be graded again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.exercise import kept
from grader.exercise.catalog import Catalog, Exercise
from grader.store import turns
from grader.store.engine import Database
from grader.store.tables import GradingFilesRow


def keep(database: Database, catalog: Catalog) -> int:
    """Store the grading files of each exercise that are not there yet; return how many those were."""
    known = GradingFilesRow
    with database.read() as session:
        there = {(id, version) for id, version in session.execute(select(known.exercise, known.version))}
    # Outside of the transaction: hashing all exercises takes half a second, for which others would wait.
    new = [(one.id, one.version, kept.pack(one)) for one in catalog.values() if (one.id, one.version) not in there]
    if new:
        with database.write() as session:
            for exercise, version, content in new:
                add(session, exercise, version, content)
    return len(new)


def add(session: Session, exercise: str, version: str, content: bytes) -> None:
    """Store the grading files of one version, unless they are there."""
    turns.of_class(session)  # whose exercises they are: several machines may start at once
    if session.get(GradingFilesRow, (exercise, version)) is None:
        session.add(GradingFilesRow(exercise=exercise, version=version, created=time.time(), content=content))


@contextmanager
def restored(database: Database, exercise: str, version: str) -> Iterator[Exercise | None]:
    """Give an exercise as it was at a version, for the length of the block; None if its files were not kept.

    Raises:
        AuthorError: the files are damaged, or this grader does not understand them any more.
    """
    wanted = (GradingFilesRow.exercise == exercise, GradingFilesRow.version == version)
    with database.read() as session:
        content = session.scalar(select(GradingFilesRow.content).where(*wanted))
    if content is None:
        yield None
        return
    with TemporaryDirectory(prefix="grading-files-") as folder:
        yield kept.unpack(content, exercise, Path(folder))
