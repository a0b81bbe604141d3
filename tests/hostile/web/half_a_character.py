"""Break what encodes text: halves of pairs, zeros and bytes that are no UTF-8, in source, ids and names.

Expected: rejected as a file that cannot be read; ids that are none
Stopped by: the service (form of an id), the box, cleaning
"""

import pytest

JSON = {"Content-Type": "application/json"}


def control(world):
    with pytest.raises(UnicodeEncodeError):
        "\ud800".encode()


def attack(world):
    client = world.client(world.eve)
    for source in ("x = '\ud800'", "\0", "x = 1\0", b"\xff\xfe\x00", b"# coding: utf-16\nx", "\udcff" * 100):
        id = world.graded(world.eve, source)
        assert world.service.submission(world.eve.user, id).report.score == 0.0
        answer = world.follow(client, id)
        world.harmless(answer)
        assert [name for name, _ in answer.parts][-1] == "board"
    for text in (b'"\\ud800"', b'"\\u0000"', b'"a\\udfffb"', b'"\\ud83d\\u0000"'):
        for name, inputs in (("cancel", 1), ("submit", 2)):
            body = b'{"session_hash": "s", "data": [' + b", ".join([text] * inputs) + b"]}"
            answer = client.post(f"/gradio_api/run/{name}", content=body, headers=JSON)
            world.harmless(answer)
            assert answer.status_code == 200, (name, text)
    for id in ("%ed%a0%80", "%00", "%ff", "a" * 65):
        assert client.get(f"/runs/{id}").status_code == 404, id
