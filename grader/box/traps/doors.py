"""Traps in what leads below the other traps: compilers with kernels of their own, and calls of machine code by address.

Covered: the tensor-expression compiler, the static runtime and their settings in `torch._C`, and what would stop the
measuring of memory, replaced in every module that refers to them; and `ctypes`, by whatever name it is reached, by
Python's audit events and in the one place where all of its functions are called; and methods that give a tensor memory
at any address, or take memory away from one that goes on using it. Not covered: memory that is written by its address
in other ways, by an array or a union of types that stands over it, or by `torch.Tensor(cdata=…)`; so much could be
undone.
"""

from __future__ import annotations

import re
import sys
import tracemalloc
import types
from array import array
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from grader.box.traps.alarm import Alarm
from grader.box.traps.foreign import Foreign, replace
from grader.box.traps.hiding import Held, Vault, erase, forget, found, hide, is_alone
from grader.box.traps.noticing import Noticing

_COMPILERS = ("_te", "_nativert", "_aoti")  # modules of torch._C
_SETTINGS = re.compile(
    r"_construct_storage_from_data_pointer|_construct_CUDA_Tensor\w*|StaticModule|_\w+_to_static_module|"
    r"_jit_to_backend\w*|_jit_set_fusion_strategy|"
    r"_jit_(set_|override_|pass_fuse_)\w*(texpr|_te_|tensorexprs|llga|nvfuser|can_fuse)\w*"
)
_MEASURING = ("start", "stop", "reset_peak", "clear_traces")  # of tracemalloc
# Methods that take an address, of memory or of another storage, or give back memory that a tensor goes on using. A
# wrapper has no memory: its offset alone says where it reads and writes.
_STORAGE = (
    *("_resize_with_addr_", "_set_cdata", "_new_with_weak_ptr", "_free_weak_ref", "_expired", "_set_from_file"),
    "resize_",
)
_TENSOR = ("_make_wrapper_subclass", "_make_dtensor")
_ARRAY = ("resize", "__setstate__")
_frame_at, _tracing = sys._getframe, tracemalloc.is_tracing  # taken here: a submission may put others in their place
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
        self._vault: Vault | None = None
        self._before = array("Q")  # addresses, in the order of the places; to forget them frees no object
        self.notices = Noticing()
        self._watch = _Watch(_searcher(), self.notices)
        sys.addaudithook(self._watch.hook())  # a hook cannot be taken away again, and is found by no search

    def arm(self, alarm: Alarm) -> None:
        """Replace the functions of compilers, and what makes objects of their classes."""
        for holder, name, called in self._places:
            self._before.append(hide(vars(holder)[name]))
            trap = alarm.trap(called)
            setattr(holder, name, _while_measuring(trap) if called.startswith("tracemalloc.") else trap)

    def stow(self) -> None:
        """Put what was there into a vault, and empty it where it is."""
        self._vault = Vault(self._erase())

    def lift(self) -> None:
        """Put back what was there."""
        assert self._vault is not None
        self._vault.restore()
        for (holder, name, _), address in zip(self._places, self._before, strict=True):
            setattr(holder, name, found(address))
        self.settle()

    def settle(self) -> None:
        """Forget what was there, and empty it, so that nobody finds it."""
        if self._vault is not None:
            self._vault.close()
        else:
            forget(self._erase())
        del self._before[:]

    def _erase(self) -> list[Held]:
        """Empty what nobody else refers to: what measures memory is ours to call as before."""
        return [held for address in self._before if is_alone(address) for held in erase(address)]

    def close(self, alarm: Alarm) -> None:
        """Let nothing be called through `ctypes` any more, in this process; done last, since the others need it."""
        for kind, called, names in _kinds():
            replace(kind, {name: alarm.trap(f"{called}.{name}") for name in names})
        self._foreign.close(alarm.trap("ctypes"))
        self._watch.alarm = alarm


class _Watch:
    """Hears of every audit event; of those that lead below the traps it tells, once there is somebody to tell."""

    __slots__ = ("_allowed", "_notices", "alarm")

    def __init__(self, allowed: types.CodeType, notices: Noticing) -> None:
        """Let only the code `allowed` go through all objects."""
        self.alarm: Alarm | None = None
        self._allowed, self._notices = allowed, notices

    def hook(self) -> Callable[[str, tuple[object, ...]], None]:
        """Return what Python is to call at each event."""

        def heard(event: str, arguments: tuple[object, ...]) -> None:
            if self._notices.told is not None:
                self._notices.hear(event, arguments)
            if self.alarm is not None and (event in _EVENTS or event.startswith("ctypes.")):
                if event.startswith("gc.") and _frame_at(1).f_code is self._allowed:
                    return
                self.alarm.trap("ctypes" if event.startswith("ctypes.") else event)()

        return heard


def _while_measuring(trap: Callable[..., NoReturn]) -> Callable[..., None]:
    """Return what springs a trap while memory is measured; else it does nothing, as a demonstration may measure too."""

    def asked(*_arguments: object, **_options: object) -> None:
        if _tracing():
            trap()

    return asked


def _kinds() -> Iterator[tuple[type, str, tuple[str, ...]]]:
    """Yield each class that has methods to trap, with what a student calls it."""
    import numpy  # as below
    import torch

    yield torch._C.StorageBase, "torch.UntypedStorage", _STORAGE
    yield torch._C.TensorBase, "torch.Tensor", _TENSOR
    yield numpy.ndarray, "numpy.ndarray", _ARRAY


def _searcher() -> types.CodeType:
    """Return the code of ours that measures memory, and has to find it first."""
    from grader.box.measuring import owners  # here and not above, since it brings torch

    return owners.__code__


def _places() -> Iterator[tuple[Any, str, str]]:
    """Yield each object that refers to what is to be trapped, with the attribute and what a student calls it."""
    import torch  # here and not above: whoever reads a specification needs the names of the groups only

    doors: dict[int, str] = {}
    for name in _COMPILERS:
        for inner, thing in vars(getattr(torch._C, name, types.SimpleNamespace())).items():
            doors |= {id(thing): f"torch._C.{name}.{inner}"} if callable(thing) else {}
    doors |= {id(thing): f"torch._C.{name}" for name, thing in vars(torch._C).items() if _SETTINGS.fullmatch(name)}
    guards = torch._C._dynamo.guards  # two functions there give views that end nowhere
    doors |= {id(thing): f"{guards.__name__}.{name}" for name, thing in vars(guards).items() if "reinterpret" in name}
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
