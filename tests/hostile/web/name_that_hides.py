"""Have a name that nobody sees, that turns the line around, or that breaks the page: controls, bidi, fillers, length.

Expected: refused in a sentence
Stopped by: cleaning (what a name may hold)
"""

from tests.pages.conftest import CODE, PASSWORD

NAMES = [
    "\u200bEve", "E\u202eve", "Ev\u2066e", "\u3164\u3164", "Eve\u00ad", "Eve\x00", "Eve\x1b[31m", "Eve\r\nSet-Cookie: a", "a" * 41,
    "a" * 1900, "Ev\U000e0041e", "E" + "\u0301" * 9 + "ve", "\u2800\u2800", "<b>Eve", "=1+1", "@Eve", "-Eve", "+1", "\t=1", "..", "/etc",
    "Eve  Eve", "", "  ", "\ud7ff\uffff", "\ufffe\ufffe", "Eve\u2028Eve",
]  # fmt: skip


def control(world):
    assert "\u202e" in NAMES[1]
    assert world.client().post("/register", data={"name": "Visible Vera", "password": PASSWORD, "class_code": CODE}).status_code == 303


def attack(world):
    for name in NAMES:
        client = world.client()
        answer = client.post("/register", data={"name": name, "password": PASSWORD, "class_code": CODE})
        assert answer.status_code in (403, 422), repr(name)
        world.harmless(answer)
        assert "<b>Eve" not in answer.text
    for password in ("short", "a" * 201, "a" * 1_900, "a" * 100_000, "\0" * 3):
        answer = world.client().post("/register", data={"name": "Pat Pass", "password": password, "class_code": CODE})
        assert answer.status_code in (403, 413, 422)
        world.harmless(answer)
