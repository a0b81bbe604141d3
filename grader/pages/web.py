"""How the pages' server speaks HTTP with strangers."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from functools import partial
from ipaddress import ip_network
from itertools import takewhile
from typing import Any, cast

import uvicorn
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from grader.pages.connections import ConnectionLimits, HeaderTimeout, most_with
from grader.pages.rebuild import client_of
from grader.pages.routes import is_stream
from grader.service.limits import household
from grader.settings import PREFIX, Settings

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


def configured(app: FastAPI, settings: Settings, descriptors: int) -> uvicorn.Config:
    """Return how the server speaks to strangers.

    Args:
        app: what is served.
        settings: how many connections there may be, and where.
        descriptors: how many this process may have.
    """
    doors = ConnectionLimits(
        most=min(settings.connections, most_with(descriptors)),
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
