"""Plant a session of the attacker's in a victim's browser before they sign in, and share what they do in it.

Expected: signing in begins a session of its own and ends the planted one
Stopped by: session (rotated at sign-in)
Own: yes
"""

from tests.pages.conftest import PASSWORD


def control(world):
    planter = world.person("Paul Planter")
    assert world.service.user_of(planter.token) is not None


def attack(world):
    planter, victim = world.person("Pia Planter"), world.person("Vic Victim")
    browser = world.client(planter)
    answer = browser.post("/sign-in", data={"name": "Vic Victim", "password": PASSWORD})
    fresh = answer.cookies["attention_gym"]
    assert fresh not in (planter.token, victim.token)
    assert world.service.user_of(planter.token) is None
    assert world.service.user_of(fresh) == victim.user
    chosen = world.client()
    chosen.cookies.set("attention_gym", "chosen-by-eve")
    assert chosen.post("/sign-in", data={"name": "Vic Victim", "password": PASSWORD}).cookies["attention_gym"] != "chosen-by-eve"
    assert world.service.user_of("chosen-by-eve") is None
