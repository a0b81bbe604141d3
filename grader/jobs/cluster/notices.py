"""What processes on several machines tell each other, over LISTEN and NOTIFY of Postgres.

A notice is a hint and may get lost: whoever waits for something looks into the tables now and then all the same.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import psycopg
from sqlalchemy import URL

from grader.jobs.cluster.library import conninfo
from grader.jobs.messages import Advanced, Message, decoded, encoded

LOG = logging.getLogger(__name__)
CHANNEL = "grader"
LONGEST = 7999  # bytes that a notice may have
LISTEN_SECONDS = 1.0  # between two looks whether to stop
REST_SECONDS = 1.0  # after a connection was lost


class Notices:
    """Sends and hears notices; each side has a connection of its own, which is opened again where it is lost."""

    def __init__(self, url: URL) -> None:
        self._address = conninfo(url)
        self._telling = threading.Lock()
        self._stop = threading.Event()
        self._out: psycopg.Connection | None = None

    def publish(self, message: Message) -> bool:
        """Tell all who listen, this process included; return whether that was possible; once closed, it is not."""
        line = encoded(message)
        while len(line.encode()) > LONGEST and isinstance(message, Advanced) and message.steps.curve:
            half = len(message.steps.curve) // 2 + 1  # of a curve that is too long, only what came last
            message = Advanced(message.id, replace(message.steps, curve=message.steps.curve[half:]))
            line = encoded(message)
        with self._telling:
            # A connection that broke since the last time shows it at the first try.
            return not self._stop.is_set() and (self._sent(line) or self._sent(line))

    def listen(self, heed: Callable[[Message], None]) -> None:
        """Pass on every notice from now on, in a thread of its own."""
        threading.Thread(target=self._listen, args=(heed,), daemon=True, name="notices").start()

    def close(self) -> None:
        """Stop listening, and close what is open."""
        self._stop.set()
        with self._telling:
            self._drop()

    def _listen(self, heed: Callable[[Message], None]) -> None:
        while not self._stop.is_set():
            try:
                with self._connect() as heard:
                    self._heed_all(heard, heed)
            except psycopg.Error as fault:
                LOG.warning("notices of other processes are not heard, next in %s s: %s", REST_SECONDS, fault)
                self._stop.wait(REST_SECONDS)

    def _heed_all(self, heard: psycopg.Connection, heed: Callable[[Message], None]) -> None:
        heard.execute(f"LISTEN {CHANNEL}")
        while not self._stop.is_set():
            for notice in heard.notifies(timeout=LISTEN_SECONDS):
                _pass_on(notice.payload, heed)

    def _sent(self, line: str) -> bool:
        try:
            self._out = self._out or self._connect()
            self._out.execute("SELECT pg_notify(%s, %s)", (CHANNEL, line))
            return True
        except psycopg.Error as fault:
            LOG.debug("a notice was not sent: %s", fault)
            self._drop()
            return False

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self._address, autocommit=True, connect_timeout=5)

    def _drop(self) -> None:
        out, self._out = self._out, None
        if out is not None:
            with suppress(psycopg.Error):
                out.close()


def _pass_on(line: str, heed: Callable[[Message], None]) -> None:
    """Pass a notice on, but for one that only another version knows, as while machines are upgraded."""
    try:
        message = decoded(line)
    except (LookupError, TypeError, ValueError) as fault:
        LOG.debug("a notice was not understood: %r", fault)
        return
    heed(message)
