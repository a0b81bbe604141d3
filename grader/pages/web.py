"""How the pages' server speaks HTTP with strangers."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import uvicorn
from fastapi import FastAPI

from grader.pages.connections import ConnectionLimits, HeaderTimeout, most_with
from grader.settings import Settings

# With HTTPS in force there is a proxy in front, which alone knows the visitor's address. It is a neighbour: whatever a
# visitor writes into the header themselves stands before what it adds, and is not believed.
NEIGHBOURS = "127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,169.254.0.0/16,::1,fc00::/7,fe80::/10"


def server(app: FastAPI, settings: Settings, descriptors: int) -> uvicorn.Server:
    """Return the server of `app` for a process that may have so many descriptors."""
    return uvicorn.Server(configured(app, settings, descriptors))


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
        proxied=settings.cookie_secure,
    )
    return uvicorn.Config(
        app,
        http=cast("Any", partial(HeaderTimeout, doors=doors)),
        ws="none",
        lifespan="on",  # else a service that cannot start would be served all the same, and grade nothing
        host=settings.host,
        port=settings.port,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        forwarded_allow_ips=NEIGHBOURS if settings.cookie_secure else "127.0.0.1",
        timeout_graceful_shutdown=5,
    )
