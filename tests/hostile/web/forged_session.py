"""Be somebody by making up a session: guesses, halves, other spellings and other people's tokens cut or changed.

Expected: whoever comes with it is a guest
Stopped by: session (only the hash of a random token is kept)
"""


def known(world, token):
    client = world.client()
    client.cookies.set("attention_gym", token)
    return "Ada Honest" in client.get("/work").text


def control(world):
    assert known(world, world.ada.token)


def attack(world):
    token = world.ada.token
    forged = [
        token[:-1], token + "a", token.swapcase(), token[::-1], "", "null", "1", str(world.ada.user.id), "' OR 1=1 --",
        "admin", "a" * 4000, f"{token}%00", "..", "*", f'"{token[:-1]}"',
    ]  # fmt: skip
    for one in forged:
        assert not known(world, one), one
    for header in (f"attention_gym_browser={token}", f"Attention_Gym={token}", f"attention_gym ={token}x"):
        client = world.client()
        answer = client.get("/teach/export.csv", headers={"Cookie": header})
        assert answer.status_code == 401
