"""A reverse proxy for the tests: it passes each request to the next of several servers, in turn."""

from __future__ import annotations

import itertools
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

_OWN = {"connection", "transfer-encoding", "keep-alive"}  # of a connection, not of what is sent over it


@contextmanager
def proxied(servers: Sequence[str]) -> Iterator[str]:
    """Serve what several servers serve, as plain proxies do: no visitor stays with one of them; give the address."""
    turns = itertools.cycle(servers)

    @asynccontextmanager
    async def connected(app: Starlette) -> AsyncIterator[None]:
        async with httpx.AsyncClient(timeout=60) as app.state.client:
            yield

    async def passed_on(request: Request) -> Response:
        url = f"{next(turns)}{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")
        headers = [(name, value) for name, value in request.headers.raw if name.decode() not in _OWN]
        client: httpx.AsyncClient = request.app.state.client
        asked = client.build_request(request.method, url, headers=headers, content=await request.body())
        answer = await client.send(asked, stream=True)
        response = StreamingResponse(answer.aiter_raw(), answer.status_code, background=None)
        response.raw_headers = [pair for pair in answer.headers.raw if pair[0].decode().lower() not in _OWN]
        return response

    methods = ["GET", "POST", "HEAD", "PUT", "DELETE"]
    app = Starlette(routes=[Route("/{path:path}", passed_on, methods=methods)], lifespan=connected)
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
