"""What becomes of one worker here, as JSON: run as a module by `ordinary_user.py` and `contained.py`."""

from __future__ import annotations

import json

from grader.sandbox.gpu.box import DeviceBox
from tests.sandbox.errand import LIMITS, plan, verdict
from tests.sandbox.test_gpu_workers import ATTEMPTS


def main() -> None:
    """Let an honest submission try everything, and print what was possible."""
    with DeviceBox("cpu") as box:
        box.pool.wait()
        facts = box.pool._coming[0].result().facts
        run = box.run(plan(), ATTEMPTS, LIMITS)
        opened, _ = json.loads(run.output)
        print(json.dumps({"apart": facts["apart"], "verdict": verdict(run), "opened": opened}))


if __name__ == "__main__":
    main()
