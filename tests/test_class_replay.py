"""Terms with sources: the real sandbox, queue and judge grade them, each at the time of its event."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

WRONG = "import torch\n\n\ndef softmax(x, dim=-1):\n    e = torch.exp(x)\n    return e / e.sum(dim, keepdim=True)\n"
AT, LATER = "2031-12-02T09:00:00+01:00", "2031-12-06T09:00:00+01:00"
CLASS = {"at": AT, "class": "K", "by": "admin"}
ADA = {"class": "K", "by": "ada@school.edu", "person": "ada@school.edu", "assignment": "K-1", "exercise": "softmax"}


def test_a_source_is_graded_before_the_next_event_at_the_time_of_its_own(tmp_path: Path) -> None:
    """From a file beside the events, or in the event; what is no answer uses up no attempt."""
    (tmp_path / "answer.py").write_text(WRONG)
    events = [
        {**CLASS, "do": "class", "name": "K", "zone": "Europe/Berlin", "bank": 1, "sections": []},
        {**CLASS, "do": "import", "csv": "email,name\nada@school.edu,Ada"},
        {**CLASS, "do": "assign", "assignment": "K-1", "items": {"softmax": "10"}, "opens": "2031-12-01T00:00",
         "due": "2031-12-04T23:59", "attempts": 2, "late": {"bank_max": 1, "per_day": "0.5", "cutoff": 2}},
        {"at": AT, "do": "hand_in", **ADA, "id": "s1", "source_file": "answer.py"},
        {"at": AT, "do": "hand_in", **ADA, "id": "s2", "source": "def nothing(): pass"},
        {"at": LATER, "do": "hand_in", **ADA, "id": "s3", "source": WRONG},
        {"at": LATER, "do": "hand_in", **ADA, "id": "s4", "source": WRONG},
        {"at": LATER, "do": "regrade", "class": "K", "by": "admin", "exercise": "softmax", "change": "again",
         "reason": "a look"},
        {"at": LATER, "do": "apply", "class": "K", "by": "admin", "change": "again"},
        {"at": LATER, "do": "grades", "class": "K", "by": "admin"},
    ]  # fmt: skip
    (tmp_path / "term.jsonl").write_text("\n".join(map(json.dumps, events)))
    done = subprocess.run(
        [sys.executable, "-m", "grader", "class", "replay", tmp_path / "term.jsonl", "--json"],
        env={**os.environ, "ATTENTION_GYM_DATA": str(tmp_path / "data"), "ATTENTION_GYM_ALLOW_ONE_WALL": "1"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    (line,) = answers[-1]["people"]
    item = line["cells"]["K-1"]["items"]["softmax"]

    assert (done.returncode, done.stderr) == (0, "")
    assert [answer.get("days_late") for answer in answers[3:6]] == [0, 0, 2]
    assert (answers[6]["code"], answers[6]["used"]) == ("no_attempts", 2)
    assert (item["attempt"], item["days_late"]) == ("s1", 0)
    regraded, applied = answers[-3], answers[-2]
    assert (regraded["gradings"], regraded["waiting"], regraded["attempts"], regraded["cells"]) == (3, 0, [], [])
    assert sum(number for before, after, number in regraded["matrix"] if before == after) == 3
    assert applied["ok"], applied
    assert 0 < float(item["score"]) < 100
