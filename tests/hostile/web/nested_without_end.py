"""Make the parser run out of stack: JSON that nests a hundred thousand deep.

Expected: 400
Stopped by: guard (depth of a body)
"""

import json

import pytest


def control(world):
    with pytest.raises(RecursionError):
        json.loads("[" * 100_000)


def attack(world):
    client = world.client(world.eve)
    for body in (b"[" * 200_000, b'{"a":' * 60_000, b'{"data": [' + b"[" * 500 + b"]" * 500 + b"]}", b"{" * 100_000):
        answer = client.post("/gradio_api/run/cancel", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400
        world.harmless(answer)
