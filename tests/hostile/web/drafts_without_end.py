"""Fill the disk with drafts: what is being typed is kept, for each exercise, by name.

Expected: no event takes a draft; what the service itself keeps is one per person and exercise, and not longer than a source
Stopped by: no route leads there, size cap
Own: yes
"""


def control(world):
    world.service.keep_draft(world.eve.user, "softmax", "x = 1")
    assert world.service.draft(world.eve.user, "softmax") == "x = 1"


def attack(world):
    known = [one["api_name"] for one in world.client(world.eve).get("/config").json()["dependencies"]]
    assert [name for name in known if name and "draft" in name] == []
    world.service.keep_draft(world.eve.user, "softmax", "x" * (1 << 20))
    assert world.service.draft(world.eve.user, "softmax") == "x = 1"
    assert world.service.draft(world.ada.user, "softmax") is None
    assert world.event(world.client(world.eve), "draft", "softmax", "x").status == 404
