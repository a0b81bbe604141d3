"""Push other people's answers out of the memory: begin sessions without end; of two thousand Gradio keeps the youngest.

Expected: the attacker's own oldest make room, Ada's answer is still there
Stopped by: crowd (sessions of one person)
Own: yes
"""

from gradio.utils import LRUCache

from grader.pages.crowd import PERSON


def control(world):
    kept = LRUCache(2000)
    kept["ada"] = "her answer"
    for n in range(2000):
        kept[f"eve {n}"] = ""
    assert "ada" not in kept


def attack(world):
    ada, eve = world.client(world.ada), world.client(world.person("Pam Pusher"))
    assert ada.post("/gradio_api/call/work", json={"data": [], "session_hash": "ada-waits"}).status_code == 200
    for n in range(PERSON.sessions + 40):
        assert eve.post("/gradio_api/call/board", json={"data": [], "session_hash": f"push-{n}"}).status_code == 200
    assert eve.get("/gradio_api/queue/data?session_hash=push-0").status_code == 404
    assert "Ada Honest" in ada.get("/gradio_api/queue/data?session_hash=ada-waits").text
