"""Send every event values of every shape but its own, under numbers and names that are none.

Expected: 4xx or a calm sentence, never a 500, never a trace
Stopped by: guard (known events in their own form), checks in each handler
Own: yes
"""

import itertools

SHAPES = [b"null", b"true", b"-1", b"1e400", b"9" * 300, b"[]", b"{}", b'[["a"]]', b'{"__type__": "update", "value": 1}',
          b'{"__proto__": {"x": 1}}', b'"\\u0000"', b'"' + b"a" * 70_000 + b'"']  # fmt: skip
WHOLE = [
    b'{"data": [NaN], "fn_index": 0, "session_hash": "s"}', b'{"data": [], "fn_index": 999, "session_hash": "s"}',
    b'{"data": [], "fn_index": -1, "session_hash": "s"}', b'{"data": [], "fn_index": true, "session_hash": "s"}',
    b'{"data": [], "fn_index": 1.5, "session_hash": "s"}', b'{"data": [], "fn_index": "0", "session_hash": "s"}',
    b'{"data": [], "fn_index": ' + b"9" * 4000 + b', "session_hash": "s"}', b'{"data": [], "fn_index": 0, "session_hash": {}}',
    b'{"data": {}, "fn_index": 0, "session_hash": "s"}', b'{"data": "abc", "fn_index": 0, "session_hash": "s"}',
    b"[]", b"null", b"1", b'""', b"", b"{}", b'{"data": []}', b'{"data": [], "fn_index": 0, "session_hash": "a/../b"}',
    b'{"data": [], "fn_index": 0, "session_hash": "s", "batched": true}',
]  # fmt: skip
JSON = {"Content-Type": "application/json"}


def control(world):
    async def ask(client):
        body = {"data": [], "fn_index": 999, "session_hash": "s"}
        named = await client.post("/gradio_api/run/nothing", json={"data": []})
        return named.status_code, (await client.post("/gradio_api/run/open", json=body)).status_code

    assert world.bare(ask) == (500, 500)


def attack(world):
    client = world.client(world.eve)
    known = {one["api_name"]: len(one["inputs"]) for one in client.get("/config").json()["dependencies"]}
    for (name, inputs), shape in itertools.product(known.items(), SHAPES):
        if not inputs:
            continue
        body = b'{"session_hash": "s", "data": [' + b", ".join([shape] * inputs) + b"]}"
        world.harmless(client.post(f"/gradio_api/run/{name}", content=body, headers=JSON))
    for body in WHOLE:
        for path in ("run/cancel", "run/open", "run/follow", "run/"):
            answer = client.post(f"/gradio_api/{path}", content=body, headers=JSON)
            assert 400 <= answer.status_code < 500, (path, body[:60])
            world.harmless(answer)
