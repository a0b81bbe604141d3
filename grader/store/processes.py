"""Which processes of an installation are alive, on whatever machine."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from grader.store.engine import server_time
from grader.store.tables import ProcessRow

SHOW_SECONDS = 4.0  # between two heartbeats of a process
SILENCE_SECONDS = 12.0  # and it counts as gone; its jobs are given to others much earlier
FORGET_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class KnownProcess:
    """A process, as the others know it.

    Attributes:
        id: its own; no other process ever had it.
        machine: the id of its machine.
        slots: how many submissions it grades at once on each device.
        version: of the code that grades.
        secret: a digest of the secret with which it serves pages; empty if it serves none.
        silent: seconds since it was heard of.
    """

    id: str
    machine: str
    slots: dict[str, int] = field(default_factory=dict)
    version: str = ""
    secret: str = field(default="", repr=False)
    silent: float = 0.0


def hear(session: Session, process: KnownProcess, forget: float = FORGET_SECONDS) -> None:
    """Note that a process is alive, and forget those that were not heard of for `forget` seconds."""
    now = server_time(session, time.time)
    values = {"slots": json.dumps(process.slots), "heard": now}
    known = update(ProcessRow).where(ProcessRow.id == process.id).values(**values).returning(ProcessRow.id)
    if session.scalar(known) is not None:
        return
    session.execute(delete(ProcessRow).where(ProcessRow.heard < now - forget))
    fixed = {"id": process.id, "machine": process.machine, "version": process.version, "secret": process.secret}
    session.execute(insert(ProcessRow).values(**fixed, **values))


def leave(session: Session, id: str) -> None:
    """Note that a process has ended."""
    session.execute(delete(ProcessRow).where(ProcessRow.id == id))


def living(session: Session, silence: float) -> list[KnownProcess]:
    """Return the processes that were heard of within `silence` seconds.

    A time that is ahead by more is of before the server's clock was set back, and says nothing of now.
    """
    now = server_time(session, time.time)
    heard = ProcessRow.heard.between(now - silence, now + silence)
    return [
        KnownProcess(row.id, row.machine, json.loads(row.slots), row.version, row.secret, now - row.heard)
        for row in session.scalars(select(ProcessRow).where(heard).order_by(ProcessRow.id))
    ]
