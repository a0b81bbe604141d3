"""Get past the limit on bodies by not saying how long one is: chunks without end.

Expected: 413 as soon as the limit is passed
Stopped by: guard (counts what arrives)
Own: yes
"""

HEAD = b"POST %s HTTP/1.1\r\nHost: gym.example\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n%s\r\n"
JSON = b"Content-Type: application/json\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def control(world):
    body = chunk(b'{"data": ["none"], "session_hash": "s"}') + b"0\r\n\r\n"
    assert b" 200 " in world.raw(HEAD % (b"/gradio_api/run/cancel", JSON) + body)[:15]


def attack(world):
    for path in (b"/gradio_api/run/cancel", b"/sign-in"):
        answer = world.raw(HEAD % (path, JSON) + chunk(b"x" * (1 << 16)) * 12)  # and never an end
        assert b" 413 " in answer[:15], answer[:80]
