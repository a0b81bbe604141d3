"""Make the database obey: its own words in every name, id, exercise, filter, cookie and password.

Expected: no such thing, and every table as it was
Stopped by: bound parameters, the form of ids, the catalogue
Own: yes
"""

import sqlite3

WORDS = ["' OR 1=1 --", "'; DROP TABLE users; --", "1 UNION SELECT password FROM users", "%", "softmax' OR 'a'='a"]


def control(world):
    base = sqlite3.connect(":memory:")
    base.executescript("CREATE TABLE users(name); INSERT INTO users VALUES('Ada')")
    assert base.execute(f"SELECT * FROM users WHERE name='{WORDS[0]}'".replace(" --", " OR '")).fetchall() == [("Ada",)]
    base.close()


def attack(world):
    before = len(world.service.classroom(world.prof.user).students())
    client, prof = world.client(world.eve), world.client(world.prof)
    for words in WORDS:
        answer = world.event(client, "submit", words, words)
        assert "There is no" in answer.text
        world.harmless(answer, world.event(client, "cancel", words), world.follow(client, words))
        world.harmless(client.get("/leaderboard", params={"ex": words}), client.get("/compare", params={"attempt": words}))
        answer = prof.get("/teach/", params={"student": words, "submission": words})
        world.harmless(answer)
        assert "argon2" not in answer.text
        guest = world.client()
        guest.cookies.set("attention_gym", words.replace(";", "%3b"))
        world.harmless(guest.post("/sign-in", data={"name": words, "password": words}), guest.get("/work"))
    assert len(world.service.classroom(world.prof.user).students()) == before
