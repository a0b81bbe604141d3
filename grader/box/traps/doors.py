"""Traps in what leads below the other traps: compilers with kernels of their own, and calls of machine code by address.

Covered: the tensor-expression compiler, the static runtime and their settings in `torch._C`, and what would stop the
measuring of memory, replaced in every module that refers to them; and `ctypes`, by whatever name it is reached, by
Python's audit events and in the one place where all of its functions are called. Not covered: memory that is written
by its address, by an array or a union of types that stands over it; so much could be undone.
"""

from __future__ import annotations

import re
import sys
import tracemalloc
import types
from array import array
from collections.abc import Callable, Iterator
from typing import Any

from grader.box.traps.alarm import Alarm
from grader.box.traps.foreign import Foreign
from grader.box.traps.hiding import found, hide

_COMPILERS = ("_te", "_nativert", "_aoti")  # modules of torch._C
_SETTINGS = re.compile(
    r"StaticModule|_\w+_to_static_module|_jit_to_backend\w*|_jit_set_fusion_strategy|"
    r"_jit_(set_|override_|pass_fuse_)\w*(texpr|_te_|tensorexprs|llga|nvfuser|can_fuse)\w*"
)
_MEASURING = ("start", "stop", "reset_peak", "clear_traces")  # of tracemalloc
_EVENTS = frozenset(
    {
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents"),  # by these, a trap could be looked for
        "mmap.__new__",  # memory that nothing measures
    }
)


class Doors:
    """All doors of this process; those to compilers are shut like any trap, the others for good."""

    def __init__(self) -> None:
        """Look up who refers to what."""
        self._places = list(_places())
        self._foreign = Foreign()
        self._before = array("Q")  # addresses, in the order of the places; to forget them frees no object
        self._watch = _Watch()
        sys.addaudithook(self._watch.hook())  # a hook cannot be taken away again, and is found by no search

    def arm(self, alarm: Alarm) -> None:
        """Replace the functions of compilers, and what makes objects of their classes."""
        for holder, name, called in self._places:
            self._before.append(hide(vars(holder)[name]))
            setattr(holder, name, alarm.trap(called))

    def lift(self) -> None:
        """Put back what was there."""
        for (holder, name, _), address in zip(self._places, self._before, strict=True):
            setattr(holder, name, found(address))
        self.settle()

    def settle(self) -> None:
        """Forget what was there, so that nobody finds it."""
        del self._before[:]

    def close(self, alarm: Alarm) -> None:
        """Let nothing be called through `ctypes` any more, in this process; done last, since the others need it."""
        self._foreign.close(alarm.trap("ctypes"))
        self._watch.alarm = alarm


class _Watch:
    """Hears of every audit event; of those that lead below the traps it tells, once there is somebody to tell."""

    __slots__ = ("alarm",)

    def __init__(self) -> None:
        self.alarm: Alarm | None = None

    def hook(self) -> Callable[[str, tuple[object, ...]], None]:
        """Return what Python is to call at each event."""

        def heard(event: str, _arguments: tuple[object, ...]) -> None:
            if self.alarm is not None and (event in _EVENTS or event.startswith("ctypes.")):
                self.alarm.trap("ctypes" if event.startswith("ctypes.") else event)()

        return heard


def _places() -> Iterator[tuple[Any, str, str]]:
    """Yield each object that refers to what is to be trapped, with the attribute and what a student calls it."""
    import torch  # here and not above: whoever reads a specification needs the names of the groups only

    doors: dict[int, str] = {}
    for name in _COMPILERS:
        for inner, thing in vars(getattr(torch._C, name, types.SimpleNamespace())).items():
            doors |= {id(thing): f"torch._C.{name}.{inner}"} if callable(thing) else {}
    doors |= {id(thing): f"torch._C.{name}" for name, thing in vars(torch._C).items() if _SETTINGS.fullmatch(name)}
    doors |= {id(vars(tracemalloc)[name]): f"tracemalloc.{name}" for name in _MEASURING}
    others: list[Any] = [module for name, module in sys.modules.items() if name.partition(".")[0] != "grader"]
    for module in others:
        for name, thing in list(getattr(module, "__dict__", {}).items()):
            called = doors.get(id(thing), "")
            if called and not isinstance(thing, type):
                yield module, name, called
            elif called and "__init__" in vars(thing):
                del doors[id(thing)]  # once is enough: nobody refers to its `__init__` but the class itself
                yield thing, "__init__", called
