"""What must be true of the database when the kills are over, whatever was killed and when."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Table, text
from sqlalchemy.orm import Session

from grader.store.engine import Database
from grader.store.tables import Base

_COUNTED = {
    "submissions without an end": "SELECT count(*) FROM submissions WHERE state NOT IN ('done', 'broken')",
    "jobs that are left": "SELECT count(*) FROM jobs",
    "submissions whose number of gradings is not one": """
        SELECT count(*) FROM submissions AS s
        WHERE (SELECT count(*) FROM gradings AS g WHERE g.submission_id = s.id) <> 1""",
    "submissions that do not point to their grading": """
        SELECT count(*) FROM submissions AS s LEFT JOIN gradings AS g ON g.id = s.current_grading
        WHERE g.submission_id IS NULL OR g.submission_id <> s.id""",
    "attempts whose numbers have a gap or a double": """
        SELECT count(*) FROM (SELECT count(*) AS n, count(DISTINCT number) AS d, min(number) AS a, max(number) AS z
        FROM submissions GROUP BY user_id, exercise) AS o WHERE n <> d OR a <> 1 OR z <> n""",
    "people whose attempts are counted wrongly": """
        SELECT count(*) FROM (SELECT user_id, exercise, count(*) AS n FROM submissions WHERE state = 'done'
        GROUP BY user_id, exercise) AS o LEFT JOIN bests AS b ON b.user_id = o.user_id AND b.exercise = o.exercise
        WHERE b.used IS NULL OR b.used <> o.n""",
}


def wrongs(database: Database, acknowledged: set[str]) -> list[str]:
    """Return every promise that was broken, in a line each; none is what there should be.

    Args:
        database: at rest: nothing is open any more.
        acknowledged: the submissions of which somebody was told that they are stored.
    """
    with database.read() as session:
        stored = set(session.scalars(text("SELECT id FROM submissions")))
        found = {name: session.scalar(text(query)) or 0 for name, query in _COUNTED.items()}
        found["acknowledged hand-ins that are lost"] = len(acknowledged - stored)
        found.update(_orphans(session))
        if database.embedded and (said := session.scalar(text("PRAGMA integrity_check"))) != "ok":
            return [f"the file is damaged: {said}"]
    return [f"{name}: {number}" for name, number in found.items() if number]


def outcomes(database: Database) -> dict[str, int]:
    """Return how many gradings there are of each status and score."""
    query = text("SELECT status, score, count(*) FROM gradings GROUP BY status, score ORDER BY count(*) DESC")
    with database.read() as session:
        return {f"{status} {score:g}": number for status, score, number in session.execute(query)}


def _orphans(session: Session) -> Iterator[tuple[str, int]]:
    """Yield for each foreign key how many rows point to nothing; not taken from the database's own checks."""
    for table in Base.metadata.sorted_tables:
        for key in table.foreign_keys:
            yield _orphans_of(session, table, key.parent.name, (key.column.table.name, key.column.name))


def _orphans_of(session: Session, table: Table, column: str, target: tuple[str, str]) -> tuple[str, int]:
    query = (
        f"SELECT count(*) FROM {table.name} AS a LEFT JOIN {target[0]} AS b ON b.{target[1]} = a.{column} "
        f"WHERE a.{column} IS NOT NULL AND b.{target[1]} IS NULL"
    )
    return f"rows of {table.name} whose {column} points to nothing", session.scalar(text(query)) or 0
