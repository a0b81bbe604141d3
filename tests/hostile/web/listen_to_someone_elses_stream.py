"""Read the answers that another person's page waits for, by naming its session or its event.

Gradio's queue keys them by a text that the page makes up, and asks nobody who they are.

Expected: 404: an answer comes with its request, and nothing is kept that could be read elsewhere
Stopped by: events past Gradio's queue, route allow-list
Own: yes
"""


def control(world):
    async def listen(client):
        await client.get("/gradio_api/startup-events")
        sent = await client.post("/gradio_api/call/echo", json={"data": ["Ada's own"], "session_hash": "adas-page"})
        return (await client.get(f"/gradio_api/call/echo/{sent.json()['event_id']}")).text

    assert "Ada's own" in world.bare(listen, world.plain_gradio())


def attack(world):
    number = next(one["id"] for one in world.client().get("/config").json()["dependencies"] if one["api_name"] == "open")
    body = {"data": [], "fn_index": number, "session_hash": "adas-tab"}
    for who in (world.ada, world.eve, None):
        client = world.client(who)
        assert client.post("/gradio_api/queue/join", json=body).status_code == 404
        assert client.post("/gradio_api/call/open", json=body).status_code == 404
        assert client.get("/gradio_api/call/open/0123").status_code == 404
        assert client.get("/gradio_api/queue/data?session_hash=adas-tab").status_code == 404
    assert "Ada Honest" in world.event(world.client(world.ada), "open").text
    assert "Ada Honest" not in world.event(world.client(world.eve), "open").text  # under the same name of a session
