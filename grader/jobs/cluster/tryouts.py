"""Tryouts of pages on a machine without sandbox: stored, delivered to a machine that grades, and fetched when done.

A notice says that one is done. It may get lost, so whoever waits looks into the table each second.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from concurrent.futures import Future
from dataclasses import asdict

from grader.jobs.cluster.library import defer_tryout
from grader.jobs.tryouts import TryoutOutcome, TryoutRequest, Tryouts
from grader.store import processes
from grader.store.engine import Database, StoreUnavailable

LOG = logging.getLogger(__name__)
LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 30.0  # a little more than the page has
UNANSWERED = "no machine that grades has answered"


class SharedTryouts:
    """Has tryouts run by whatever machine grades; every method may be called from any thread.

    Args:
        database: a Postgres, where they are stored meanwhile.
    """

    def __init__(self, database: Database) -> None:
        """Start with none."""
        self._database = database
        self._changed = threading.Condition()
        self._open: dict[str, tuple[Future[str], float]] = {}  # by id: who waits, and until when
        self._news = self._closed = False
        self._thread: threading.Thread | None = None

    def try_out(self, request: TryoutRequest) -> Future[str]:
        """Return what will be the answer; see `Tryouts`."""
        id, future = secrets.token_hex(16), Future[str]()
        with self._changed:
            self._open[id] = (future, time.monotonic() + PATIENCE_SECONDS)
            self._news = True  # the thread waits without end while nothing is open; from now on it looks each second
            self._changed.notify()
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, daemon=True, name="shared tryouts")
                self._thread.start()
        try:
            with self._database.write() as session:
                processes.ask(session, id, json.dumps(asdict(request)))
                defer_tryout(session, id)
        except StoreUnavailable as fault:
            self._settle(id, TryoutOutcome(fault=str(fault)))
        return future

    def look(self) -> None:
        """Look now whether something is done."""
        with self._changed:
            self._news = True
            self._changed.notify()

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            left = list(self._open)
        for id in left:
            self._settle(id, TryoutOutcome(fault="the pages end"))

    def _serve(self) -> None:
        while not self._closed:
            with self._changed:
                wait = LOOK_SECONDS if self._open else None
                self._changed.wait_for(lambda: self._news or self._closed, timeout=wait)
                self._news = False
            try:
                self._fetch()
            except StoreUnavailable as fault:
                LOG.warning("what came of tries could not be fetched yet: %s", fault)

    def _fetch(self) -> None:
        with self._changed:
            waiting = dict(self._open)
        if not waiting:
            return
        late = [id for id, (_, until) in waiting.items() if until < time.monotonic()]
        with self._database.write() as session:
            done = processes.fetch(session, waiting)
            if late:
                processes.forget_tries(session, late, seconds=2 * PATIENCE_SECONDS)
        outcomes = {id: TryoutOutcome(fault=UNANSWERED) for id in late}
        outcomes |= {id: TryoutOutcome(**json.loads(outcome)) for id, outcome in done.items()}
        for id, outcome in outcomes.items():
            self._settle(id, outcome)

    def _settle(self, id: str, outcome: TryoutOutcome) -> None:
        with self._changed:
            future, _ = self._open.pop(id, (None, 0.0))
        if future is not None:
            outcome.settle(future)


def answer(database: Database, tryouts: Tryouts, id: str) -> None:
    """Run one of those tryouts here, and store what came of it; blocks until then."""
    with database.read() as session:
        asked = processes.asked(session, id)
    if asked is None:
        return  # whoever asked waits no longer
    outcome = TryoutOutcome.of(tryouts.try_out(TryoutRequest(**json.loads(asked))))
    with database.write() as session:
        processes.answer(session, id, json.dumps(asdict(outcome)))
