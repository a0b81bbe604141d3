"""Come from a new address with every guess, by writing it into the header that proxies add to.

Expected: only what the proxy itself added is believed
Stopped by: trusted proxies (the last address that is none of theirs)
Own: yes
"""

import asyncio

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from grader.settings import PRIVATE, Settings
from tests.pages.conftest import in_a_loop


def seen(trusted, written, came_from="10.1.2.3"):
    found = []

    async def app(scope, receive, send):
        found.append(scope["client"][0])

    scope = {"type": "http", "client": (came_from, 1), "headers": [(b"x-forwarded-for", written.encode())], "scheme": "http"}
    in_a_loop(ProxyHeadersMiddleware(app, trusted)(scope, asyncio.sleep, asyncio.sleep))
    return found[0]


def control(world):
    assert seen("*", "1.2.3.4, 198.51.100.7") == "1.2.3.4"


def attack(world):
    for forged in ("1.2.3.4, ", "1.2.3.4, 10.0.0.1, ", "10.0.0.1, ", "<script>, ", ""):
        assert seen(list(PRIVATE), f"{forged}198.51.100.7") == "198.51.100.7"
        assert seen(list(PRIVATE), f"{forged}198.51.100.7, 10.9.9.9") == "198.51.100.7"
    assert seen(list(PRIVATE), "1.2.3.4", came_from="198.51.100.7") == "198.51.100.7"  # no proxy, not believed
    assert seen(list(Settings().proxies), "1.2.3.4", came_from="10.1.2.3") == "10.1.2.3"  # nor is the campus
