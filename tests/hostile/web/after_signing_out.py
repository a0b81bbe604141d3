"""Go on with a session that its owner has ended: the cookie was copied before.

Expected: a guest
Stopped by: session (signing out deletes it)
Own: yes
"""


def control(world):
    leaver = world.person("Lea Leaver")
    assert "Lea Leaver" in world.client(leaver).get("/work").text


def attack(world):
    who = world.person("Leo Leaver")
    client, thief = world.client(who), world.client(who)
    assert client.post("/sign-out").status_code == 303
    for path in ("/work", "/"):
        assert "Leo Leaver" not in thief.get(path).text
    assert "Sign in to run" in world.event(thief, "submit", "softmax", "x").text
    assert "Leo" not in thief.get("/").text
