"""Traps in what leads below the other traps, and notices of what leads to Python's internals.

Trapped are compilers with kernels of their own (the tensor-expression compiler, the static runtime, and their settings
in `torch._C`) and what would stop the measuring of memory, replaced in every module that refers to them; `ctypes`, by
whatever name it is reached, by Python's audit events and in the one place where all of its functions are called; and
methods that give a tensor memory at any address, or take memory away from one that goes on using it. Not covered:
memory that is written by its address in other ways, by an array or a union of types that stands over it, or by
`torch.Tensor(cdata=…)`; so much could be undone.

Noticed, and let through, are text that is run as code, frames, and the names of a module that a function stands in,
however that was spelled: reading a source sees who names them, and nobody sees a name that is put together. So the one
who asks for them is looked at: a library names what it asks for in its own code, and a submission has no business there
at all. Objects of ours stay out of sight.
"""

from __future__ import annotations

import _ctypes
import collections
import ctypes
import dataclasses
import gc
import inspect
import itertools
import logging
import re
import sys
import timeit
import traceback
import tracemalloc
import types
from _thread import get_ident
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from grader.box.traps.trapping import POINTER, Alarm, Held, Vault, erase, forget, found, hide, is_alone

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
        self._places = list(_doors())
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
        for kind, called, names in _trapped_methods():
            replace(kind, {name: alarm.trap(f"{called}.{name}") for name in names})
        self._foreign.close(alarm.trap("ctypes"))
        self._watch.alarm = alarm


class _Watch:
    """Hears of every audit event; of those that lead below the traps it tells, once there is somebody to tell."""

    __slots__ = ("_allowed", "_notices", "alarm")

    def __init__(self, allowed: types.CodeType, notices: Noticing) -> None:
        self.alarm: Alarm | None = None
        self._allowed, self._notices = allowed, notices

    def hook(self) -> Callable[[str, tuple[object, ...]], None]:

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


def _trapped_methods() -> Iterator[tuple[type, str, tuple[str, ...]]]:
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


def _doors() -> Iterator[tuple[Any, str, str]]:
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


# Events of Python's, with what is told: these run text, or make code.
_RUNNING = {
    "exec": "text that is run as code",
    "compile": "text that is run as code",
    "code.__new__": "code that is put together",
    "function.__new__": "code that is put together",
    "marshal.loads": "code that is put together",
    "pickle.find_class": "pickled objects",
}
_NAMES = {
    f"sys.{name}": name for name in ("_getframe", "_current_frames", "settrace", "setprofile", "addaudithook")
}  # of functions that Python tells of
_FRAME = "_getframe"
_ATTRIBUTES = ("object.__getattr__", "object.__setattr__")
_ASKED = frozenset(
    {"tb_frame", "gi_frame", "cr_frame", "ag_frame", "gi_code", "cr_code", "ag_code", "__code__"}
)  # Python tells of these attributes itself
# And not of these, of functions and frames: the objects of a library may hand out frames, as a task of asyncio's does.
_INNER = {
    types.FunctionType: ("__globals__", "__builtins__", "__closure__"),
    types.FrameType: ("f_globals", "f_builtins", "f_locals", "f_back"),
}
_SPACES = {types.FunctionType: "__globals__", types.FrameType: "f_globals"}
# Where a library runs text that nobody but itself has written, or that reading has read; and where it hands out frames.
_OWN_TEXT = frozenset(module.__file__ or "" for module in (dataclasses, collections, timeit))
_HANDING = frozenset(module.__file__ or "" for module in (inspect, logging, traceback))
_SUBMISSION, _OURS, _IMPORTING = "<submission>", "grader.", "<frozen importlib"
# Taken here, since a submission may put others in their place.
_attributes, _text, _thread = vars, str, get_ident
_new_cell, _collects, _pause, _resume = types.CellType, gc.isenabled, gc.disable, gc.enable
_back = vars(types.FrameType)["f_back"].__get__  # as it is before a look at it is told


class Noticing:
    """Whom to tell, once there is somebody."""

    __slots__ = ("_looking", "imports", "told")

    def __init__(self) -> None:
        """Tell nobody yet, and put up what Python does not tell of."""
        self.told: Callable[[str], None] | None = None
        self._looking: set[int] = set()  # threads that ask for a frame here, of which Python tells as well
        self.imports = True  # whether modules may still come, from a place where no submission has written
        for kind, names in _INNER.items():
            replace(kind, {name: property(self._given(kind, name)) for name in names})
        replace(type, {"__subclasses__": _others_of(type.__subclasses__)})

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take note of an event of Python's, from within the hook that hears of it."""
        name = arguments[1] if event in _ATTRIBUTES else _NAMES.get(event, "")
        thread = _thread()
        if not (name in _ASKED or event in _NAMES or event in _RUNNING) or (name == _FRAME and thread in self._looking):
            return
        collects = _collects()
        _pause()  # a collection could run code of the submission here, which nobody would look at
        try:
            self._looking.add(thread)
            frame = _frame_at(2)
            self._looking.discard(thread)
            if event in _RUNNING:
                self._look_at_text(event, frame)
            else:
                self._look(name, event if event in _NAMES else name, frame)
        finally:
            if collects:
                _resume()

    def _look(self, name: str, what: str, frame: types.FrameType) -> None:
        """Tell of `what` unless the code that asks for it is ours, or is a library's and names it."""
        code, asker = frame.f_code, _back(frame)
        if self.told is None or code.co_filename.startswith(_OUR_FILES):
            return
        handed = code.co_filename in _HANDING and asker is not None and asker.f_code.co_filename == _SUBMISSION
        if handed or _is_text(code.co_filename) or name not in (*code.co_names, *code.co_consts):
            self.told(what)

    def _look_at_text(self, event: str, frame: types.FrameType) -> None:
        """Tell of text that is run, but for a library's own; to make a tree or code of it is left to libraries."""
        file = frame.f_code.co_filename
        if event == "exec":
            is_own = file in _OWN_TEXT or file.startswith(_OUR_FILES) or (self.imports and _is_imported(frame))
        else:  # who loads no module from a file has its text from elsewhere
            is_file = not _is_text(file) and (self.imports or not file.startswith(_IMPORTING))
            is_own = event != "pickle.find_class" and is_file
        if self.told is not None and not is_own:
            self.told(_RUNNING[event])

    def _given(self, kind: type, name: str) -> Callable[[Any], Any]:
        """Return what gives an attribute of a function or frame, and tells of it.

        Of a function or frame of ours there is nothing to be had: libraries look into whatever they are asked to.
        """
        before, is_ours = vars(kind)[name].__get__, _ours_of(kind)

        def given(thing: Any) -> Any:
            if self.told is None:
                return before(thing)
            frame = _frame_at(1)
            self._look(name, name, frame)
            hidden = name != "f_back" and is_ours(thing) and not frame.f_code.co_filename.startswith(_OUR_FILES)
            if not hidden:
                return before(thing)
            return _emptied(before(thing)) if name == "__closure__" else {}

        return given


def _emptied(cells: tuple[types.CellType, ...] | None) -> tuple[types.CellType, ...]:
    """Return as many cells as a function has, for whoever counts them."""
    return (*(_new_cell(None) for _ in cells or ()),)


_ROOT = __file__.removesuffix("box/traps/internals.py")
_OUR_FILES = (_ROOT, "<grader.")  # the latter of what travels with a job


def _ours_of(kind: type) -> Callable[[Any], bool]:
    """Return what says whether a function or frame is of a module of ours."""
    space = vars(kind)[_SPACES[kind]].__get__
    return lambda thing: _text(space(thing).get("__name__")).startswith(_OURS)


def _others_of(before: Callable[[type], list[type]]) -> Callable[[type], list[type]]:

    def given(kind: type) -> list[type]:
        return [one for one in before(kind) if not _text(_attributes(one).get("__module__")).startswith(_OURS)]

    return given


def _is_imported(frame: types.FrameType | None) -> bool:
    """Return whether code runs since a module is imported, which is late where no zygote has imported it."""
    while frame is not None and frame.f_code.co_filename != _SUBMISSION:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            return True
        frame = _back(frame)
    return False


def _is_text(file: str) -> bool:
    """Return whether code was made of a text: a submission's, or any other that is neither a library's nor ours."""
    return file.startswith("<") and not file.startswith(("<frozen ", "<grader."))


_TP_CALL = 50  # of CPython's stable ABI
_HEAD = 3 * POINTER  # of a type object: references, type, size
_MOST = 40  # fields of a type object that are looked through for the one that says how it is called


class Foreign:
    """The classes of foreign functions, made so that they look up `__call__` whenever one of them is called."""

    def __init__(self) -> None:
        """Exchange how they are called; it works as before, only that Python looks up the way each time."""
        self._namespace = _namespace(_ctypes.CFuncPtr)
        _look_up()

    def close(self, trap: Callable[..., NoReturn]) -> None:
        """Exchange what they find there, for good."""
        _look_up()  # in classes that were made since
        hide(self._namespace["__call__"])
        modified = ctypes.pythonapi.PyType_Modified
        modified(ctypes.py_object(_ctypes.CFuncPtr))  # forgets what was looked up; nothing may look it up in between
        self._namespace["__call__"] = trap
        self._namespace = {}


def replace(kind: type, attributes: Mapping[str, Any]) -> None:
    """Put attributes of a class into the place of its own, where Python would not allow it; before `Foreign.close`."""
    namespace = _namespace(kind)
    for name in attributes.keys() & namespace.keys():
        hide(namespace[name])
        namespace[name] = attributes[name]
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


class _Called:
    """Has a `__call__` of Python's, and with it the function of the interpreter that looks one up."""

    def __call__(self) -> None:
        raise NotImplementedError


def _look_up() -> None:
    """Have every class of foreign functions look up `__call__`, as classes do that are written in Python."""
    as_python_does = _slot(_Called)
    for kind in list(_derived(_ctypes.CFuncPtr)):
        if _slot(kind) != as_python_does:
            for place in _call_fields(kind):
                place.value = as_python_does


def _derived(kind: type) -> Iterator[type]:
    yield kind
    derived: type
    for derived in type.__subclasses__(kind):
        yield from _derived(derived)


def _namespace(kind: type) -> dict[str, Any]:
    """Return the attributes of a class as the dictionary that they are, which Python itself hands out for reading."""
    (namespace,) = gc.get_referents(vars(kind))
    assert isinstance(namespace, dict)
    return namespace


def _slot(kind: type) -> int:
    asked = ctypes.pythonapi.PyType_GetSlot
    asked.restype, asked.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_int)
    return int(asked(kind, _TP_CALL))


def _call_fields(kind: type) -> Iterator[ctypes.c_void_p]:
    """Yield the field of a class that holds that address; none where this Python keeps it elsewhere."""
    wanted = _slot(kind)
    fields = (ctypes.c_void_p.from_address(id(kind) + _HEAD + index * POINTER) for index in range(_MOST))
    return itertools.islice((field for field in fields if field.value == wanted), 1)
