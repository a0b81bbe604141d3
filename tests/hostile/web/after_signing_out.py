"""Go on with a session that its owner has ended: the cookie was copied before.

Expected: a guest
Stopped by: session (signing out deletes it)
Own: yes
"""


def control(world):
    leaver = world.person("Lea Leaver")
    assert "Lea Leaver" in world.event(world.client(leaver), "work").values[0]


def attack(world):
    who = world.person("Leo Leaver")
    client, thief = world.client(who), world.client(who)
    assert client.post("/sign-out").status_code == 303
    for name in ("work", "exercises"):
        assert "Leo Leaver" not in world.event(thief, name).values[0]
    assert "Sign in to run" in world.event(thief, "submit", "softmax", "x").text
    assert "Leo" not in thief.get("/").text
