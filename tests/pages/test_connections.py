"""What the server reads of a request before its parser does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
import uvicorn
from starlette.datastructures import Headers
from uvicorn.server import ServerState

from grader.pages import connections
from grader.pages.connections import HEAD_BYTES, HEAD_LINES, HeaderTimeout
from grader.pages.guard import Incoming

HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
FIRST = HEAD + b"\r\n"
FITS = HEAD_BYTES - 200
HEADS = {
    "one line": HEAD + b"a: " + b"b" * FITS + b"\r\n\r\n",
    "one line of spaces": HEAD + b"transfer-encoding" + b" " * FITS + b"\r\n\r\n",
    "many lines": HEAD + b"a: bcdef\r\n" * (HEAD_LINES - 5) + b"\r\n",
}
REFUSED = {
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b" 411 "),
    "chunks and a bare end": (HEAD.replace(b"\r", b"") + b"tRansfer-encoding:x\n\n", b" 411 "),
    "many lines": (HEAD + b"a: b\r\n" * HEAD_LINES + b"\r\n", b" 431 "),
    "a long line without end": (HEAD + b"a: " + b"b" * HEAD_BYTES, b" 431 "),
}


async def no_content(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def answered(pieces: Iterable[bytes]) -> bytes:
    """Return what is answered on a connection on which these pieces come, each in a packet of its own."""
    config = uvicorn.Config(no_content, lifespan="off", log_level="critical")
    config.load()
    made: list[HeaderTimeout] = []

    def make() -> HeaderTimeout:
        made.append(HeaderTimeout(config, ServerState(), {}))
        return made[-1]

    server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        while not made or made[0].transport is None:
            await asyncio.sleep(0)
        for piece in pieces:
            if not made[0].transport.is_closing():
                made[0].data_received(piece)
            await asyncio.sleep(0)
        writer.write_eof()
        found = await asyncio.wait_for(reader.read(), 10)
        writer.close()
    return found


def test_the_server_says_of_a_request_whether_its_sender_has_hung_up() -> None:
    """By the object that `receive` is a method of; without one, everything would be done for who is gone."""
    told: list[bool] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        incoming = Incoming(Headers({}), receive)
        told.append(incoming.is_gone)
        while (await receive())["type"] != "http.disconnect":
            pass
        told.append(incoming.is_gone)

    async def story() -> None:
        config = uvicorn.Config(app, lifespan="off", log_level="critical")
        config.load()
        state = ServerState()
        server = await asyncio.get_running_loop().create_server(
            lambda: HeaderTimeout(config, state, {}), "127.0.0.1", 0
        )
        async with server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(FIRST)
            while not told:
                await asyncio.sleep(0.001)
            writer.transport.abort()
            while len(told) < 2:
                await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(story(), 10))

    assert told == [False, True]


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_head_that_comes_byte_by_byte_is_looked_through_once_for_each_line(
    head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two thousand connections with 15 kB of a head each and one byte more at a time kept everybody else waiting."""
    looked, whole = [], connections.refusal_of
    monkeypatch.setattr(connections, "refusal_of", lambda begun: looked.append(begun) or whole(begun))
    found = asyncio.run(answered(head[at : at + 1] for at in range(len(head))))

    assert found.startswith(b"HTTP/1.1 ")
    assert b" 411 " not in found
    assert len(looked) <= head.count(b"\n")


@pytest.mark.parametrize(("head", "status"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("before", [b"", FIRST, FIRST * 2], ids=["first", "second", "third"])
def test_a_head_is_refused_however_it_is_cut(head: bytes, status: bytes, before: bytes) -> None:
    """In one packet with the requests before it, byte by byte, or cut anywhere between."""
    whole = before + head
    ways = [[whole], [whole[at : at + 1] for at in range(len(whole))]]
    ways += [[whole[:cut], whole[cut:]] for cut in range(len(before) + 1, min(len(whole), len(before) + 60), 3)]
    for pieces in ways:
        found = asyncio.run(answered(pieces))
        assert found.count(b" 204 ") == len(before) // len(FIRST), pieces[:2]
        assert status in found.split(b"HTTP/1.1")[-1], pieces[:2]
