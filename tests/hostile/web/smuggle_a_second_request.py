"""Hide a second request in the body of a first one, so that a proxy and the server disagree where it begins.

Expected: one answer at most, never one to the hidden request
Stopped by: the server's parser (refuses what is ambiguous)
Own: yes
"""

HIDDEN = b"GET /gym/gym.js HTTP/1.1\r\nHost: gym.example\r\n\r\n"
START = b"POST /sign-out HTTP/1.1\r\nHost: gym.example\r\n"
WAYS = [
    START + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    START + b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN) + HIDDEN,
    START + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + HIDDEN,
    START + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    START + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    START + b"Content-Length: +0\r\n\r\n" + HIDDEN,
    START + b"Content-Length: 0x0\r\n\r\n" + HIDDEN,
    START + b"X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    START + b" Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
]


def control(world):
    two = b"GET /health HTTP/1.1\r\nHost: gym.example\r\n\r\n" + HIDDEN
    assert b"window.gym" in world.raw(two, wait=1.0)


def attack(world):
    for way in WAYS:
        answer = world.raw(way, wait=1.0)
        assert answer[9:12] in (b"400", b"411", b"501"), (way, answer[:60])
        assert answer.count(b"HTTP/1.1 ") == 1, (way, answer)
