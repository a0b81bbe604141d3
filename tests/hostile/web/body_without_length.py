"""Send a body in chunks: without end, or of one byte each, which took the server minutes for half a megabyte.

Expected: 411 for the head alone
Stopped by: connections (before the parser has seen a chunk)
Own: yes
"""

import h11

HEAD = b"POST %s HTTP/1.1\r\nHost: gym.example\r\nContent-Type: application/json\r\nConnection: close\r\n"
SPELLINGS = [b"Transfer-Encoding: chunked", b"transfer-encoding:chunked", b"TRANSFER-ENCODING:\t chunked", b"Content-Length: 9\r\nTransfer-Encoding: chunked"]
BODY = b'{"data": ["none"], "session_hash": "s"}'


def control(world):
    assert b" 200 " in world.raw(HEAD % b"/gradio_api/run/cancel" + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)[:15]
    server = h11.Connection(h11.SERVER)
    server.receive_data(HEAD % b"/sign-in" + SPELLINGS[0] + b"\r\n\r\n" + b"1\r\na\r\n" * 50)
    found = [type(server.next_event()) for _ in range(51)]
    assert found == [h11.Request] + [h11.Data] * 50  # a step of the parser for each byte


def attack(world):
    for path in (b"/gradio_api/run/cancel", b"/sign-in", b"/nothing", b"/health"):
        for spelling in SPELLINGS:
            for chunks in (b"1\r\na\r\n" * 20_000, b"10000\r\n" + b"x" * (1 << 16) + b"\r\n", b""):
                answer = world.raw(HEAD % path + spelling + b"\r\n\r\n" + chunks)
                assert b" 411 " in answer[:15], (spelling, answer[:80])
