"""Whether the service can do its work just now, for whoever watches over it."""

from __future__ import annotations

from dataclasses import dataclass

from grader.jobs.queue import Queue
from grader.store.engine import Database


@dataclass(frozen=True, slots=True)
class Condition:
    """What a service needs, and whether it has it."""

    database: Database
    queue: Queue

    def missing(self) -> list[str]:
        """Return what keeps submissions from being taken and graded: `database`, `grading`, both or neither."""
        needed = {"database": self.database.answers, "grading": self.queue.grades}
        return [name for name, is_there in needed.items() if not is_there()]
