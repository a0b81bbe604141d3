"""The one clock of what is stored: the database server's, where there is one."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Float, cast, func, select
from sqlalchemy.orm import Session


def now(session: Session, clock: Callable[[], float]) -> float:
    """Return the time for what this transaction stores, in seconds since the epoch.

    Args:
        session: on Postgres its server is asked, so that machines whose clocks differ agree.
        clock: of this process; what counts on SQLite, which has no other.
    """
    if session.get_bind().dialect.name != "postgresql":
        return clock()
    return session.scalars(select(cast(func.extract("epoch", func.clock_timestamp()), Float(53)))).one()
