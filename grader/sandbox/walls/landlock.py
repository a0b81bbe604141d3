"""Landlock: no file, no TCP, no abstract socket, no signal beyond the child itself."""

from __future__ import annotations

import ctypes
import struct

from grader.sandbox.walls import kernel

_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # the same numbers on every architecture
_ASK_VERSION = 1
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}  # from this version on, so many kinds of access to files
_TCP_BIND_AND_CONNECT = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
NETWORK_SINCE, SCOPES_SINCE = 4, 6


def version() -> int:
    """Return the version of Landlock that the kernel offers, 0 for none."""
    try:
        return kernel.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def prepare() -> int | None:
    """Make the ruleset that allows nothing; return its descriptor, None where the kernel has no Landlock.

    Prepared once by the zygote: restricting a child with it then costs one call.
    """
    found = version()
    if not found:
        return None
    files = (1 << max(count for since, count in _FILE_RIGHTS.items() if since <= found)) - 1
    words = [files]
    if found >= NETWORK_SINCE:
        words.append(_TCP_BIND_AND_CONNECT)
    if found >= SCOPES_SINCE:
        words.append(_ABSTRACT_SOCKETS_AND_SIGNALS)
    attributes = struct.pack(f"={len(words)}Q", *words)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    return kernel.syscall(_CREATE_RULESET, ctypes.cast(buffer, ctypes.c_void_p), len(attributes), 0)


def restrict(ruleset: int) -> None:
    """Bind this process to the prepared ruleset, for good.

    Stops opening, making, removing and executing files, TCP, other processes' abstract sockets, and signals to
    anybody else, also the roundabout one by F_SETOWN on a pipe.
    """
    kernel.syscall(_RESTRICT_SELF, ruleset, 0)
