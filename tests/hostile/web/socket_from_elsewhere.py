"""Open a web socket from another site: it is not asked for its origin, and brings the victim's cookie.

Expected: no upgrade
Stopped by: guard (no page of ours uses one)
Own: yes
"""

HEAD = (
    b"GET %s HTTP/1.1\r\nHost: gym.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: https://evil.example\r\n\r\n"
)


def control(world):
    plain = b"GET /health HTTP/1.1\r\nHost: gym.example\r\nConnection: close\r\n\r\n"
    assert b" 200 " in world.raw(plain)[:15]


def attack(world):
    for path in (b"/queue/join", b"/gradio_api/run/open", b"/runs/0", b"/", b"/teach/", b"/health"):
        answer = world.raw(HEAD % path, wait=0.5)
        assert b" 101 " not in answer[:15]
        h2c = world.raw(HEAD.replace(b"websocket", b"h2c") % path, wait=0.5)
        assert b" 101 " not in h2c[:15]
