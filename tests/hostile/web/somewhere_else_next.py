"""Lead people from our form to a site of the attacker's, which looks like ours and asks again.

Expected: the way on stays here
Stopped by: cleaning (addresses of ours only)
Own: yes
"""

from urllib.parse import urljoin, urlsplit

from tests.pages.conftest import PASSWORD

WAYS = [
    "https://evil.example", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
    "javascript:alert(1)", "data:text/html,x", "http:evil.example", "/%09/evil.example", "/.//evil.example", "@evil.example",
    "/\u2215/evil.example", " //evil.example", "/" * 600, "https:/evil.example", ".evil.example", "/@evil.example",
]  # fmt: skip


def control(world):
    assert WAYS[1].startswith("/")  # the careless check
    assert urlsplit(urljoin("http://gym.example/sign-in", WAYS[1])).netloc == "evil.example"


def attack(world):
    for way in WAYS:
        answer = world.client(world.eve).get("/sign-in", params={"next": way})
        assert "javascript:" not in answer.text
    client = world.client()
    for way in WAYS[:12:2]:
        answer = client.post("/sign-in", data={"name": "Eve Wicked", "password": PASSWORD, "next": way})
        there = urljoin("http://gym.example/sign-in", answer.headers["location"].replace("\\", "/"))
        assert urlsplit(there).netloc == "gym.example", way
