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
        answer = world.event(client, "watch", id)
        world.harmless(answer)
        assert answer.text.count("event: error") == 0
    for text in (b'"\\ud800"', b'"\\u0000"', b'"a\\udfffb"', b'"\\ud83d\\u0000"'):
        for name, inputs in (("watch", 1), ("resume", 1), ("cancel", 1), ("refresh", 1), ("submit", 2)):
            body = b'{"data": [' + b", ".join([text] * inputs) + b"]}"
            sent = client.post(f"/gradio_api/call/{name}", content=body, headers=JSON)
            answer = world.followed(client, name, sent)
            world.harmless(answer)
            assert "event: error" not in answer.text, (name, text)
