"""End what another person's page is doing: cancel its event, or open and close a heartbeat in its name.

Expected: 404, 403
Stopped by: crowd (a session belongs to who began it)
Own: yes
"""


def control(world):
    client = world.client(world.eve)
    client.post("/gradio_api/call/work", json={"data": [], "session_hash": "eves-own"})
    end = {"session_hash": "eves-own", "fn_index": 0, "event_id": "x"}
    assert client.post("/gradio_api/cancel", json=end).status_code == 200
    client.get("/gradio_api/queue/data?session_hash=eves-own")


def attack(world):
    ada, eve = world.client(world.ada), world.client(world.eve)
    sent = ada.post("/gradio_api/call/work", json={"data": [], "session_hash": "adas-third-tab"})
    event = sent.json()["event_id"]
    for session in ("adas-third-tab", event, "nobodys"):
        end = {"session_hash": session, "fn_index": 0, "event_id": event}
        assert eve.post("/gradio_api/cancel", json=end).status_code == 404
    assert eve.get("/gradio_api/heartbeat/adas-third-tab").status_code == 403
    assert "Ada Honest" in ada.get("/gradio_api/queue/data?session_hash=adas-third-tab").text
