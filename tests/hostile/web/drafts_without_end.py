"""Fill the disk with drafts: what is being typed is kept, for each exercise, by name.

Expected: one draft per person and exercise is kept, of exercises that there are, not longer than a source; guests keep none
Stopped by: the session, the list of exercises, size cap, limits on requests
Own: yes
"""


HEAD = (
    b"POST /draft?ex=softmax HTTP/1.1\r\nHost: gym.example\r\nConnection: close\r\n"
    b"Content-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n"
)
TEXT = {"Content-Type": "text/plain"}


def keep(client, text, exercise="softmax"):
    return client.post(f"/draft?ex={exercise}&base=0", content=text, headers=TEXT).status_code


def control(world):
    assert keep(world.client(world.eve), "x = 1") == 200
    assert world.service.drafts.of(world.eve.user, "softmax").source == "x = 1"


def attack(world):
    eve = world.client(world.eve)
    assert keep(eve, "x" * (300 << 10)) == 422
    assert keep(eve, "\u1ed9" * (90 << 10)) == 422  # of three bytes each
    assert b" 413 " in world.raw(HEAD)
    assert [keep(eve, "x", f"exercise_{number}") for number in range(20)] == [422] * 20
    assert keep(world.client(), "x") == 401
    assert world.service.drafts.of(world.eve.user, "softmax").source == "x = 1"
    assert world.service.drafts.of(world.ada.user, "softmax") is None
    assert eve.post("/draft?ex=softmax", json={"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}).status_code == 415
