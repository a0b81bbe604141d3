"""Find out who is behind a pseudonym: by names and ids in what a board sends, by guessed secrets, by choosing for others.

Expected: no name and no id is sent, no guess gives a pseudonym, and everybody chooses for themselves only
Stopped by: the service (a keyed hash of the person; names for instructors only)
Own: yes
"""

from grader.service.names import pseudonyms
from tests.pages.arena import HONEST

NAME = "Vera Unmistakable"


def seen(world, who):
    client = world.client(who)
    events = [world.event(client, name, query="ex=softmax") for name in ("board", "open")]
    return [*events, world.event(client, "board"), client.get("/leaderboard?ex=softmax")]


def control(world):
    victim = world.person(NAME)
    world.graded(victim, HONEST)
    assert any(NAME in answer.text for answer in seen(world, world.prof))


def attack(world):
    victim = next(line for line in world.service.leaderboard("softmax", world.prof.user) if line.name == NAME)
    told = [answer for who in (None, world.eve) for answer in seen(world, who)]
    told.append(world.follow(world.client(world.eve), world.graded(world.eve, HONEST)))
    for answer in told:
        assert "Unmistakable" not in answer.text
    rows = told[0].view(1)["rows"]
    assert {key for row in rows for key in row} == {"cells", "you"}
    shown = {cell for row in rows for cell in row["cells"]}
    for guess in (b"", b"secret", b"pseudonym", NAME.encode(), world.service.class_code.encode()):
        assert pseudonyms(guess, [(victim.user, NAME)])[victim.user] not in shown
    client = world.client(world.eve)
    client.post("/account", data={"act": "board", "board": "name", "student": str(victim.user), "user": str(victim.user)})
    names = {line.user: line.name for line in world.service.leaderboard("softmax", world.ada.user)}
    assert names[victim.user] != NAME
    assert names[world.eve.user.id] == world.eve.user.name
    client.post("/account", data={"act": "board", "board": "pseudonym"})
    world.harmless(*told)
