"""Fill the memory with headers, cookies and a query without end; or only take the time that it costs to look at them.

A hundred and fifty heads of a hundred kilobytes, all lines, kept everybody waiting for 25 seconds.

Expected: refused with 4xx before the parser reads them
Stopped by: connections (bytes and lines of the head), guard (fields of the query)
Own: yes
"""

HEAD = b"GET /health HTTP/1.1\r\nHost: gym.example\r\nConnection: close\r\n"


def control(world):
    assert b" 200 " in world.raw(HEAD + b"X-A: 1\r\n" * 20 + b"\r\n")[:15]


LONG = [b"a:\r\n" * 200, b"X-A: 1\r\n" * 20_000, b"Cookie: " + b"a;" * 10_000 + b"\r\n"]
LONG += [b"%s: " % name + b"a," * 10_000 + b"\r\n" for name in (b"X-Forwarded-For", b"Accept-Encoding", b"X-A")]


def attack(world):
    for many in LONG:
        for end in (b"\r\n", b"\n", b""):
            assert b" 431 " in world.raw(HEAD + many + end, wait=1.0)[:15], (many[:20], end)
        second = world.raw(HEAD.replace(b"Connection: close\r\n", b"") + b"\r\n" + HEAD + many + b"\r\n", wait=1.0)
        assert second.startswith(b"HTTP/1.1 200") and b"HTTP/1.1 431" in second, many[:20]
    for query in (b"a=1&" * 2_000, b"&" * 2_000, b"a" * 9_000):
        assert b" 414 " in world.raw(HEAD.replace(b"/health", b"/health?" + query) + b"\r\n")[:15]
    client = world.client()
    some = client.get("/", headers=[("Cookie", "; ".join(["a=1"] * 1000)), *[("X-B", "1")] * 50], params=[("a", "1")] * 40)
    assert some.status_code == 200
