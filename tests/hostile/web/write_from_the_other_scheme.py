"""Write to us over HTTPS from a page that somebody on the way has put under our name at plain HTTP; or claim HTTPS.

Expected: 403, also where only a header of the attacker's own says that the request came by that scheme
Stopped by: guard (compares scheme, host and port), trusted neighbours
Own: yes
"""

from urllib.parse import urlsplit


def ways(*origins):
    async def ask(client):
        sent = [await client.post("/sign-out", headers={"Origin": origin}) for origin in origins]
        return [answer.status_code for answer in sent]

    return ask


def control(world):
    assert urlsplit("http://gym.example").netloc == "gym.example"  # hosts alone are the same
    assert world.bare(ways("https://gym.example"), world.strict) == [303]
    proxy = world.client(address="127.0.0.1")  # believed: a proxy on this machine
    said = {"Origin": world.site.url.replace("http:", "https:"), "X-Forwarded-Proto": "https"}
    assert proxy.post("/sign-out", headers=said).status_code == 303


def attack(world):
    forged = ("http://gym.example", "http://gym.example:80", "http://gym.example:443", "https://gym.example:80", "HTTP://GYM.EXAMPLE")
    assert world.bare(ways(*forged), world.strict) == [403] * len(forged)
    stranger = world.client(world.eve, address="127.0.0.9")
    secure = world.site.url.replace("http:", "https:")
    for more in ({}, {"X-Forwarded-Proto": "https"}, {"Forwarded": "proto=https"}, {"X-Forwarded-Ssl": "on"}):
        assert stranger.post("/sign-out", headers={"Origin": secure, **more}).status_code == 403
    assert world.service.user_of(world.eve.token) == world.eve.user
