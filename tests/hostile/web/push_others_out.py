"""Push other people's answers out of the memory: begin sessions without end; of two thousand Gradio keeps the youngest.

Expected: nobody's answer lies there: Ada's comes with her request, whatever has been begun meanwhile
Stopped by: events past Gradio's queue
Own: yes
"""

from gradio.utils import LRUCache


def control(world):
    kept = LRUCache(2000)
    kept["ada"] = "her answer"
    for n in range(2000):
        kept[f"eve {n}"] = ""
    assert "ada" not in kept


def attack(world):
    ada, eve = world.client(world.ada), world.client(world.person("Pam Pusher"))
    for n in range(140):
        assert eve.post("/gradio_api/run/board", json={"data": [], "session_hash": f"push-{n}"}).status_code == 200
    assert "Ada Honest" in world.event(ada, "work").text
    assert [len(blocks._queue.pending_messages_per_session) for blocks in world.blocks()] == [0, 0]
