"""Read, open, follow or cancel what another person has handed in, by its id or by guessing at ids near it.

Expected: "There is no such submission among yours.", the same for one that is not there
Stopped by: ownership check, unguessable ids
"""

SECRET = "# the answer of Ada alone"
NONE = "There is no such submission among yours."


def seen(world, who, id):
    client = world.client(who)
    body = {"data": [id], "session_hash": "s"}
    return world.follow(client, id).text + client.post("/gradio_api/run/restore", json=body).text


def control(world):
    id = world.graded(world.ada, SECRET)
    assert SECRET in seen(world, world.ada, id)


def attack(world):
    id = world.service.attempts(world.ada.user)[0].id
    near = [id, id.upper(), id + "0", f"{int(id, 16) + 1:024x}"]
    for who in (world.eve, None):
        for guess in near:
            told = seen(world, who, guess)
            assert SECRET not in told
            assert NONE in told or who is None or guess != id
    waiting = world.service.submit(world.ada.user, "causal_mask", "import time; time.sleep(2)")
    world.event(world.client(world.eve), "cancel", waiting)
    state = world.service.submission(world.ada.user, waiting).state
    world.service.cancel(world.ada.user, waiting)
    assert state.value in ("queued", "running")
