"""Hand in what grows when it is opened: a notebook of many cells, a packed file, source that nests, a body in gzip.

Nothing here opens archives or notebooks: source is text, and text that is no Python is refused by the parser in the box.

Expected: refused or rejected, and nothing is unpacked
Stopped by: size cap, guard, the box
"""

import gzip
import io
import json
import zipfile

NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": ["x = 1\n"]}] * 3000, "nbformat": 4})
GZIP = gzip.compress(b'{"data": ["softmax"], "session_hash": "s"}' + b" " * 10_000_000)


def archive():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("attention.py", b"0" * 10_000_000)
    return file.getvalue()


def control(world):
    assert len(json.loads(NOTEBOOK)["cells"]) == 3000
    assert len(gzip.decompress(GZIP)) > 100 * len(GZIP)


def attack(world):
    client = world.client(world.eve)
    for source in (NOTEBOOK, "(" * 5000, "x = " + "-" * 50_000 + "1", "f'" + "{" * 3000):
        id = world.graded(world.eve, source)
        found = world.service.submission(world.eve.user, id)
        assert found.report.score == 0.0
        assert not found.report.incident, (source[:10], found.report.reason)
    world.harmless(world.event(client, "submit", "softmax", archive().decode("latin-1")))
    world.ended(world.eve, world.service.attempts(world.eve.user)[0].id)
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = client.post("/gradio_api/run/cancel", content=GZIP, headers=headers)
    assert answer.status_code == 400
