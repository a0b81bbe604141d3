"""Run a script on the page for signing in: markup in whatever the form shows again.

Expected: shown as text
Stopped by: escaping templates
"""

PAYLOAD = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{7919*7}}{%print(1)%}${7919*7}"


def control(world):
    assert "<script>alert(1)" in f'<input value="{PAYLOAD}">'


def attack(world):
    client = world.client()
    answers = [
        client.post("/sign-in", data={"name": PAYLOAD, "password": PAYLOAD, "next": PAYLOAD}),
        client.post("/register", data={"name": PAYLOAD, "password": PAYLOAD, "class_code": PAYLOAD, "next": PAYLOAD}),
        client.get("/sign-in", params={"next": "/" + PAYLOAD}),
        client.get("/register", params={"next": "/" + PAYLOAD}),
        client.get("/exercise", params={"ex": PAYLOAD, PAYLOAD: "1"}),
        client.get("/leaderboard", params={"ex": PAYLOAD}),
        client.get("/" + PAYLOAD),
    ]
    for answer in answers:
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text
        assert str(7919 * 7) not in answer.text
        world.harmless(answer)
    assert "<script>" not in world.event(client, "open", query="ex=%3Cscript%3E").text
