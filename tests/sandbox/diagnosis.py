"""What the doctor finds where this runs; a program, started by test_doctor, that prints JSON."""

from __future__ import annotations

import json

from grader.sandbox import doctor


def main() -> None:
    """Print the tier and what is wrong with each wall that does not hold."""
    found = doctor.probe()
    print(
        json.dumps({"tier": found.tier, "missing": {wall.name: wall.detail for wall in found.walls if not wall.bites}})
    )


if __name__ == "__main__":
    main()
