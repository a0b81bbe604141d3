"""Serves the pages: what `app.py` and `attention-gym serve` call.

What the server needs of the system is asked for before anything is started, so that a lack is told at once.
"""

from __future__ import annotations

import errno
import gc
import logging
import os
import resource
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from grader import stopping
from grader.bootstrap import start
from grader.errors import SettingsError
from grader.installation import keep_temporary_files
from grader.log import set_up_log
from grader.service import Service
from grader.settings import PREFIX, Settings, lost_at_a_restart

SWITCH_SECONDS = 0.0005
CONTAINERS = (Path("/.dockerenv"), Path("/run/.containerenv"))  # there a terminal, too, is written to a log
LOG = logging.getLogger(__name__)
NOT_STARTED = 3  # the exit status that uvicorn's own command has


def serve(settings: Settings, *, grading: bool = True) -> None:
    """Serve the pages until the process is told to stop; grade as well, or leave that to other machines.

    Raises:
        SettingsError: this process may have too few open files, the address of the settings is taken, or not one of
            this machine; or as `start` says.
        SandboxUnavailable: as `start` says.
        AuthorError: as `start` says.
    """
    stopping.stop_at_once()
    os.umask(0o077)  # whatever any library writes is for us alone
    set_up_log(settings.log_format)
    gc.disable()  # nothing that is imported is garbage, and looking for some takes a third of the time
    files, listening = descriptors(), bound(settings.host, settings.port)
    temporary = keep_temporary_files(settings)
    starting = start(settings, grading=grading)
    # Here and not above: what the pages bring takes seconds, in which the grading processes warm up.
    from grader.pages import connections
    from grader.pages.application import create_app

    service = starting.service()
    config = connections.configured(create_app(service, settings), settings, most_connections(files))
    server = connections.Server(config, service.drain, temporary.cleanup)
    # Looking through the million objects of Gradio for garbage would stop the pages for half a second.
    gc.collect()
    gc.freeze()
    gc.enable()
    starting.wait(service)
    listen(listening)
    _announce(service, settings)
    # The loop lets go of Python at every system call, and would wait 5 ms for each busy thread to get it back.
    sys.setswitchinterval(SWITCH_SECONDS)
    stopping.stop_as_usual()
    with suppress(KeyboardInterrupt):  # Ctrl+C, once everything has been stopped
        server.run(sockets=listening)
    if not server.started:
        sys.exit(NOT_STARTED)


def _announce(service: Service, settings: Settings) -> None:
    with suppress(BrokenPipeError):  # nobody reads; the pages are served all the same
        print(f"Attention Gym is at {address_of(settings)}, in a {service.box_name}.")
        print(about_the_code(service.class_code, shown=is_seen_by_a_person(sys.stdout)), flush=True)
    if warning := lost_at_a_restart(settings):
        LOG.warning(warning)


def about_the_code(code: str, *, shown: bool) -> str:
    """Return what a start says of the class code."""
    if not shown:
        return "`attention-gym class-code` shows the class code for registering."
    return f"The class code for registering is {code}. Stop with Ctrl+C."


def address_of(settings: Settings) -> str:
    """Return the address to type into a browser on this machine."""
    if settings.host in ("0.0.0.0", "::"):  # all addresses of this machine, so none that every browser opens
        return f"http://localhost:{settings.port}"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def is_seen_by_a_person(out: TextIO | None, containers: Iterable[Path] = CONTAINERS) -> bool:
    """Return whether what is written to `out`, None where it is closed, goes to a terminal and is kept by no log."""
    return out is not None and out.isatty() and not any(mark.exists() for mark in containers)


DESCRIPTORS = 65_536
WAITING = 2048  # visitors whose connection is not taken yet; as many as uvicorn lets wait
RESERVE = 256  # descriptors for everything that is no connection: the store, the graders, files that are sent
FEWEST = RESERVE + 64  # a connection may take two: a file that is sent is open as well
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


def most_connections(descriptors: int) -> int:
    """Return how many connections may be open in a process that may have so many descriptors."""
    return (descriptors - RESERVE) // 2


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
