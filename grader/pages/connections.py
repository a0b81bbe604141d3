"""Connections that have to say something: who opens one and never finishes a request is let go.

The server's own patience begins after an answer; before the first request, or in the middle of its head, it has no end,
and each connection takes a descriptor.
"""

from __future__ import annotations

import asyncio
import resource

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 15.0
DESCRIPTORS = 65_536


class Impatient(H11Protocol):
    """HTTP as the server speaks it, with a limit on how long the head of a request may take."""

    patience = HEAD_SECONDS
    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on with a request; one that has a head is waited for no longer."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop()
        elif getattr(self.cycle, "response_complete", True):  # there is no cycle before the first request
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._limit is None:
            self._limit = self.loop.call_later(self.patience, self.transport.close)

    def _stop(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None


def raise_limit() -> None:
    """Let this process have as many connections as the system allows it, at most some ten thousand."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
