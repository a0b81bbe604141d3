"""Read the operator's figures: as a guest from this machine, as an instructor, with forged headers, with a guessed token.

Expected: without a token in the settings there is nothing, with one only whoever sends it gets an answer
Stopped by: metrics, guard (only `Authorization` is passed on)
Own: yes
"""

from grader.settings import Settings
from tests.pages.conftest import in_a_loop, made

TOKEN = "0123456789abcdef" * 2
FORGED = [
    {}, {"X-Forwarded-For": "127.0.0.1"}, {"X-Real-IP": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"},
    {"Authorization": "Bearer "}, {"Authorization": "Bearer None"}, {"Authorization": f"Bearer {TOKEN[:-1]}"},
    {"Authorization": f"Basic {TOKEN}"}, {"Authorization": TOKEN}, {"Authorization": "Bearer \xff".encode("latin-1")},
    {"Proxy-Authorization": f"Bearer {TOKEN}"}, {"Cookie": f"authorization=Bearer {TOKEN}; metrics_token={TOKEN}"},
]  # fmt: skip
PATHS = ["/metrics", f"/metrics?token={TOKEN}&authorization=Bearer+{TOKEN}", "/teach/metrics", "/metrics/"]


def guarded(world):
    return in_a_loop(made(world.service, Settings(data=world.folder, metrics_token=TOKEN)))


def control(world):
    async def ask(client):
        return await client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})

    answer = world.bare(ask, guarded(world))
    assert answer.status_code == 200
    assert "attention_gym_waiting" in answer.text


def attack(world):
    async def ask(client):
        mine = {"Cookie": f"attention_gym={world.prof.token}"}
        answers = [await client.get(path, headers=headers) for path in PATHS for headers in [*FORGED, mine]]
        answers.append(await client.post("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}))
        return [(answer.status_code, "attention_gym_" in answer.text) for answer in answers]

    assert set(world.bare(ask, guarded(world))) == {(401, False), (404, False), (405, False)}
    assert set(world.bare(ask, world.site.app)) == {(404, False)}
    with world.client() as neighbour:
        assert neighbour.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 404
