"""A trap below all functions of `ctypes`: no machine code is called by its address any more."""

from __future__ import annotations

import _ctypes
import ctypes
import gc
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from grader.box.traps.hiding import hide

_TP_CALL = 50  # of CPython's stable ABI
_POINTER = ctypes.sizeof(ctypes.c_void_p)
_HEAD = 3 * _POINTER  # of a type object: references, type, size
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
    for kind in list(_kinds(_ctypes.CFuncPtr)):
        if _slot(kind) != as_python_does:
            for place in _places(kind):
                place.value = as_python_does


def _kinds(kind: type) -> Iterator[type]:
    """Yield a class and all that are derived from it."""
    yield kind
    derived: type
    for derived in type.__subclasses__(kind):
        yield from _kinds(derived)


def _namespace(kind: type) -> dict[str, Any]:
    """Return the attributes of a class as the dictionary that they are, which Python itself hands out for reading."""
    (namespace,) = gc.get_referents(vars(kind))
    assert isinstance(namespace, dict)
    return namespace


def _slot(kind: type) -> int:
    """Return the address of the function by which objects of a class are called."""
    asked = ctypes.pythonapi.PyType_GetSlot
    asked.restype, asked.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_int)
    return int(asked(kind, _TP_CALL))


def _places(kind: type) -> Iterator[ctypes.c_void_p]:
    """Yield the field of a class that holds that address; none where this Python keeps it elsewhere."""
    wanted = _slot(kind)
    fields = (ctypes.c_void_p.from_address(id(kind) + _HEAD + index * _POINTER) for index in range(_MOST))
    return itertools.islice((field for field in fields if field.value == wanted), 1)
