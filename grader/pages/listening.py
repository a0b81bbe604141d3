"""What the pages' server needs of the system: asked for before anything is started, so that a lack is told at once."""

from __future__ import annotations

import errno
import resource
import socket
from typing import Any

from grader.errors import SettingsError
from grader.settings import PREFIX

DESCRIPTORS = 65_536
WAITING = 2048  # visitors whose connection is not taken yet; as many as uvicorn lets wait
RESERVE = 256  # descriptors for everything that is no connection: the store, the graders, files that are sent
FEWEST = RESERVE + 64  # a connection may take two
_REASONS = {
    errno.EADDRINUSE: "another program has that port; stop it, or choose another port",
    errno.EADDRNOTAVAIL: "this machine has no such address; 127.0.0.1 is itself alone, 0.0.0.0 all of its addresses",
    errno.EACCES: "a port as low as that is for root; choose 1024 or higher, or put a proxy in front",
}


def bound(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of `host`; nobody can connect before the server listens on them.

    Raises:
        SettingsError: none can be had; the text says why.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except UnicodeError as error:  # no name that could be asked for
        raise refusal(host, port, OSError(errno.EINVAL, "this is not an address")) from error
    except OSError as error:
        raise refusal(host, port, error) from error
    sockets: list[socket.socket] = []
    missing: OSError | None = None
    for family, _, _, _, address in dict.fromkeys(found):
        try:
            sockets.append(_bound(family, address))
        except OSError as error:
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise refusal(host, port, error) from error
            missing = error  # of those that a name like `localhost` has, one is enough
    if not sockets and missing:
        raise refusal(host, port, missing) from missing
    return sockets


def listen(sockets: list[socket.socket]) -> None:
    """Let visitors connect from now on.

    Raises:
        SettingsError: another program has begun to listen there since.
    """
    for one in sockets:
        try:
            one.listen(WAITING)
        except OSError as error:
            host, port = one.getsockname()[:2]
            raise refusal(host, port, error) from error


def descriptors() -> int:
    """Let this process have as many descriptors as the system allows it, at most some ten thousand; return how many.

    Raises:
        SettingsError: they are too few to serve anybody.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    found = max(soft, wanted)
    if found < FEWEST:
        raise SettingsError(f"this process may have {found} open files; serving needs {FEWEST} or more: `ulimit -n`")
    return found


def refusal(host: str, port: int, error: OSError) -> SettingsError:
    """Return what is to be said where a server cannot listen at `host` and `port`."""
    why = _REASONS.get(error.errno or 0, f"{error.strerror}; expected: an address of this machine, such as 127.0.0.1")
    return SettingsError(f"{PREFIX}HOST={host} {PREFIX}PORT={port}: {why}")


def _bound(family: int, address: Any) -> socket.socket:
    # Said by its name, for asyncio sends what is short without delay only where it finds that name.
    one = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # else a restart would have to wait for a minute
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)  # the other kind has a socket of its own
        one.bind(address)
    except OSError:
        one.close()
        raise
    return one
