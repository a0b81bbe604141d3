"""Fill the memory with one request: megabytes of source, declared or not.

Expected: 413 before anything reads it
Stopped by: guard (length of a body)
"""

LIMIT = (2 * 256 + 64) << 10


def control(world):
    async def send(client):
        return (await client.post("/gradio_api/run/cancel", json={"data": ["x" * (2 * LIMIT)]})).status_code

    assert world.bare(send) == 200


def attack(world):
    client = world.client(world.eve)
    answer = world.event(client, "cancel", "x" * (2 * LIMIT))
    assert answer.status == 413
    long = client.post("/sign-in", data={"name": "x" * (2 * LIMIT), "password": "x"})
    assert long.status_code == 413
    head = b"POST /sign-in HTTP/1.1\r\nHost: gym.example\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    assert b" 413 " in world.raw(head % 10**15)
    assert b" 4" in world.raw(head.replace(b"%d", b"-1"))[:13]
    world.harmless(answer, long)
