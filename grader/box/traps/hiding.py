"""Objects that are never freed. A search through objects finds none of them; one through memory does until `erase`."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

_POINTER = ctypes.sizeof(ctypes.c_void_p)
_HEAD = 2 * _POINTER  # of an object: references, type


def hide(thing: object) -> int:
    """Make `thing` immortal and return its address; nothing but the address leads to it.

    Nothing is freed where it is forgotten in a fork, either: to free is to write, and each page that is written to is
    copied first.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    if gc.is_tracked(thing):
        ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(thing))
    return id(thing)


def found(address: int) -> Any:
    """Return the object that was hidden at `address`."""
    return ctypes.cast(address, ctypes.py_object).value


def erase(address: int) -> None:
    """Empty the object that was hidden at `address`: who reads through all memory finds nothing to be used there.

    Only for an object that nobody else refers to.
    """
    size = type(found(address)).__basicsize__
    ctypes.c_void_p.from_address(address + _POINTER).value = id(object)  # its type
    ctypes.memset(address + _HEAD, 0, size - _HEAD)
