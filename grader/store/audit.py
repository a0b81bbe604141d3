"""What staff have done to a class: who, when, why, and what was there before and after. Lines are only ever added."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.store.tables import AuditRow

_LONGEST_SUBJECT, _LONGEST_NAME = 300, 254  # characters of the columns


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """One action. `at` is in seconds since the epoch; `class_id` is None for what concerns the installation.

    `subject` is as `subject_of` makes it, and `about` as people read it.
    """

    class_id: int | None
    at: float
    by: str
    do: str
    subject: str = ""
    ok: bool = True
    before: Any = None
    after: Any = None
    reason: str = ""

    @property
    def about(self) -> str:
        """The subject in words."""
        return self.subject.replace("\t", " ")


def subject_of(*parts: str | None) -> str:
    """Return what an action is about, of parts between which stands a sign that none of them holds."""
    return "\t".join(filter(None, parts))


def add(session: Session, line: AuditLine) -> None:
    """Store a line; `before` and `after` are what JSON can hold."""
    row = AuditRow(
        class_id=line.class_id, at=line.at, by=line.by[:_LONGEST_NAME], do=line.do, ok=line.ok,
        reason=_storable(line.reason),
        subject=_storable(line.subject)[:_LONGEST_SUBJECT],
        before=json.dumps(line.before), after=json.dumps(line.after),
    )  # fmt: skip
    session.add(row)
    session.flush()


def _storable(text: str) -> str:
    """Return a text as every database holds it: without zeros, and without halves of characters."""
    return text.replace("\0", "").encode(errors="replace").decode()


def lines(session: Session, class_id: int, subject: str = "") -> list[AuditLine]:
    """Return a class's lines whose subject begins so, the oldest first."""
    query = select(AuditRow).where(AuditRow.class_id == class_id, AuditRow.subject.startswith(subject, autoescape=True))
    rows = session.scalars(query.order_by(AuditRow.id))
    return [
        AuditLine(
            class_id=row.class_id, at=row.at, by=row.by, do=row.do, subject=row.subject, ok=row.ok, reason=row.reason,
            before=json.loads(row.before), after=json.loads(row.after),
        )
        for row in rows
    ]  # fmt: skip
