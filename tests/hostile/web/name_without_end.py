"""Make the server stumble over a path that no file system takes, and read its stack.

Expected: 404
Stopped by: guard (length of a path)
Own: yes
"""


def control(world):
    async def ask(client):
        return (await client.get("/assets/" + "a" * 4000)).status_code

    assert world.bare(ask) == 500


def attack(world):
    client = world.client()
    for prefix in ("/assets/", "/static/", "/gym/", "/gradio_api/run/", "/runs/", "/"):
        for name in ("a" * 4000, "a/" * 2000, "%00", "%0d%0a", "%e2%80%ae", "%ff"):
            answer = client.get(prefix + name)
            assert answer.status_code in (400, 404, 405), (prefix, name[:9])
            world.harmless(answer)
