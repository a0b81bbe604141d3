"""Traps for ready-made operations: in an exercise about attention, calling attention ends the call.

The traps sit in torch's dispatcher, below Python, in the place of every kernel that an operation has, so that
`getattr`, `torch.ops`, a saved reference or a profiler's detour reach them too. Where a ready-made answer is itself
composed of harmless operations, the code of the Python function is exchanged, so that whoever kept the function keeps a
trap. They hold for the life of the process; only a process that runs one submission installs them.

Code in this process can undo anything in this process. The traps raise the price; they are no wall.
"""

from __future__ import annotations

import functools
from typing import Protocol

from grader.box.traps.alarm import Alarm as Alarm
from grader.box.traps.alarm import Told as Told
from grader.box.traps.doors import Doors
from grader.box.traps.functions import Functions
from grader.box.traps.groups import BELOW, complete
from grader.box.traps.groups import GROUPS as GROUPS
from grader.box.traps.groups import Group as Group
from grader.box.traps.groups import check as check
from grader.box.traps.operators import Operators

_USUAL = "attention"  # forbidden in nearly every exercise, so it is trapped before the fork
_BELOW = "below"  # and so is what leads below the traps of any group


def prepare() -> None:
    """Do in the zygote what every child would have to do: trap the usual group, and find what the others need."""
    for name in (_USUAL, _BELOW):
        _armoury().arm(name)
        _armoury().stow(name)
    _armoury().end_imports()


def install(groups: tuple[str, ...], told: Told | None = None, noticed: Told | None = None) -> None:
    """Trap every operation of `groups` in this process, for good; a trapped call raises `ForbiddenCall`.

    Args:
        groups: by name.
        told: is called with the operation's name just before that.
        noticed: is called with what leads to Python's internals, just before it is let through.

    Raises:
        AuthorError: there is no such group.
    """
    _armoury().keep(complete(groups), told, noticed)


def tell_late() -> None:
    """Tell of a trapped call that could not be told when it happened; asked for outside of the submission's code."""
    _armoury().alarm.tell_late()


class _Traps(Protocol):
    """Traps that go up together."""

    def arm(self, alarm: Alarm) -> None: ...
    def stow(self) -> None: ...
    def lift(self) -> None: ...
    def settle(self) -> None: ...


class _Armoury:
    """The traps of this process: those that are up, and all that is needed to put up or take down one more."""

    def __init__(self) -> None:
        self.alarm = Alarm()
        self._doors = Doors()
        functions = Functions.find({**GROUPS, _BELOW: BELOW})
        self._traps: dict[str, tuple[_Traps, ...]] = {
            name: (Operators(group), functions[name]) for name, group in GROUPS.items()
        } | {_BELOW: (self._doors, Operators(BELOW), functions[_BELOW])}
        self._armed: set[str] = set()

    def arm(self, name: str) -> None:
        if name not in self._armed:
            for traps in self._traps[name]:
                traps.arm(self.alarm)
            self._armed.add(name)

    def stow(self, name: str) -> None:
        """Destroy what the traps of `name` replaced; it can still be put back."""
        for traps in self._traps[name]:
            traps.stow()

    def end_imports(self) -> None:
        """Take all that is imported from now on for a submission's."""
        self._doors.notices.imports = False

    def keep(self, names: frozenset[str], told: Told | None, noticed: Told | None) -> None:
        """Have the traps of `names` up, no others, and nothing left that could lift them."""
        wanted = names | {_BELOW} if names else names
        for name in sorted(wanted):
            self.arm(name)
        for name in self._armed - wanted:
            for traps in self._traps[name]:
                traps.lift()
        for name in wanted:
            for traps in self._traps[name]:
                traps.settle()
        if told is not None:
            self.alarm.told = told
        if wanted:
            self._doors.close(self.alarm)
            self._doors.notices.told = noticed


@functools.cache  # one for the process, as the dispatcher is
def _armoury() -> _Armoury:
    return _Armoury()
