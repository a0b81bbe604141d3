"""What a trap does, and what becomes of what it replaced.

A trap tells somebody, and raises. What it replaced is kept where no search through objects finds it, and destroyed
where it lies: a search through memory would find it. So before a submission runs, `blank` takes the program out of
code, and `erase` empties an object; what may still be put back lies in a `Vault` until then.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import struct
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from grader.errors import ForbiddenCall

Told = Callable[[str], None]  # called with the name of the operation, as a student knows it


class Alarm:
    """Where all traps of a process ring; `told` may come later than they do."""

    __slots__ = ("_untold", "told")

    def __init__(self) -> None:
        self.told: Told = _nobody
        self._untold: str | None = None

    def trap(self, called: str) -> Callable[..., NoReturn]:
        """Return a function that takes anything and raises `ForbiddenCall`, after it was told."""

        def trapped(*_arguments: object, **_options: object) -> NoReturn:
            self._untold = called  # to tell may take more stack or memory than the submission has left
            self.told(called)
            self._untold = None
            raise ForbiddenCall(called)

        return trapped

    def tell_late(self) -> None:
        """Tell what could not be told when it happened."""
        if self._untold is not None:
            self.told(self._untold)
            self._untold = None


def _nobody(_called: str) -> None:
    return


POINTER = ctypes.sizeof(ctypes.c_void_p)
_CONTENT = bytes.__basicsize__ - 1  # where the bytes of a `bytes` begin
_HEADER = struct.Struct("QQ")  # of a piece in a vault: address, size


class Held(NamedTuple):
    """What was at an address before it was overwritten."""

    address: int
    data: bytes


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


def is_alone(address: int) -> bool:
    """Return whether nobody refers to the object that was hidden at `address`."""
    return ctypes.c_ssize_t.from_address(address).value == 1


def erase(address: int) -> list[Held]:
    """Empty the object that was hidden at `address`, and return what it held.

    Only for an object that nobody else refers to.
    """
    size = type(found(address)).__basicsize__ - POINTER
    empty = id(object).to_bytes(POINTER, sys.byteorder) + bytes(size - POINTER)  # of another type
    return [_overwrite(address + POINTER, empty)]


def blank(address: int) -> list[Held]:
    """Overwrite the program of the code at `address`, and return it; from now on a call of it is an error."""
    code = found(address)
    enter, fail, size = _RAISES[:2], _RAISES[2:4], len(code.co_code)
    held = [_overwrite(address + type(code).__basicsize__, enter + fail * (size // len(fail) - 1))]
    if (copied := code.co_code) is code.co_code:  # Python keeps this copy with the code
        held.append(_overwrite(id(copied) + _CONTENT, bytes(size)))
    return held


def _raises() -> None:
    raise  # the shortest program that ends in an error, and needs no constants


_RAISES = _raises.__code__.co_code


class Vault:
    """What was overwritten, in memory pages of their own: closed, they are gone, at the price of a system call."""

    def __init__(self, held: list[Held]) -> None:
        whole = b"".join(_HEADER.pack(one.address, len(one.data)) + one.data for one in held)
        self._pages = mmap.mmap(-1, len(whole), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._pages.write(whole)
        forget([*held, Held(0, whole)])

    def restore(self) -> None:
        """Put everything back where it was."""
        at = 0
        while at < len(self._pages):
            address, size = _HEADER.unpack_from(self._pages, at)
            at += _HEADER.size + size
            ctypes.memmove(address, self._pages[at - size : at], size)

    def close(self) -> None:
        """Give the pages back to the kernel."""
        self._pages.close()


def forget(held: list[Held]) -> None:
    """Overwrite what was held: memory that is freed keeps what was in it."""
    for _, data in held:
        ctypes.memset(id(data) + _CONTENT, 0, len(data))


def _overwrite(address: int, data: bytes) -> Held:
    held = Held(address, ctypes.string_at(address, len(data)))
    ctypes.memmove(address, data, len(data))
    return held
