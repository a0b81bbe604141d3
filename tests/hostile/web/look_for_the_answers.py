"""Find the answers, the hidden inputs or the seed of a run in anything that the pages or their interface send.

Expected: nothing of the reference, of the secret, or of a seed before the verdict
Stopped by: the same view for the page and its interface; the box holds no answer
"""

import json

from grader.exercise.catalog import ROOT


def everything(world, client):
    told = [client.get(path).text for path in ("/", "/exercise?ex=softmax", "/config", "/gradio_api/info", "/leaderboard", "/leaderboard?ex=softmax", "/work")]
    told.append(world.event(client, "open", query="ex=softmax").text)
    return "\n".join(told)


def control(world):
    assert "keepdim" in (ROOT / "reference" / "softmax.py").read_text()
    assert len(world.service._rules.secret) >= 32


def attack(world):
    client = world.client(world.eve)
    reference = [line.strip() for line in (ROOT / "reference" / "softmax.py").read_text().splitlines()]
    id = world.service.submit(world.eve.user, "softmax", "import time\ntime.sleep(1)\ndef softmax(x): return x")
    seed = str(world.service.submission(world.eve.user, id).seed)
    told = world.follow(client, id).text.split("event: ")
    before = "".join(part for part in told if '"score":' not in part)
    assert seed not in before
    whole = everything(world, client) + "".join(told)
    secrets = [world.service._rules.secret.decode(), world.service.class_code, world.ada.token, "$argon2"]
    assert [secret for secret in secrets if secret in whole] == []
    code = [line for line in reference if len(line) > 25 and not line.startswith(('"', "#", "def", "from", "import"))]
    shown = json.dumps(whole)
    assert [line for line in code if line in whole or line in shown] == []
