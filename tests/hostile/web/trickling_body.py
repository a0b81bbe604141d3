"""Hold a request open for ever by sending its body a byte an hour; enough of them, and nobody else gets in.

Expected: 408 once it has taken too long
Stopped by: guard (time for a body)
Own: yes
"""

import asyncio

from grader.pages.request_limits import RequestLimiter, Who
from grader.pages.guard import Guard
from tests.pages.conftest import in_a_loop

SCOPE = {
    "type": "http", "method": "POST", "path": "/sign-in", "query_string": b"", "headers": [(b"host", b"gym.example")],
}  # fmt: skip


async def never():
    await asyncio.Event().wait()


async def handler(scope, receive, send):
    while (await receive()).get("more_body"):
        pass


async def post(app):
    sent = []

    async def send(message):
        sent.append(message)

    try:
        await asyncio.wait_for(app(SCOPE, never, send), 1.0)
    except TimeoutError:
        return None
    return sent[0]["status"]


def control(world):
    assert in_a_loop(post(handler)) is None


def attack(world):
    async def recognise(scope):
        return Who(None, "192.0.2.1")

    guard = Guard(handler, body_limit=100, events={}, crowd=RequestLimiter(), recognise=recognise, patience=0.05)
    assert in_a_loop(post(guard)) == 408
