"""Fill the memory with answers that nobody reads, or with sessions: send events under ever new names.

Expected: nothing of them is kept
Stopped by: events past Gradio's queue, sessions that are never stored
Own: yes
"""

from gradio.state_holder import StateHolder


def control(world):
    plain = next(route.app for route in world.plain_gradio().routes if hasattr(getattr(route, "app", None), "get_blocks"))
    assert plain.get_blocks()._queue.max_size is None  # Gradio itself would take any number of events
    assert StateHolder().capacity == 10_000  # and keep so many sessions


def attack(world):
    client, blocks = world.client(world.eve), world.blocks()
    holder = blocks.state_holder
    before = [dict(holder.session_data), dict(holder.time_last_used)]  # what controls sent past the guard
    for number in range(30):
        body = {"data": [], "session_hash": f"never-read-{number}"}
        assert client.post("/gradio_api/run/open", json=body).status_code == 200
    assert [dict(holder.session_data), dict(holder.time_last_used)] == before
    queue = blocks._queue
    assert [len(queue), dict(queue.pending_event_ids_session), len(queue.event_ids_to_events)] == [0, {}, 0]
