"""Connections that are not held for nothing: by requests that never end, by answers that are never read, by too many.

The server's own patience begins after an answer. Before the first request, in the middle of its head, and while an
answer waits to be read, it has no end, and each connection takes a descriptor.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from grader.pages.listening import RESERVE
from grader.pages.request_limits import Who

HEAD_SECONDS = 15.0
PARALLEL = 6  # connections over which a browser reads a page at once; they share what its line carries
READ_SECONDS = 20.0  # between two looks at how much of an answer has been read
BYTES_ACKED = struct.Struct("=120xQ")  # `tcpi_bytes_acked` in the kernel's `struct tcp_info`, include/uapi/linux/tcp.h
# A peer that is gone without a word is noticed within a minute. Not TCP_USER_TIMEOUT: it ends a connection on which
# somebody reads slowly but steadily, since their window is often closed.
ALIVE = {
    socket.TCP_KEEPIDLE: 30,
    socket.TCP_KEEPINTVL: 10,
    socket.TCP_KEEPCNT: 3,
}


@dataclass(slots=True)
class ConnectionLimits:
    """Counts the open connections, of each address and in all.

    Attributes:
        most: how many may be open at once.
        each: how many of one address, or of one household with long addresses.
        pace: how many bytes a second have to be read by a browser, over all the connections that it reads over.
        proxied: whether a proxy in front holds everybody's connections; then only all of them are counted here, and the
            requests of each address where the proxy says whose they are.
    """

    most: int = 8192
    each: int = 2048
    pace: int = 1024
    proxied: bool = False
    _open: Counter[str] = field(default_factory=Counter)

    def enter(self, address: str) -> bool:
        """Count a connection; return whether there is room for it."""
        network = Who(None, address).network
        if self._open.total() >= self.most or (not self.proxied and self._open[network] >= self.each):
            return False
        self._open[network] += 1
        return True

    def leave(self, address: str) -> None:
        """Count one that has ended."""
        network = Who(None, address).network
        self._open[network] -= 1
        if not self._open[network]:
            del self._open[network]


class HeaderTimeout(H11Protocol):
    """HTTP as the server speaks it, with a limit on the time for the head of a request and for reading an answer."""

    patience = HEAD_SECONDS
    interval = READ_SECONDS
    _limit: asyncio.TimerHandle | None = None
    _look: asyncio.TimerHandle | None = None
    _address: str | None = None  # while this connection is counted
    _read: int | None = None  # bytes, at the last look; None if all that was sent had been taken

    def __init__(self, *given: Any, doors: ConnectionLimits | None = None, **named: Any) -> None:
        """Speak on one connection, which is counted at `doors`; the others are what the server gives a protocol."""
        super().__init__(*given, **named)
        self._doors = doors or ConnectionLimits()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        if not self._doors.enter(address):
            transport.abort()
            return
        self._address = address
        _mind(transport.get_extra_info("socket"))
        self._look = self.loop.call_later(self.interval, self._check)
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
        if self._look is not None:
            self._look.cancel()
        if self._address is not None:
            self._doors.leave(self._address)
            self._address = None
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, and let the request that it came with send nothing after that.

        Else its own answer would break on the ended connection, with 2 kB of trace in the log for 90 bytes.
        """
        cycle: Any = self.cycle  # None before the first request
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if cycle.response_started:
                self.transport.close()
                return
        super().send_400_response(msg)

    def _should_upgrade(self) -> bool:
        """Return that no page of ours speaks anything but HTTP; the server would log two lines for each who asks."""
        return False

    def _wait(self) -> None:
        if self._limit is None:
            self._limit = self.loop.call_later(self.patience, self.transport.close)

    def _stop(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _check(self) -> None:
        """End a connection on which an answer waits, and of which too little was read since the last look."""
        before, self._read = self._read, None
        if self.transport.get_write_buffer_size():
            self._read = _acknowledged(self.transport.get_extra_info("socket"))
            if before is not None and self._read - before < self._doors.pace / PARALLEL * self.interval:
                self.transport.abort()
                return
        self._look = self.loop.call_later(self.interval, self._check)


def _mind(connection: socket.socket) -> None:
    """Let the kernel ask whether the other side is still there."""
    if connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in ALIVE.items():
            connection.setsockopt(socket.IPPROTO_TCP, option, value)


def _acknowledged(connection: socket.socket) -> int:
    """Return how many bytes the other side has taken.

    What has left our own buffer says little: the kernel takes megabytes, and then nothing for minutes, from a slow but
    honest reader.
    """
    return int(BYTES_ACKED.unpack_from(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, BYTES_ACKED.size))[0])


def most_with(descriptors: int) -> int:
    """Return how many connections may be open in a process that may have so many descriptors."""
    return (descriptors - RESERVE) // 2  # a file that is sent is open as well
