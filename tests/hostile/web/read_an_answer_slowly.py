"""Hold connections and files open by asking for something long and not reading it, or a byte an hour.

A hundred such readers held 200 descriptors for as long as they liked.

Expected: let go, whatever is still unread; a phone that reads three kilobytes a second gets its page
Stopped by: connections (bytes read in a while)
Own: yes
"""

import asyncio
import socket

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from grader.pages.connections import PARALLEL, ConnectionLimits, HeaderTimeout
from tests.pages.conftest import in_a_loop

PIECE, PIECES = 1 << 16, 200  # more than any kernel keeps for one connection


async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for n in range(PIECES):
        await send({"type": "http.response.body", "body": b"x" * PIECE, "more_body": n < PIECES - 1})


class Hasty(HeaderTimeout):
    interval = 0.1


class Asked(HeaderTimeout):
    interval = 3000.0  # looks only when it is told to


async def open_at(protocol, story):
    """What a story comes to that is told of an asked-for answer: its connection, and the server's side of it."""
    config = uvicorn.Config(app, http=protocol, lifespan="off", log_level="error")
    config.load()
    state, loop = ServerState(), asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0)
    async with server:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
        client.setblocking(False)
        await loop.sock_connect(client, server.sockets[0].getsockname())
        await loop.sock_sendall(client, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        while not state.connections or not next(iter(state.connections)).flow.write_paused:
            await asyncio.sleep(0)
        try:
            return await asyncio.wait_for(story(client, next(iter(state.connections))), 20)
        finally:
            client.close()


async def unread(client, served):
    """Whether the connection is still there after it was given time to end."""
    for _ in range(60):
        if served.transport.is_closing():
            return False
        await asyncio.wait([asyncio.ensure_future(asyncio.Event().wait())], timeout=0.02)
    return True


async def read_on(client, served):
    """Whether it is still there at each look: when enough was read since the last one, and when nothing was."""
    seen = []
    for amount in (0, 300_000, 300_000, 0):
        while amount > 0:
            amount -= len(await asyncio.get_running_loop().sock_recv(client, 1 << 15))
        served._check()
        seen.append(not served.transport.is_closing())
    return seen


def control(world):
    assert in_a_loop(open_at(H11Protocol, unread))


def attack(world):
    assert not in_a_loop(open_at(Hasty, unread))

    class Paced(Asked):
        """At the look, as many bytes have to have been read as a tenth of what the honest one reads."""

        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            self._doors.pace = PARALLEL * 30_000 / self.interval

    assert in_a_loop(open_at(Paced, read_on)) == [True, True, True, False]

    class Phone(Asked):
        """At the look, as much has been read as one of six connections carries of three kilobytes a second."""

        interval = 300_000 / (3000 / 6)

        def __init__(self, *given, **named):
            super().__init__(*given, **{**named, "doors": ConnectionLimits()})

    assert in_a_loop(open_at(Phone, read_on))[:3] == [True, True, True]
