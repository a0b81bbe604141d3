"""Objects that live for ever, and that no search through Python's own objects finds."""

from __future__ import annotations

import ctypes
import gc
from typing import Any


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
