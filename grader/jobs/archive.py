"""Keeps the grading files of every version that submissions were graded with, so that they can be graded again.

They are Python, which `regrade` loads outside of any sandbox. So they are signed with the secret of the installation,
which is not in the database, and are neither unpacked nor run unless the signature fits: whoever can write to the
database, or hands over a backup, cannot have code run by it. Not covered: somebody who has the secret as well.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.errors import GraderFault
from grader.exercise import kept
from grader.exercise.catalog import Catalog, Exercise
from grader.store import keys, turns
from grader.store.engine import Database
from grader.store.tables import GradingFilesRow


class NotSigned(GraderFault):
    """Kept grading files are not those that this installation has signed, so nothing of them is run."""


def keep(database: Database, catalog: Catalog, secret: bytes | None = None) -> int:
    """Store the grading files of each exercise that are not there yet; return how many those were.

    They are signed with the secret of the installation, and take the place of unsigned ones of the same version. A
    worker elsewhere need not have it: what that stores is signed by the next start of the pages.
    """
    with database.read() as session:
        there = {id for id, one in catalog.items() if _is_kept(session, id, one.version, secret)}
    # Outside of the transaction: hashing all exercises takes half a second, for which others would wait.
    new = [(one.id, one.version, kept.pack(one)) for one in catalog.values() if one.id not in there]
    if new:
        with database.write() as session:
            for exercise, version, content in new:
                add(session, exercise, version, content, secret=secret)
    return len(new)


def add(session: Session, exercise: str, version: str, content: bytes, *, secret: bytes | None = None) -> None:
    """Store the grading files of one version, unless they are there, signed if there is a secret."""
    turns.of_class(session)  # whose exercises they are: several machines may start at once
    if _is_kept(session, exercise, version, secret):
        return
    row = GradingFilesRow(exercise=exercise, version=version, created=time.time(), content=content)
    row.signature = _signature(row, secret)
    session.merge(row)


@contextmanager
def restored(database: Database, exercise: str, version: str, secret: bytes | None) -> Iterator[Exercise | None]:
    """Give an exercise as it was at a version, for the length of the block; None if its files were not kept.

    Raises:
        NotSigned: the files are not signed with `secret`; they were not unpacked.
        AuthorError: the files are damaged, or this grader does not understand them any more.
    """
    with database.read() as session:
        row = session.get(GradingFilesRow, (exercise, version))
        if row is not None and not is_signed(row, secret):
            raise NotSigned(f"the grading files of {exercise} at version {version} are not signed")
        content = None if row is None else row.content
    if content is None:
        yield None
        return
    with TemporaryDirectory(prefix="grading-files-") as folder:
        yield kept.unpack(content, exercise, Path(folder))


def is_signed(row: GradingFilesRow, secret: bytes | None) -> bool:
    """Return whether nothing in a row has changed since it was signed with `secret`; without a secret nothing is."""
    expected = _signature(row, secret)
    return expected is not None and hmac.compare_digest(str(row.signature).encode(), expected.encode())


def unsigned(session: Session, secret: bytes | None) -> list[str]:
    """Return the names of all versions whose files would not be run."""
    return [f"{row.exercise} at {row.version}" for row in _one_by_one(session) if not is_signed(row, secret)]


def warning(session: Session, secret: bytes | None) -> str:
    """Return what is to be said of files that would not be run; empty if there are none."""
    names = unsigned(session, secret)
    if not names:
        return ""
    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return (
        f"kept grading files that are not signed with this installation's secret: {len(names)} ({shown}); `regrade` "
        "will not run them, and grades with the present ones if --newest asks for that. Where all of them are your "
        "own, --trust-files signs them"
    )


def sign(session: Session, secret: bytes | None) -> None:
    """Sign all that is there with `secret`, unseen, or take all signatures away where there is no secret."""
    for row in _one_by_one(session):
        row.signature = _signature(row, secret)


def _one_by_one(session: Session) -> Iterator[GradingFilesRow]:
    names = session.execute(select(GradingFilesRow.exercise, GradingFilesRow.version)).all()
    yield from filter(None, (session.get(GradingFilesRow, tuple(name)) for name in sorted(names)))


def _is_kept(session: Session, exercise: str, version: str, secret: bytes | None) -> bool:
    row = session.get(GradingFilesRow, (exercise, version))
    return row is not None and (secret is None or is_signed(row, secret))


def _signature(row: GradingFilesRow, secret: bytes | None) -> str | None:
    if secret is None:
        return None
    return keys.signature(secret, row.exercise, row.version, row.created, row.content)
