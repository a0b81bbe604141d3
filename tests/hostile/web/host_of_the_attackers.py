"""Have pages, addresses and caches built for another host: a forged Host header.

Expected: what is no name is refused; under a name of one's own only that one is answered
Stopped by: guard (form of a host), allowed hosts
Own: yes
"""

STRANGE = ['"><script>alert(1)</script>', "a b", "evil.example/x", "user@evil.example", "[::1", "a,b", "", "a:b", "x:99999999"]


def control(world):
    async def ask(client):
        return (await client.get("/config", headers={"Host": "evil.example"})).text

    assert "evil.example" in world.bare(ask)


def attack(world):
    for host in STRANGE:
        request = b"GET /config HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % host.encode()
        answer = world.raw(request)
        assert b" 400 " in answer[:15], host
        assert b"alert(1)" not in answer

    async def ask(client):
        seen = []
        for host in ("evil.example", "gym.example.evil.example", "127.0.0.1", "gym.example"):
            seen.append((await client.get("/health", headers={"Host": host})).status_code)
        return seen

    assert world.bare(ask, world.strict) == [400, 400, 400, 200]
    two = b"GET /health HTTP/1.1\r\nHost: gym.example\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    assert b" 400 " in world.raw(two)[:15]
