"""Make a small file large: ask for thousands of overlapping pieces of it at once.

Expected: no more than the file itself
Stopped by: guard (a request for a part is one for the whole)
Own: yes
"""


FILE = "/static/js/iframeResizer.contentWindow.min.js"  # one that Gradio serves


def control(world):
    async def ask(client):
        answer = await client.get(FILE, headers={"Range": "bytes=0-9"})
        return answer.status_code, len(answer.content)

    assert world.bare(ask) == (206, 10)


def attack(world):
    client = world.client()
    whole = len(client.get(FILE).content)
    for ranges in (",".join(["0-"] * 2000), ",".join(f"{n}-" for n in range(2000)), "-" + "9" * 100, "0-0," * 1000):
        answer = client.get(FILE, headers={"Range": f"bytes={ranges}"})
        assert (answer.status_code, len(answer.content)) == (200, whole)
        world.harmless(answer)
