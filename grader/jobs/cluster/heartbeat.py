"""Shows the others that a process is alive, and knows what they do: where is graded, and with which code."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import Counter

from grader.errors import SettingsError
from grader.store import processes
from grader.store.engine import Database, StoreUnavailable
from grader.store.processes import KnownProcess

LOG = logging.getLogger(__name__)
SHOW_SECONDS = 4.0
SILENCE_SECONDS = 12.0  # and a process counts as gone; its jobs are given to others much earlier
FORGET_SECONDS = 24 * 3600.0
OTHER_SECRET = (
    "ATTENTION_GYM_SECRET is not the one of another process that serves these pages now; expected: the same for all. "
    "Without a setting the first machine keeps it in `secret` in its data directory. To replace it, stop them all first"
)


def digest_of(secret: bytes) -> str:
    """Return what tells two secrets apart, and from which nobody finds one."""
    return hashlib.sha256(b"which secret: " + secret).hexdigest()


class Heartbeat:
    """One process among those of all machines.

    Args:
        database: a Postgres that they share.
        process: what the others are to know of this one.
    """

    def __init__(self, database: Database, process: KnownProcess) -> None:
        """Show nothing yet."""
        self._database, self._process = database, process
        self._next = 0.0
        self._left = threading.Event()

    def enter(self) -> None:
        """Show that this process is here.

        Raises:
            SettingsError: another one serves pages with another secret.
            StoreUnavailable: the database does not answer.
        """
        with self._database.write() as session:
            if self._process.secret:
                others = {one.secret for one in processes.living(session, SILENCE_SECONDS)} - {""}
                if others - {self._process.secret}:
                    raise SettingsError(OTHER_SECRET)
            processes.hear(session, self._process, FORGET_SECONDS)
        self._next = time.monotonic() + SHOW_SECONDS

    def show(self) -> None:
        """Show it again, if it is time to."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + SHOW_SECONDS
            with self._database.write() as session:
                processes.hear(session, self._process, FORGET_SECONDS)

    def leave(self) -> None:
        """Show that this process ends."""
        self._left.set()
        try:
            with self._database.write() as session:
                processes.leave(session, self._process.id)
        except StoreUnavailable as fault:
            LOG.debug("that this process ends is not stored: %s", fault)

    def keep_showing(self) -> None:
        """Do so up to the end of this process, in a thread of its own."""
        threading.Thread(target=self._keep_showing, daemon=True, name="heartbeat").start()

    def _keep_showing(self) -> None:
        while not self._left.wait(SHOW_SECONDS):
            try:
                self.show()
            except StoreUnavailable as fault:
                LOG.warning("other processes do not hear of this one: %s", fault)


def slots_of_all(database: Database) -> Counter[str]:
    """Return how many submissions all machines together grade at once on each device."""
    with database.read() as session:
        living = processes.living(session, SILENCE_SECONDS)
    return sum((Counter(one.slots) for one in living), Counter())
