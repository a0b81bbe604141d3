"""How a job in the table gets to a worker: a port beside the table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from sqlalchemy.orm import Session

from grader.store.records import SubmissionId


class Delivery(Protocol):
    """Brings jobs to workers."""

    def put(self, session: Session, ids: Collection[SubmissionId]) -> None:
        """Have these jobs, which wait in the table, brought to workers, as a part of the caller's transaction."""
        ...

    def first(self, session: Session, id: SubmissionId, now: float) -> bool:
        """Return whether it is the turn of this job, which was brought; else have the one brought whose turn it is."""
        ...


class NoDelivery:
    """Workers look into the table themselves."""

    def put(self, session: Session, ids: Collection[SubmissionId]) -> None:
        """Leave them where they are."""

    def first(self, session: Session, id: SubmissionId, now: float) -> bool:
        """Return True: whoever takes one has looked for it."""
        return True
