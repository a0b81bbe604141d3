"""Find out who is behind a pseudonym: by names and ids in what a board sends, by guessed secrets, by choosing for others.

Expected: no name and no id is sent, no guess gives a pseudonym, and everybody chooses for themselves only
Stopped by: the service (a keyed hash of the person; names for instructors only)
Own: yes
"""

import re

from grader.service.names import pseudonyms
from grader.store.tables import INITIAL_CLASS
from tests.pages.arena import HONEST

NAME = "Vera Unmistakable"


def seen(world, who):
    client = world.client(who)
    return [client.get("/leaderboard?ex=softmax"), client.get("/leaderboard"), world.event(client, "open", query="ex=softmax")]


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
    shown = set(re.findall(r">([^<>]+)<", told[0].text))
    assert f"{victim.user}" not in re.findall(r"=\"(\d+)\"", told[0].text.partition("<tbody>")[2])
    for guess in (b"", b"secret", b"pseudonym", NAME.encode(), world.service.class_code.encode()):
        assert pseudonyms(guess, INITIAL_CLASS, [(victim.user, NAME)])[victim.user] not in shown
    client = world.client(world.eve)
    client.post("/account", data={"act": "board", "board": "name", "student": str(victim.user), "user": str(victim.user)})
    names = {line.user: line.name for line in world.service.leaderboard("softmax", world.ada.user)}
    assert names[victim.user] != NAME
    assert names[world.eve.user.id] == world.eve.user.name
    client.post("/account", data={"act": "board", "board": "pseudonym"})
    world.harmless(*told)
