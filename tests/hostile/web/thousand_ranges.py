"""Make a small file large: ask for thousands of overlapping pieces of it at once.

Expected: no more than the file itself
Stopped by: the static route's own merging of ranges
Own: yes
"""


def control(world):
    answer = world.client().get("/gym/gym.js", headers={"Range": "bytes=0-9"})
    assert (answer.status_code, len(answer.content)) == (206, 10)


def attack(world):
    client = world.client()
    whole = len(client.get("/gym/gym.js").content)
    for ranges in (",".join(["0-"] * 2000), ",".join(f"{n}-" for n in range(2000)), "-" + "9" * 100, "0-0," * 1000):
        answer = client.get("/gym/gym.js", headers={"Range": f"bytes={ranges}"})
        assert answer.status_code in (200, 206, 400, 416)
        assert len(answer.content) < 3 * whole
        world.harmless(answer)
