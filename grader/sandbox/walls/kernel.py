"""The few kernel calls that Python 3.11 does not wrap, by ctypes."""

from __future__ import annotations

import ctypes
import functools
import os

_MNT_DETACH = 2


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(value: int, what: str) -> int:
    if value < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return value


@functools.cache
def _held() -> ctypes.PyDLL:
    """Return the C library, called without letting go of the interpreter."""
    return ctypes.PyDLL(None, use_errno=True)


def fork() -> int:
    """Fork, without what Python does for other threads at a fork; return as `os.fork` does.

    Python makes new locks then for its threads and loggers, and seeds `random` anew: where there is one thread and no
    lock is in use, 270 page faults for nothing. What is drawn from `random` goes on from where this process stands.

    Raises:
        OSError: the kernel refused.
    """
    return _checked(_held().fork(), "fork")


def prctl(option: int, *arguments: int) -> int:
    """Call prctl(2) with up to four whole-number arguments.

    Raises:
        OSError: the kernel refused.
    """
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return _checked(_libc().prctl(option, *(ctypes.c_ulong(value) for value in padded)), f"prctl {option}")


def syscall(number: int, *arguments: int | ctypes.c_void_p | None) -> int:
    """Make a system call by its number.

    Raises:
        OSError: the kernel refused.
    """
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return _checked(_libc().syscall(ctypes.c_long(number), *wide), f"system call {number}")


def unshare(flags: int) -> None:
    """Move this process (or, for process ids, its next child) into new namespaces."""
    _checked(_libc().unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """Move this process (or, for process ids, its next child) into the namespace behind `descriptor`."""
    _checked(_libc().setns(descriptor, kind), "setns")


def mount(source: str, place: str, *, kind: str | None = None, flags: int, options: str | None = None) -> None:
    """Mount a file system of `kind` at `place`, or change how the one that is there behaves."""
    texts = [None if text is None else text.encode() for text in (source, place, kind, options)]
    _checked(_libc().mount(*texts[:3], ctypes.c_ulong(flags), texts[3]), f"mount {place}")


def pivot_root(new: str, old: str) -> None:
    """Make the mount at `new` the root of this process's mount namespace, and put the present one at `old`."""
    _checked(_libc().pivot_root(new.encode(), old.encode()), "pivot_root")


def detach(place: str) -> None:
    """Unmount `place` and everything below it, at once also where something is in use."""
    _checked(_libc().umount2(place.encode(), _MNT_DETACH), f"umount {place}")


def madvise(address: int, length: int, advice: int) -> None:
    """Tell the kernel how to treat `length` bytes of this process's memory."""
    _checked(_libc().madvise(ctypes.c_void_p(address), ctypes.c_size_t(length), advice), "madvise")


def capset(header: ctypes.Array[ctypes.c_uint32], data: ctypes.Array[ctypes.c_uint32]) -> None:
    """Set this process's capabilities, in the kernel's version-3 layout."""
    _checked(_libc().capset(header, data), "capset")
