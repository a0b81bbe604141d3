"""Serves the pages: what `app.py` and `attention-gym serve` call."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from grader import stopping
from grader.bootstrap import start
from grader.installation import keep_temporary_files
from grader.log import set_up_log
from grader.pages.gradio_import import import_gradio
from grader.pages.listening import bound, descriptors, listen
from grader.service import Service
from grader.settings import Settings, lost_at_a_restart

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
    import_gradio()
    from grader.pages import web
    from grader.pages.application import create_app

    service = starting.service()
    server = web.Server(
        web.configured(create_app(service, settings), settings, files), service.drain, temporary.cleanup
    )
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
