"""A stage on which attacks may succeed: a machine of its own inside this one, with victims, that nothing gets out of.

`python -m tests.sandbox.arena MODE` builds it, tells `arena_show` to run the corpus there in that mode, and ends with
it. The stage has its own processes, mounts, network, message queues and host name. Everything that it shares with the
machine is read-only; over the places where an attack would leave something lie empty file systems in memory. Ends
with 77 where the system does not let us build it.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from grader.sandbox.walls import kernel
from tests.sandbox import ordinary_user

ROOT = Path(__file__).resolve().parents[2]
HOME = Path("/srv/grader")  # where the victims keep their files
DATABASE = HOME / "grades.sqlite"
METADATA = "169.254.169.254"  # where clouds tell their tenants' secrets
_FILES = {
    "submissions/4711.py": "# somebody else's answer\n",
    "reference/attention.py": "# the answer\n",
    "notes.txt": "what a friendly attack may spoil\n",
}
PORT, ABSTRACT = 7860, "\0grader-control"
NOT_POSSIBLE = ordinary_user.NOT_POSSIBLE

_USER, _REST = 0x10000000, 0x20000000 | 0x00020000 | 0x40000000 | 0x08000000 | 0x04000000
_RECURSIVE, _PRIVATE, _BIND = 0x4000, 1 << 18, 0x1000
_MOUNT_SETATTR, _HERE, _WHOLE_TREE, _READ_ONLY = 442, -100, 0x8000, 1
_SIOCSIFADDR, _SIOCSIFFLAGS, _UP = 0x8916, 0x8914, 0x41
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4


def ordinary() -> int:
    """Return the user that victims, and a zygote without power, run as: not root, and not the one children become."""
    return 1000 if os.geteuid() == 0 else os.geteuid()


def main() -> None:
    """Build the stage, have the corpus run on it, and take it down."""
    try:
        _leave_the_machine()
        _cover_everything()
        _raise_the_network()
    except OSError as error:
        print(f"no stage can be built here: {error}", file=sys.stderr)
        sys.exit(NOT_POSSIBLE)
    sockets = _listen()
    victim = _live_beside()
    environment = {**os.environ, "GRADER_STAGE_VICTIM": str(victim), "OMP_NUM_THREADS": "1"}
    show = [sys.executable, "-B", "-m", "tests.sandbox.arena_show", *sys.argv[1:]]
    code = subprocess.run(show, env=environment, cwd=ROOT, check=False).returncode
    for listening in sockets:
        listening.close()
    os._exit(code)  # the kernel ends whoever is still on the stage


def _leave_the_machine() -> None:
    """Go on as process 1 of a world of its own; the process that we were waits, and ends the same way."""
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(_REST | (_USER if user else 0))
    if user:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    inner = os.fork()
    if inner:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) & 0xFF)
    kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    socket.sethostname("stage")


def _cover_everything() -> None:
    """Make all that is the machine's read-only, and lay new file systems over the places that everybody may write."""
    kernel.mount("none", "/", flags=_RECURSIVE | _PRIVATE)
    wish = ctypes.create_string_buffer(struct.pack("=4Q", _READ_ONLY, 0, 0, 0), 32)
    root = ctypes.create_string_buffer(b"/")
    places = [ctypes.cast(buffer, ctypes.c_void_p) for buffer in (root, wish)]
    kernel.syscall(_MOUNT_SETATTR, _HERE, places[0], _WHOLE_TREE, places[1], 32)
    needed = [Path(place).resolve() for place in (sys.base_prefix, sys.prefix, ROOT)]
    if os.geteuid() == 0:
        for path in needed:
            ordinary_user.open_the_way(path)
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/srv"):
        _lay_over(Path(place), needed)
    kernel.mount("proc", "/proc", kind="proc", flags=0)


def _lay_over(place: Path, needed: list[Path]) -> None:
    """Mount an empty file system at `place`, and put back what we need of the one below."""
    kept = {path: os.open(path, os.O_PATH) for path in needed if place in path.parents}
    kernel.mount("stage", str(place), kind="tmpfs", flags=0, options="size=16m,mode=1777")
    for path, descriptor in kept.items():
        path.mkdir(parents=True, exist_ok=True)
        kernel.mount(f"/proc/self/fd/{descriptor}", str(path), flags=_BIND | _RECURSIVE)
        os.close(descriptor)


def _raise_the_network() -> None:
    """Bring up the loopback, with the address at which a cloud would answer on it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        address = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(METADATA))
        fcntl.ioctl(handle, _SIOCSIFADDR, address)
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _UP))


def _listen() -> list[socket.socket]:
    """Open what an attack may want to talk to; that a connection is taken is enough, nobody answers."""
    HOME.mkdir()
    os.chmod(HOME, 0o777)
    inet, datagram, unix = socket.AF_INET, socket.SOCK_DGRAM, socket.AF_UNIX
    asked: list[tuple[int, int, object]] = [
        (inet, socket.SOCK_STREAM, ("127.0.0.1", PORT)),
        (inet, socket.SOCK_STREAM, (METADATA, 80)),
        (inet, datagram, ("127.0.0.1", 53)),
        (unix, socket.SOCK_STREAM, ABSTRACT),
        (unix, socket.SOCK_STREAM, str(HOME / "database.socket")),
    ]
    sockets = []
    for family, kind, address in asked:
        listening = socket.socket(family, kind)
        listening.bind(address)  # type: ignore[arg-type]
        if kind == socket.SOCK_STREAM:
            listening.listen(256)
        sockets.append(listening)
    os.chmod(HOME / "database.socket", 0o666)
    return sockets


def _live_beside() -> int:
    """Start the sibling: an ordinary user's process with files of its own and a secret in its environment."""
    program = (
        "import os, sys, time\nfrom tests.sandbox import arena\narena.become_the_victim(int(sys.argv[1]))\n"
        "os.write(1, b'ready')\ntime.sleep(3600)"
    )
    victim = subprocess.Popen(
        [sys.executable, "-B", "-c", program, str(ordinary())],
        env={**os.environ, "GRADER_SECRET": "the seed of all seeds"},
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    assert victim.stdout is not None
    if victim.stdout.read(5) != b"ready":
        raise SystemExit("the victim of the stage did not start")
    return victim.pid


def become_the_victim(user: int) -> None:
    """Be `user`, and own the files that attacks go for."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    kernel.prctl(_PR_SET_DUMPABLE, 1)  # as a process that was started by that user is
    with sqlite3.connect(DATABASE) as database:
        database.execute("create table grades (student text, points real)")
        database.execute("insert into grades values ('ada', 100.0)")
    database.close()
    DATABASE.chmod(0o600)
    for folder in ("submissions", "reference/__pycache__"):
        (HOME / folder).mkdir(parents=True)
    lay_out_files()


def lay_out_files() -> None:
    """Put the victims' files where they were in the beginning, and theirs again."""
    for name, text in _FILES.items():
        (HOME / name).write_text(text, encoding="utf-8")
        if os.geteuid() == 0:
            os.chown(HOME / name, ordinary(), ordinary())


def state() -> str:
    """Return what an attack could have changed for others: the files on the stage, and the grades."""
    with sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True) as database:
        grades = database.execute("select * from grades").fetchall()
    database.close()
    files = [path for place in (str(HOME), "/tmp", "/dev/shm") for path in _on_the_stage(place)]
    return json.dumps([sorted(files), grades, (HOME / "notes.txt").read_text(encoding="utf-8")])


def _on_the_stage(place: str) -> Iterator[str]:
    """Yield what lies below `place`, but for what the machine lends, as the project itself where it lies in /tmp."""
    for folder, folders, files in os.walk(place):
        folders[:] = [name for name in folders if not os.path.ismount(f"{folder}/{name}")]
        yield from (f"{folder}/{name}" for name in (*folders, *files))


if __name__ == "__main__":
    main()
