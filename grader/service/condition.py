"""Whether the service can do its work just now, for whoever watches over it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from grader.errors import GraderFault
from grader.exercise.catalog import Catalog
from grader.jobs.table import Queue
from grader.store.engine import Database

LOG = logging.getLogger(__name__)
AGAIN_SECONDS = 3600.0  # from one look through the whole database to the next


class Condition:
    """What a service needs, and whether it has it.

    A damaged page is noticed by whoever reads it, which may be nobody for weeks. So the file is read from end to end at
    the start, and once an hour as long as somebody asks how things are.
    """

    def __init__(
        self,
        database: Database,
        queue: Queue,
        catalog: Catalog | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Look at nothing yet."""
        self.database, self.queue, self._exercises = database, queue, [] if catalog is None else list(catalog.values())
        self._clock, self._due, self._damage = clock, float("-inf"), ""

    def missing(self) -> list[str]:
        """Return what keeps submissions from being taken and graded, of `database`, `grading` and `exercises`."""
        self.look_in_time()
        there = {
            "database": self._has_database(),
            "grading": self.queue.grades(),
            "exercises": all(exercise.is_complete for exercise in self._exercises),
        }
        return [name for name, is_there in there.items() if not is_there]

    def look_in_time(self) -> None:
        """Have the database looked through, beside everything else, if it is time."""
        now = self._clock()
        if self.database.embedded and now >= self._due:
            self._due = now + AGAIN_SECONDS
            threading.Thread(target=self.look, daemon=True, name="look through the database").start()

    def look(self) -> None:
        """Look through the database for damage; what is found is logged once."""
        try:
            found = self.database.examine()
        except GraderFault:
            return  # it is away, which is told elsewhere
        if found and found != self._damage:
            LOG.error("%s", found)
        self._damage = found

    def _has_database(self) -> bool:
        return not self._damage and self.database.answers()
