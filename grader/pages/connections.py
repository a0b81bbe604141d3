"""How the pages' server speaks HTTP with strangers, and which connections it holds.

The server's own patience begins after an answer. Before the first request, in the middle of its head, and while an
answer waits to be read, it has no end, and each connection takes a descriptor.

What the parser would take long over is refused before it: it takes 10 microseconds for a line of a head, and 20 for a
chunk of a body, and everybody waits meanwhile. Twenty connections with a body in chunks of one byte took minutes.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from itertools import takewhile
from typing import Any, cast

import h11
import uvicorn
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from grader.pages.requests import client_of
from grader.pages.routes import is_stream
from grader.service.limits import household, plain_address
from grader.settings import PREFIX, Settings

HEAD_SECONDS = 15.0
HEAD_BYTES, HEAD_LINES = 16 << 10, 100  # of a request; browsers and proxies send a tenth of that
HEAD_END = re.compile(rb"\n\r?\n")
READ_BYTES = 32 << 10  # taken from a connection at a time, also while nobody asks for them yet
CHUNKED = re.compile(rb"\ntransfer-encoding:", re.IGNORECASE)  # with a space before the colon the parser refuses it
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
        proxies: the networks of those in front that hold everybody's connections; of these only all are counted here,
            and the requests of each address where the proxy says whose they are.
    """

    most: int = 8192
    each: int = 2048
    pace: int = 1024
    proxies: tuple[str, ...] = ()
    _open: Counter[str] = field(default_factory=Counter)

    def enter(self, address: str) -> bool:
        """Count a connection; return whether there is room for it."""
        network = household(address)
        if self._open.total() >= self.most:
            return False
        if self._open[network] >= self.each and not self._is_proxy(address):
            return False
        self._open[network] += 1
        return True

    def leave(self, address: str) -> None:
        """Count one that has ended."""
        network = household(address)
        self._open[network] -= 1
        if not self._open[network]:
            del self._open[network]

    def _is_proxy(self, address: str) -> bool:
        plain = plain_address(address)  # nothing where the server listens on no network
        return bool(plain) and any(ip_address(plain) in ip_network(one) for one in self.proxies)


class HeaderTimeout(H11Protocol):
    """HTTP as the server speaks it, with a limit on the time for the head of a request and for reading an answer."""

    patience = HEAD_SECONDS
    interval = READ_SECONDS
    _limit: asyncio.TimerHandle | None = None
    _look: asyncio.TimerHandle | None = None
    _address: str | None = None  # while this connection is counted
    _read: int | None = None  # bytes, at the last look; None if all that was sent had been taken
    _looked: int = 0  # bytes of the head that comes next, of which is known whether they are refused

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
        transport.max_size = READ_BYTES  # type: ignore[attr-defined]  # asyncio's own: 256 KiB, of each connection
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

    def handle_events(self) -> None:
        """Let the parser go on, unless the head that comes next is too long, or announces a body in chunks.

        It is looked through once for each of its lines; once for each byte would take the square of its length.
        """
        begun = self.conn.trailing_data[0] if self.conn.their_state is h11.IDLE else b""
        is_news = len(begun) > HEAD_BYTES or b"\n" in begun[self._looked :]
        self._looked = len(begun)
        refused = refusal_of(begun) if is_news else None
        if refused is None:
            super().handle_events()
            if self.conn.their_state is not h11.IDLE:
                self._looked = 0
            return
        status, text = refused
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\nConnection: close\r\nContent-Length: {len(text)}\r\n"
        self.transport.write(f"{head}Content-Type: text/plain; charset=utf-8\r\n\r\n{text}".encode())
        self.transport.close()

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


def refusal_of(begun: bytes) -> tuple[HTTPStatus, str] | None:
    """Return the answer to a request that begins with `begun` and goes no further; None for one that may go on.

    Browsers say how long a body is. One in chunks costs thousands of times as much as it sends, and where a proxy and
    the server disagree on its end, it hides a second request.
    """
    end = HEAD_END.search(begun)
    head = begun[: end.end()] if end else begun
    if len(head) > HEAD_BYTES or head.count(b"\n") > HEAD_LINES:
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, (
            f"The head of a request has {HEAD_BYTES} bytes and {HEAD_LINES} lines at most."
        )
    if CHUNKED.search(head):
        return HTTPStatus.LENGTH_REQUIRED, "Send a body with its length, not in chunks."
    return None


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


LOG = logging.getLogger(__name__)
MOST_NAMED = 20  # addresses that no setting names, in the log of one start; visitors can write this header as well
STREAM_SECONDS = 1.0  # at a stop, for streams to end by themselves once nothing is graded any more


class Server(uvicorn.Server):
    """A server that goes on serving while it drains: until then everybody gets their verdict, and `/ready` says 503."""

    def __init__(
        self, config: uvicorn.Config, drain: Callable[[], None], closing: Callable[[], None] = lambda: None
    ) -> None:
        """Serve as `config` says; call `drain` at a stop before the port is closed, and `closing` after everything.

        Once it has stopped, the signal that stopped it is raised again and ends this process.
        """
        super().__init__(config)
        self._drain, self._closing = drain, closing

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop: drain, end the streams, which the browsers ask for again at the next start, and close the port."""
        await asyncio.to_thread(self._drain)
        end = time.monotonic() + STREAM_SECONDS  # what was graded last is on its way
        while self._streams() and time.monotonic() < end:
            await asyncio.sleep(0.02)
        for connection in self._streams():
            connection.transport.close()
        await super().shutdown(sockets)
        self._closing()

    def _streams(self) -> list[Any]:
        """Return the connections over which a stream is being sent."""
        cycles = [(one, getattr(one, "cycle", None)) for one in self.server_state.connections]
        return [one for one, it in cycles if it and is_stream(it.scope["path"]) and not it.response_complete]


class UnnamedProxies:
    """Passes requests on, and logs once who sends `X-Forwarded-For` though no setting names them as a proxy."""

    def __init__(self, app: ASGIApp) -> None:
        """Log nobody yet."""
        self._app = app
        self._logged: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request whose client is, as the server has found it, the last address that is no proxy's."""
        if scope["type"] == "http" and (headers := Headers(scope=scope).getlist("x-forwarded-for")):
            host, block = scope["client"][0], household(client_of(scope)[0])
            spellings = (f"{host},", f"{host}:", f"[{host}]")
            named = (f"{one.strip()}," for one in ",".join(headers).split(",") if one.strip())
            from_it = list(takewhile(lambda one: not one.startswith(spellings), named))
            if from_it and block and block not in self._logged and len(self._logged) < MOST_NAMED:
                self._logged.add(block)
                LOG.warning(
                    "%s sends X-Forwarded-For and is no proxy that a setting names, so all who come through it count "
                    "as one; if it is a proxy of yours, name it in %sPROXIES: docs/operators.md", block, PREFIX,
                )  # fmt: skip
        await self._app(scope, receive, send)


def configured(app: FastAPI, settings: Settings, most: int) -> uvicorn.Config:
    """Return how the server speaks to strangers.

    Args:
        app: what is served.
        settings: how many connections there may be, and where.
        most: how many connections this process can hold.
    """
    doors = ConnectionLimits(
        most=min(settings.connections, most),
        each=settings.connections_each,
        pace=settings.slowest_reader,
        proxies=settings.proxies if settings.cookie_secure else (),
    )
    return uvicorn.Config(
        UnnamedProxies(app),
        http=cast("Any", partial(HeaderTimeout, doors=doors)),
        ws="none",
        lifespan="on",  # else a service that cannot start would be served all the same, and grade nothing
        host=settings.host,
        port=settings.port,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        forwarded_allow_ips=[*settings.proxies, *map(_mapped, settings.proxies)],
        timeout_graceful_shutdown=5,
    )


def _mapped(network: str) -> str:
    """Return a network as its addresses look to a socket that takes both kinds."""
    plain = ip_network(network)
    return f"::ffff:{plain.network_address}/{96 + plain.prefixlen}" if plain.version == 4 else network
