"""What the sandbox is worth where this runs; a program, started by test_elsewhere, that prints JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

from grader.sandbox import doctor
from grader.sandbox.runner import Sandbox
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict

_ATTACKS = (
    *("fork_bomb", "kill_everybody", "read_passwd", "call_home", "memory_hog", "forged_zeros", "signal_by_owned_pipe"),
    *("trace_the_zygote", "infinite_loop", "segfault"),
)


def main() -> None:
    """Run the doctor, an honest submission, and some attacks, each followed by an honest submission again."""
    hostile = Path(__file__).resolve().parents[1] / "hostile"
    tier = doctor.require_floor().tier
    with Sandbox() as sandbox:
        story = {
            "user": os.getuid(),
            "tier": tier,
            "box": sandbox.name,
            "honest": verdict(sandbox.run(plan(), HONEST, LIMITS)),
        }
        for attack in _ATTACKS:
            story[attack] = verdict(sandbox.run(plan(), (hostile / f"{attack}.py").read_text(), LIMITS))
            story[f"after {attack}"] = verdict(sandbox.run(plan(), HONEST, LIMITS))
    print(json.dumps(story))


if __name__ == "__main__":
    main()
