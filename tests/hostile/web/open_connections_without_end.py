"""Take all descriptors by opening connections: from one address, and from very many.

Expected: only so many of one address, and so many in all; a place that comes free is given again
Stopped by: connections (counted by address and in all), rate limit (requests answered at once by address)
Own: yes
"""

import asyncio

import pytest
import uvicorn
from uvicorn.server import ServerState

from grader.pages.connections import ConnectionLimits, HeaderTimeout, configured
from grader.pages.request_limits import RequestLimiter
from grader.pages.plain import Refusal
from grader.pages.server import RESERVE, most_connections
from grader.settings import Settings
from tests.pages.conftest import in_a_loop

CLASS, EACH = 300, 6  # people behind one address, and the connections that a browser opens


def taken(doors, addresses):
    return sum(doors.enter(address) for address in addresses)


def control(world):
    assert taken(ConnectionLimits(most=10**6, each=10**6), ["192.0.2.1"] * 9000) == 9000


def attack(world):
    doors = configured(world.site.app, Settings(), 1 << 16).http.keywords["doors"]
    assert taken(doors, ["192.0.2.1"] * CLASS * EACH) == CLASS * EACH  # a class behind one address is served
    assert taken(doors, ["192.0.2.1"] * 9000) == doors.each - CLASS * EACH
    assert taken(doors, [f"2001:db8::{n:x}" for n in range(9000)]) == doors.each  # one household
    assert taken(doors, [f"198.51.{n % 250}.{n // 250}" for n in range(9000)]) == doors.most - 2 * doors.each
    doors.leave("192.0.2.1")
    assert taken(doors, ["192.0.2.9"] * 2) == 1
    few = configured(world.site.app, Settings(), most_connections(1024)).http.keywords["doors"]
    assert 2 * few.most + RESERVE <= 1024  # a file that is sent takes one more
    proxied = configured(world.site.app, Settings(cookie_secure=True), 1 << 16).http.keywords["doors"]
    assert taken(proxied, ["10.0.0.1"] * 9000) == proxied.each  # no proxy of ours
    assert taken(proxied, ["127.0.0.1"] * 9000) == proxied.most - proxied.each  # a proxy's own connections are everybody's
    crowd, inside = RequestLimiter(at_once=3), []
    for _ in range(3):
        inside.append(crowd.inside("192.0.2.1"))
        inside[-1].__enter__()
    with pytest.raises(Refusal), crowd.inside("192.0.2.1"):
        pass
    with crowd.inside("192.0.2.2"):
        inside.pop().__exit__(None, None, None)
    with crowd.inside("192.0.2.1"):
        pass
    assert in_a_loop(over_the_wire(4)) == [True, True, False, False]


async def over_the_wire(times):
    """Whether each of so many connections is answered while those before it are still open, where two may be."""

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(app, lifespan="off", log_level="error")
    config.load()
    state, doors = ServerState(), ConnectionLimits(most=8, each=2)
    server = await asyncio.get_running_loop().create_server(lambda: HeaderTimeout(config, state, {}, doors=doors), "127.0.0.1", 0)
    answered, writers = [], []
    async with server:
        for _ in range(times):
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writers.append(writer)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            try:
                answered.append(b" 204 " in await asyncio.wait_for(reader.read(1000), 20))
            except ConnectionResetError:
                answered.append(False)
        for writer in writers:
            writer.close()
    return answered
