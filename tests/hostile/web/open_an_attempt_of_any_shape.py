"""Send the event that opens an attempt again with data of any shape; they come beside the inputs.

Expected: a calm sentence
Stopped by: checks in the handler
Own: yes
"""

SHAPES = [None, 1, "x", [], {}, {"id": None}, {"id": []}, {"id": {"id": "x"}}, {"id": "x" * 5000}, {"id": "\0"}, [["id", "x"]]]


def opened(world, client, data):
    known = client.get("/config").json()["dependencies"]
    number = next(one["id"] for one in known if one["api_name"] == "restore")
    body = {"data": [], "event_data": data, "fn_index": number, "session_hash": "shapes", "trigger_id": None}
    return client.post("/gradio_api/run/restore", json=body)


def control(world):
    id = world.graded(world.eve, "x = 'opened again'")
    assert "opened again" in opened(world, world.client(world.eve), {"id": id}).text


def attack(world):
    for who in (world.eve, None):
        for data in SHAPES:
            answer = opened(world, world.client(who), data)
            assert answer.status_code == 200, data
            world.harmless(answer)
