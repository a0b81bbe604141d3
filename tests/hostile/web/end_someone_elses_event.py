"""End what another person's page is doing: cancel its event or reset it, or close a heartbeat in its name.

Expected: 404: no event of ours waits anywhere, so there is nothing to be ended
Stopped by: events past Gradio's queue, route allow-list
Own: yes
"""

DOORS = ("cancel", "reset", "heartbeat/adas-tab")


def control(world):
    async def end(client):
        body = {"session_hash": "adas-tab", "fn_index": 0, "event_id": "x"}
        return (await client.post("/gradio_api/cancel", json=body)).status_code

    assert world.bare(end, world.plain_gradio()) == 200


def attack(world):
    eve = world.client(world.eve)
    for mount in ("", "/teach"):
        for door in DOORS:
            path, body = f"{mount}/gradio_api/{door}", {"session_hash": "adas-tab", "fn_index": 0, "event_id": "x"}
            assert eve.post(path, json=body).status_code == 404, path
            assert eve.get(path).status_code == 404, path
