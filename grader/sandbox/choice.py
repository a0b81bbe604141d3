"""Which box to run in: the sandbox where this machine has its walls, a plain subprocess where its user accepts that.

A box takes longest of all that a command does, so it can be begun (`begin`) before the command that takes it (`take`)
is imported.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import sys

from grader import stopping
from grader.box.run import Box
from grader.errors import SandboxUnavailable
from grader.sandbox import doctor
from grader.sandbox.handles import ZygoteHandle

# Nothing above brings torch: a local box imports it while its user does.

_BEGUN: list[BoxToCome] = []


class BoxToCome:
    """A box on its way: the walls are tried and a zygote warms up while its user does something else.

    `room` is the memory for all that runs in it together, in bytes; 0 for no limit but that of each run.
    """

    def __init__(self, room: int = 0) -> None:
        self._room = room
        # First what takes longest.
        self._zygote = ZygoteHandle(room) if sys.platform == "linux" else None
        self._examination = doctor.Examination()

    def wait(self, *, allow_plain: bool, allow_one_wall: bool = False) -> Box:
        """Return the safest box that this machine can offer.

        Args:
            allow_plain: take a plain subprocess where the sandbox's floor is missing; for one's own code only.
            allow_one_wall: take a sandbox of tier C, where there is no better one.

        Raises:
            SandboxUnavailable: the floor is missing, and a plain subprocess is not allowed.
        """
        try:
            doctor.require_floor(self._examination.diagnosis(), allow_one_wall=allow_one_wall)
        except SandboxUnavailable:
            if not allow_plain:
                raise
            from grader.sandbox.plain import PlainBox

            return PlainBox()
        if self._zygote is None:  # never reached: only Linux has the floor, and the modules of the import below
            raise SandboxUnavailable("the sandbox needs Linux")
        from grader.sandbox.runner import Sandbox

        box = Sandbox(self._zygote, room=self._room)
        self._zygote = None  # the sandbox's now
        if box.tier == "C" and not allow_one_wall:
            box.close()
            raise SandboxUnavailable("no sandbox on this machine: the doctor found two walls, the zygote has only one")
        return box

    def kill(self) -> None:
        """End what is on its way without waiting for it; a signal handler may do so."""
        self._examination.kill()
        if self._zygote is not None:
            self._zygote.kill()

    def close(self) -> None:
        """End what nobody waited for."""
        self._examination.close()
        if self._zygote is not None:
            self._zygote.close()


def choose_box(allow_plain: bool, *, allow_one_wall: bool = False, room: int = 0) -> Box:
    """Return the safest box that this machine can offer.

    Args:
        allow_plain: take a plain subprocess where the sandbox's floor is missing; for one's own code only.
        allow_one_wall: take a sandbox of tier C, where there is no better one.
        room: the memory for all that runs in a sandbox together, in bytes; 0 for no limit but that of each run.

    Raises:
        SandboxUnavailable: the floor is missing, and a plain subprocess is not allowed.
    """
    with contextlib.closing(BoxToCome(room)) as coming:
        return coming.wait(allow_plain=allow_plain, allow_one_wall=allow_one_wall)


def begin() -> None:
    """Begin a box for one's own files; it is ended with this process if nobody takes it."""
    gc.disable()  # as `grader.local` does, until there is a box
    with contextlib.suppress(OSError):  # no process or descriptor to be had: whoever takes a box is told
        _BEGUN.append(coming := BoxToCome())
        stopping.end_first(coming.kill)
        atexit.register(_end)


def take() -> BoxToCome:
    """Return the box that was begun, or one that begins now; the caller closes it."""
    return _BEGUN.pop() if _BEGUN else BoxToCome()


def _end() -> None:
    for coming in _BEGUN:
        coming.close()
