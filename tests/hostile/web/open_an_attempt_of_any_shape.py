"""Send the event that opens an attempt again with an id of any shape, and with data of any shape beside its inputs.

Expected: a calm sentence, or refused with 400
Stopped by: guard (inputs are short texts, and nothing else is passed on), checks in the handler
Own: yes
"""

import json

SHAPES = [1, [], {}, {"id": None}, {"id": []}, {"id": {"id": "x"}}, ["id", "x"], True, 1e400]
TEXTS = ["", "x", "\0", "x" * 101, "../x", "0" * 24]


def opened(world, client, id, beside=None):
    known = client.get("/config").json()["dependencies"]
    number = next(one["id"] for one in known if one["api_name"] == "restore")
    body = {"data": [id], "event_data": beside, "fn_index": number, "session_hash": "shapes", "trigger_id": None}
    return client.post("/gradio_api/run/restore", content=json.dumps(body), headers={"Content-Type": "application/json"})


def control(world):
    id = world.graded(world.eve, "x = 'opened again'")
    assert "opened again" in opened(world, world.client(world.eve), id).text


def attack(world):
    for who in (world.eve, None):
        for data in (*SHAPES, *TEXTS):
            answer = opened(world, world.client(who), data)
            assert answer.status_code == (200 if isinstance(data, str) and len(data) <= 100 else 400), data
            world.harmless(answer)
            answer = opened(world, world.client(who), "x", data)
            assert answer.status_code in (200, 400), data
            world.harmless(answer)
