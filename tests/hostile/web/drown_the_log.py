"""Drown what matters in the log: requests that end in the middle, so that the answer breaks, and noise around them.

Ninety bytes wrote two kilobytes of trace, and took the room that the incidents of people had.

Expected: one short line for each, in a share that is the server's own
Stopped by: connections (no body in chunks), log (a share for each source)
Own: yes
"""

import asyncio
import io
import itertools
import logging
import socket

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from grader.log import Sparing
from grader.pages.connections import HeaderTimeout
from tests.pages.conftest import in_a_loop

HEADS = [b"GET /nowhere", b"POST /nowhere", b"POST /sign-out", b"POST /sign-in", b"GET /health"]
BODIES = [b"zz\r\n\r\n", b"-1\r\n", b"5\r\nab\r\nzz\r\n", b"5\r\nhellozz\r\n", b"1" * 30 + b"\r\n", b"\x00\r\n", b"0\r\nbad trailer\r\n\r\n"]
HEAD = b" HTTP/1.1\r\nHost: gym.example\r\nTransfer-Encoding: chunked\r\n\r\n"
WAYS = [head + HEAD + body for head, body in itertools.product(HEADS, BODIES)]


async def refusing(scope, receive, send):
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b"nothing here"})


async def logged_by(protocol, ways):
    """What the server writes of requests on connections of their own."""
    stream, log = io.StringIO(), logging.getLogger("uvicorn.error")
    handler = Sparing(stream)
    log.addHandler(handler)
    config = uvicorn.Config(refusing, http=protocol, lifespan="off", log_config=None)
    config.load()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol(config, ServerState(), {}), "127.0.0.1", 0)
    try:
        async with server:
            for way in ways:
                with socket.socket() as client:
                    client.setblocking(False)
                    await loop.sock_connect(client, server.sockets[0].getsockname())
                    await loop.sock_sendall(client, way)
                    client.shutdown(socket.SHUT_WR)
                    try:
                        while await asyncio.wait_for(loop.sock_recv(client, 1 << 16), 10):
                            pass
                    except ConnectionResetError:
                        pass
    finally:
        log.removeHandler(handler)
    return stream.getvalue()


def control(world):
    assert "Traceback" in in_a_loop(logged_by(H11Protocol, WAYS))


def attack(world):
    written = in_a_loop(logged_by(HeaderTimeout, WAYS))
    assert "Traceback" not in written
    assert len(written) <= 80 * len(WAYS)
    for way in WAYS:
        answer = world.raw(way, wait=2.0)
        assert answer[9:12] == b"411", (way, answer[:80])
    stream = io.StringIO()
    handler = Sparing(stream)
    for _ in range(3000):
        handler.emit(logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, "noise of strangers", (), None))
    handler.emit(logging.LogRecord("grader.pages", logging.ERROR, "", 0, "incident 1234abcd", (), None))
    assert "incident 1234abcd" in stream.getvalue()
