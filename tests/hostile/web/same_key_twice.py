"""Hide the file-like dictionary: keys twice, keys in escapes, the whole body in another encoding.

Expected: 400: the guard reads a body as Gradio will
Stopped by: guard (parses, does not search, and takes texts only)
Own: yes
"""

import json

FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
HIDDEN = [
    b'{"session_hash": "s", "data": [{"path": 1, "p\\u0061th": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}]}',
    b'{"session_hash": "s", "data": ["x"], "data": [{"path": "/etc/passwd", "meta": {}}]}',
    b'{"session_hash": "s", "data": [{"path": "/etc/passwd", "meta": {}, "meta": {"_type": "gradio.FileData"}}]}',
    json.dumps({"session_hash": "s", "data": [FILE]}).encode("utf-16"),
    json.dumps({"session_hash": "s", "data": [FILE]}).encode("utf-32"),
    b'\xef\xbb\xbf{"session_hash": "s", "data": [{"path": "/etc/passwd", "meta": {}}]}',
    b'{"session_hash": "s", "data": [{"value": {"deep": [[[{"meta": {}, "path": "/proc/self/environ"}]]]}}]}',
]


def control(world):
    assert all(b'"path": "/etc/passwd"' not in body for body in (HIDDEN[0], HIDDEN[3], HIDDEN[4]))  # to who searches only
    assert json.loads(HIDDEN[3])["data"][0]["path"] == "/etc/passwd"


def attack(world):
    client = world.client(world.eve)
    for body in HIDDEN:
        answer = client.post("/gradio_api/run/cancel", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400, body
        assert answer.text in ("The inputs of an event must be strings.", "The body is not valid JSON."), body
