"""Fill the memory with headers, cookies and a query without end.

Expected: refused with 4xx, or answered as if they were not there
Stopped by: the server's limit on the head of a request, guard
Own: yes
"""

HEAD = b"GET /health HTTP/1.1\r\nHost: gym.example\r\nConnection: close\r\n"


def control(world):
    assert b" 200 " in world.raw(HEAD + b"X-A: 1\r\n" * 20 + b"\r\n")[:15]


def attack(world):
    for many in (b"X-A: 1\r\n" * 20_000, b"X-A: " + b"a" * 200_000 + b"\r\n", b"Cookie: " + b"a=1; " * 40_000 + b"\r\n"):
        answer = world.raw(HEAD + many + b"\r\n")
        assert answer == b"" or answer[9:10] == b"4", answer[:40]
    query = world.raw(b"GET /health?" + b"a=1&" * 50_000 + b" HTTP/1.1\r\nHost: gym.example\r\n\r\n")
    assert query == b"" or query[9:10] == b"4"
    client = world.client()
    some = client.get("/", headers=[("Cookie", "; ".join(["a=1"] * 1000)), *[("X-B", "1")] * 300], params=[("a", "1")] * 1000)
    assert some.status_code == 200
