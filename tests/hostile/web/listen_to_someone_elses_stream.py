"""Read the answers that another person's page waits for, by naming its session or its event.

Gradio keys them by a text that the page makes up, and asks nobody who they are.

Expected: 404 for a session that is somebody else's, 403 for sending events under it
Stopped by: crowd (a session belongs to who began it)
Own: yes
"""


def control(world):
    async def listen(client):
        ada = {"Cookie": f"attention_gym={world.ada.token}"}
        sent = await client.post("/gradio_api/call/work", json={"data": [], "session_hash": "adas-page"}, headers=ada)
        eve = {"Cookie": f"attention_gym={world.eve.token}"}
        return (await client.get(f"/gradio_api/call/work/{sent.json()['event_id']}", headers=eve)).text

    assert "Ada Honest" in world.bare(listen)


def attack(world):
    ada, eve, guest = world.client(world.ada), world.client(world.eve), world.client()
    number = next(one["id"] for one in ada.get("/config").json()["dependencies"] if one["api_name"] == "work")
    body = {"data": [], "fn_index": number, "session_hash": "adas-tab"}
    assert ada.post("/gradio_api/queue/join", json=body).status_code == 200
    event = ada.post("/gradio_api/call/work", json={"data": []}).json()["event_id"]
    for client in (eve, guest):
        for path in (f"/gradio_api/call/work/{event}", "/gradio_api/queue/data?session_hash=adas-tab"):
            answer = client.get(path)
            assert answer.status_code == 404
            assert "Ada" not in answer.text
        assert client.post("/gradio_api/queue/join", json=body).status_code == 403
        assert client.get("/gradio_api/heartbeat/adas-tab").status_code == 403
        assert client.get("/teach/gradio_api/queue/data?session_hash=adas-tab").status_code == 404
    assert "Ada Honest" in ada.get("/gradio_api/queue/data?session_hash=adas-tab").text
    assert "Ada Honest" in ada.get(f"/gradio_api/call/work/{event}").text
