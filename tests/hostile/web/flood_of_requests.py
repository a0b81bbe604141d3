"""Ask without pause, so that nobody else is answered: as a student, and as a guest with a new made-up cookie each time.

Expected: 429 after a burst, for the one who floods only
Stopped by: rate limit (requests by person, by address for guests)
Own: yes
"""

from grader.pages.request_limits import GUESTS, PERSON, RequestLimiter, Who
from grader.pages.guard import Guard
from grader.pages.plain import Refusal
from tests.pages.conftest import in_a_loop


async def busy(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def statuses(app, times):
    seen = []

    async def send(message):
        seen.append(message.get("status"))

    for _ in range(times):
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
        await app(scope, None, send)
    return [status for status in seen if status]


def control(world):
    assert set(in_a_loop(statuses(busy, PERSON.burst + 50))) == {200}


def attack(world):
    crowd = RequestLimiter(clock=lambda: 0.0)

    async def recognise(scope):
        return Who(7, "192.0.2.1")

    guard = Guard(busy, body_limit=100, events={}, crowd=crowd, recognise=recognise)
    assert in_a_loop(statuses(guard, PERSON.burst + 50)) == [200] * PERSON.burst + [429] * 50
    crowd.admit(Who(8, "192.0.2.1"))
    let = 0
    for n in range(2 * GUESTS.burst):  # whatever they say about themselves, guests are counted by address
        try:
            crowd.admit(Who(None, f"2001:db8::{n:x}"))
            let += 1
        except Refusal:
            break
    assert let == GUESTS.burst
    client = world.client()
    client.cookies.set("attention_gym", "made up")
    assert {client.get("/gradio_api/app_id").status_code for _ in range(10)} == {200}
