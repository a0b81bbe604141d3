"""The empty root: before the first submission comes, the zygote leaves every file behind."""

from __future__ import annotations

import os

from grader.sandbox.lockdown import kernel

_NEW_MOUNTS = 0x20000
_RECURSIVE, _PRIVATE = 0x4000, 1 << 18
_BARREN = 0b1111  # read-only, no set-user-id, no devices, nothing to execute
_PLACE = "/proc"  # any directory would do, since it is only covered; this one is there wherever namespaces are


def granted() -> bool:
    """Try it in a throw-away process; return whether it worked.

    Some systems grant a namespace for mounts and refuse the mount in it, with no way back.
    """
    trial = os.fork()
    if trial:
        return os.waitpid(trial, 0)[1] == 0
    code = 1
    try:
        leave_files()
        code = len(os.listdir("/"))
    finally:
        os._exit(code)


def leave_files() -> None:
    """Make one empty, read-only directory all that this process and its children can name, for good.

    Stops every path, and so reading the grades, the reference, Python's own files or /proc, the mere question whether
    a file is there (which Landlock answers), sockets that lie in folders, and writing anything. Whatever this process
    still needs of a file must have been read before.

    Raises:
        OSError: the system does not let us mount.
    """
    part_from_mounts()
    empty_the_root()


def part_from_mounts() -> None:
    """Give this process mounts of its own; what happens to them does not spread outside.

    Raises:
        OSError: the system does not let us.
    """
    kernel.unshare(_NEW_MOUNTS)
    kernel.mount("none", "/", flags=_RECURSIVE | _PRIVATE)


def empty_the_root() -> None:
    """Leave everybody who shares this process's mounts, which must be its own, an empty directory for the root.

    Raises:
        OSError: the system does not let us mount.
    """
    kernel.mount("empty", _PLACE, kind="tmpfs", flags=_BARREN, options="size=4k,mode=555")
    os.chdir(_PLACE)
    kernel.pivot_root(".", ".")  # the old root now lies over the new one, and comes off in one piece
    kernel.detach(".")
    os.chdir("/")
