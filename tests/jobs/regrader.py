"""A process that grades a submission once more, and stays where it can be killed in the middle of it."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from sqlalchemy import event

from grader.box.cancel import CancelToken
from grader.box.plan import Plan
from grader.box.run import Limits, Progress, Run
from grader.jobs import regrade
from grader.jobs.regrade import Regraded
from grader.store import gradings, submissions
from grader.store.engine import Database
from grader.store.records import SubmissionId

LAST_WRITES = "INSERT INTO totals"  # the new result stands in its table by then, and counts


class StayingBox:
    """A box that says that it was asked to run something, and never does."""

    name = "stays"

    def __init__(self, told: Connection) -> None:
        """Say it to `told`."""
        self._told = told

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Stay."""
        _stay(self._told)
        raise AssertionError("whoever stays goes on")


def work(url: str, id: str, stage: str, told: Connection) -> None:
    """Grade a submission once more, up to a stage, and tell `told` that it is reached.

    Args:
        url: of the database.
        id: the submission's.
        stage: `run`, while the submission is run, or `store`, in the middle of storing full marks.
        told: where that is said.
    """
    database, submission = Database(url), SubmissionId(id)
    if stage == "run":
        regrade.regrade(database, StayingBox(told), submission)
        return

    @event.listens_for(database.engine, "before_cursor_execute")
    def stay(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(LAST_WRITES):
            _stay(told)

    regrade.keep(database, with_full_marks(database, submission))


def with_full_marks(database: Database, id: SubmissionId) -> Regraded:
    """Return a regrade of a submission that gives it full marks, without grading anything."""
    with database.read() as session:
        found, versions = submissions.get(session, id), gradings.versions_of(session, id)
    assert found is not None
    assert found.report is not None
    assert versions is not None
    return Regraded(id, found.report, replace(found.report, score=100.0), versions, versions, b"")


def _stay(told: Connection) -> None:
    os.write(told.fileno(), b".")
    threading.Event().wait()
