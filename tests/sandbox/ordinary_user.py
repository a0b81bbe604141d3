"""Runs a Python program as an ordinary user, also when started by root: `ordinary_user.py MODULE [ARGUMENT…]`.

A root whose Python or project lies in a directory closed to others gets a private view of the file tree in which the
way there is open; nothing outside this process changes. Ends with 77 where the system does not allow even that.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

NOT_POSSIBLE = 77
_NOBODY = 65534
_NEW_MOUNTS, _BIND, _RECURSIVE, _PRIVATE = 0x20000, 4096, 16384, 1 << 18
_ROOT = Path(__file__).resolve().parents[2]


def closed_ancestor(path: Path) -> Path | None:
    """Return the first directory on the way to `path` that others may not pass."""
    return next((p for p in [*reversed(path.parents), path] if not p.stat().st_mode & 0o001), None)


def open_the_way(path: Path) -> None:
    """Lay an empty directory over the closed one, and put `path` back into it."""
    closed = closed_ancestor(path)
    if closed is None:
        return
    kept = os.open(path, os.O_PATH)
    _mount("tmpfs", closed, kind="tmpfs", data="mode=755")
    path.mkdir(parents=True, exist_ok=True)
    _mount(f"/proc/self/fd/{kept}", path, flags=_BIND | _RECURSIVE)
    os.close(kept)


def _mount(source: str, target: Path, *, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    texts = [None if text is None else text.encode() for text in (source, str(target), kind, data)]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]):
        raise OSError(ctypes.get_errno(), f"mount {target}")


def become_ordinary() -> None:
    """Change to the user nobody, who can still read Python and the project."""
    needed = [Path(place).resolve() for place in (sys.base_prefix, sys.prefix, _ROOT)]
    if any(closed_ancestor(path) for path in needed):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_NEW_MOUNTS):
            raise OSError(ctypes.get_errno(), "unshare")
        _mount("none", Path("/"), flags=_RECURSIVE | _PRIVATE)
        for path in needed:
            open_the_way(path)
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def main() -> None:
    """Become ordinary where we are root, then run the module that was asked for."""
    if os.geteuid() == 0:
        try:
            become_ordinary()
        except OSError as error:
            print(error, file=sys.stderr)
            sys.exit(NOT_POSSIBLE)
    os.chdir(_ROOT)
    os.execv(sys.executable, [sys.executable, "-B", "-m", *sys.argv[1:]])


if __name__ == "__main__":
    main()
