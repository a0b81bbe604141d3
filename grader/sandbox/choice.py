"""Which box to run in: the sandbox where this machine has its walls, a plain subprocess at a desk that says so."""

from __future__ import annotations

import sys

from grader.box.run import Box
from grader.errors import SandboxUnavailable
from grader.sandbox import doctor
from grader.sandbox.plain import PlainBox


def choose_box(allow_plain: bool) -> Box:
    """Return the safest box that this machine can offer.

    Args:
        allow_plain: take a plain subprocess where the sandbox's floor is missing; for one's own code only.

    Raises:
        SandboxUnavailable: the floor is missing, and a plain subprocess is not allowed.
    """
    try:
        doctor.require_floor()
    except SandboxUnavailable:
        if allow_plain:
            return PlainBox()
        raise
    if sys.platform != "linux":  # never reached: only Linux has the floor; it keeps the import below off other systems
        raise SandboxUnavailable("the sandbox needs Linux")
    from grader.sandbox.runner import Sandbox

    return Sandbox()
