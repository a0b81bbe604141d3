"""Fill the memory with answers that nobody reads: send events under one session, and never open its stream.

Expected: 429 once some twenty wait
Stopped by: crowd (unread answers of a session)
Own: yes
"""

from grader.pages.crowd import MOST_UNREAD


def control(world):
    blocks = next(route.app.get_blocks() for route in world.site.app.routes if hasattr(getattr(route, "app", None), "get_blocks"))
    assert blocks._queue.max_size is None  # Gradio itself would take any number


def attack(world):
    client = world.client(world.eve)
    body = {"data": [], "session_hash": "never-read"}
    seen = [client.post("/gradio_api/call/exercises", json=body).status_code for _ in range(MOST_UNREAD + 10)]
    assert seen == [200] * MOST_UNREAD + [429] * 10
    assert client.post("/gradio_api/call/exercises", json={**body, "session_hash": "read"}).status_code == 200
    for session in ("never-read", "read"):
        client.get(f"/gradio_api/queue/data?session_hash={session}")
