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
        assert eve.post("/gradio_api/run/open", json={"data": [], "session_hash": f"push-{n}"}).status_code == 200
    assert "Ada Honest" in world.event(ada, "open").text
    assert len(world.blocks()._queue.pending_messages_per_session) == 0
    assert [name for name in world.blocks().state_holder.session_data if name.startswith("push")] == []
