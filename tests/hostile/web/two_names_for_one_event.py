"""Name two events in one request: one by its name, for the guard, and another by its number, which Gradio goes by.

The first takes what the second must never get; or it is an event of the page's own scripts, which has no function.

Expected: 404: both mean the same event, or none
Stopped by: guard (reads an event as Gradio does)
Own: yes
"""

def control(world):
    numbers = numbers_of(world.client())

    async def send(client):
        body = {"data": ["x"], "fn_index": numbers["open"], "session_hash": "s"}
        return (await client.post("/gradio_api/run/cancel", json=body)).text

    assert "Skip to the editor" in world.bare(send)


def numbers_of(client):
    return {one["api_name"]: one["id"] for one in client.get("/config").json()["dependencies"]}


def attack(world):
    client = world.client(world.eve)
    numbers = numbers_of(client)
    for name, number in numbers.items():
        body = {"data": ["x"], "fn_index": number, "session_hash": "s"}
        if name != "cancel":
            assert client.post("/gradio_api/run/cancel", json=body).status_code == 404, name
    for number in (True, 1.5, "0", -1, 10**4000, [numbers["cancel"]], {}):
        body = {"data": ["x"], "fn_index": number, "session_hash": "s"}
        assert client.post("/gradio_api/run/cancel", json=body).status_code in (400, 404), number
    known = {"open", "submit", "cancel", "restore"}
    for name in set(numbers) - known:
        for inputs in ([], ["x"]):
            body = {"data": inputs, "session_hash": "s"}
            assert client.post(f"/gradio_api/run/{name}", json=body).status_code == 404, name
            body["fn_index"] = numbers[name]
            assert client.post("/gradio_api/run/predict", json=body).status_code == 404, name
    doubled = b'{"data": ["x"], "fn_index": %d, "fn_index": %d, "session_hash": "s"}'
    sent = doubled % (numbers["cancel"], numbers["open"])
    headers = {"Content-Type": "application/json"}
    assert client.post("/gradio_api/run/cancel", content=sent, headers=headers).status_code == 404
