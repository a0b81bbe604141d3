"""Bring headers of the attacker's own into an answer: line breaks in the address to go to next.

Expected: the way on is the front page, and no header is added
Stopped by: cleaning (only printable addresses of ours)
Own: yes
"""

from tests.pages.conftest import PASSWORD

WAYS = ["/\r\nSet-Cookie: attention_gym=x", "/%0d%0aSet-Cookie: a=b", "/\nX: y", "/\u2028X: y", "/a\r\n\r\n<script>"]


def control(world):
    assert "\r\nSet-Cookie" in f"Location: {WAYS[0]}"  # what a careless answer would hold


def attack(world):
    for way in WAYS:
        answer = world.client().post("/sign-in", data={"name": "Eve Wicked", "password": PASSWORD, "next": way})
        assert answer.status_code == 303
        cookies = answer.headers.get_list("set-cookie")
        assert all(cookie.startswith("attention_gym") and "=x;" not in cookie for cookie in cookies)
        assert not {"x", "a"} & set(answer.headers)
        assert "<script>" not in answer.headers["location"]
