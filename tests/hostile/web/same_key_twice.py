"""Hide the file-like dictionary: keys twice, keys in escapes, the whole body in another encoding.

Expected: 400: the guard reads a body as Gradio will
Stopped by: guard (parses, does not search)
Own: yes
"""

import json

HIDDEN = [
    b'{"data": [{"path": 1, "p\\u0061th": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}]}',
    b'{"data": ["x"], "data": [{"path": "/etc/passwd", "meta": {}}]}',
    b'{"data": [{"path": "/etc/passwd", "meta": {}, "meta": {"_type": "gradio.FileData"}}]}',
    json.dumps({"data": [{"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}]}).encode("utf-16"),
    json.dumps({"data": [{"path": "/etc/passwd", "meta": {}}]}).encode("utf-32"),
    b'\xef\xbb\xbf{"data": [{"path": "/etc/passwd", "meta": {}}]}',
    b'{"data": [{"value": {"deep": [[[{"meta": {}, "path": "/proc/self/environ"}]]]}}]}',
]


def control(world):
    assert all(b'"path": "/etc/passwd"' not in body for body in (HIDDEN[0], HIDDEN[3], HIDDEN[4]))  # to who searches only
    assert json.loads(HIDDEN[3])["data"][0]["path"] == "/etc/passwd"


def attack(world):
    client = world.client(world.eve)
    for body in HIDDEN:
        for name in ("refresh", "watch", "cancel"):
            answer = client.post(f"/gradio_api/call/{name}", content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 400, body
            assert "passwd" not in answer.text
