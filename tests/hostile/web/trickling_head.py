"""Open connections and never finish a request; each takes a descriptor, and there are only so many.

Expected: let go after a while
Stopped by: connections (time for the head of a request)
Own: yes
"""

import asyncio

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from grader.pages.connections import HeaderTimeout
from tests.pages.conftest import in_a_loop


class Hasty(HeaderTimeout):
    patience = 0.05


async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def kept(protocol, said):
    """Whether a connection that has said so much is still open after a while."""
    config = uvicorn.Config(app, http=protocol, lifespan="off", log_level="error", timeout_keep_alive=0.1)
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(said)
        try:
            while await asyncio.wait_for(reader.read(1000), 0.5):
                pass
            return False
        except TimeoutError:
            return True
        finally:
            writer.close()


HALF = [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nX"]


def control(world):
    assert in_a_loop(kept(H11Protocol, HALF[2]))


def attack(world):
    for said in HALF:
        assert not in_a_loop(kept(Hasty, said)), said
