"""Starts zygotes and workers by a fork of a process that is warm, for tests that do not test how one gets warm.

`WarmStart` stands in the place of `subprocess` in the modules that start them. What it forks runs the same program with
the same descriptors, folder and environment in a session of its own; spared are the imports and what `warm_up` does.
The shared sandbox, those of the tiers and of other places, and all programs are started as ever.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, NoReturn

from grader.sandbox import handles

_ROOT = Path(__file__).resolve().parents[2]
_ENTRY = "import sys; sys.path.insert(0, {root!r}); from tests.sandbox.warm_start import serve; serve({descriptor})"
_MESSAGE_BYTES = 1 << 16
_FAR_AWAY = 500  # descriptors above are nobody's, so that none is overwritten while they are put in their places


class WarmStart:
    """A warm process, and what the modules want of `subprocess`; `extra` is added to the environment that it has."""

    DEVNULL, TimeoutExpired = subprocess.DEVNULL, subprocess.TimeoutExpired

    def __init__(self, extra: dict[str, str] | None = None) -> None:
        self._orders, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with inner:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _ENTRY.format(root=str(_ROOT), descriptor=inner.fileno())],
                env={**handles.environment(), **(extra or {})},
                cwd="/",
                pass_fds=[inner.fileno()],
                start_new_session=True,
            )

    def Popen(  # noqa: N802 - as it is called in `subprocess`
        self, command: list[str], *, env: dict[str, str], pass_fds: Any, stdout: Any, **_rest: object
    ) -> Forked:
        """Start what `subprocess.Popen` would start with these arguments; of the rest, all callers say the same."""
        assert command[:3] == [sys.executable, "-I", "-c"]
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        places = [1, 2, *pass_fds]
        order = {"program": command[3], "arguments": command[4:], "environment": env, "places": places}
        with far:
            descriptors = [far.fileno(), stdout.fileno(), stdout.fileno(), *pass_fds]
            socket.send_fds(self._orders, [json.dumps(order).encode()], descriptors)
        return Forked(near)

    def close(self) -> None:
        """End the process; what it has started lives on."""
        self._orders.close()
        self._process.wait()


class Forked:
    """What was started: as much of a `Popen` as somebody asks for."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        self.pid = int(told.recv(_MESSAGE_BYTES))
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code, as `Popen` does."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a fork", timeout or 0.0)
            self.returncode = int(self._told.recv(_MESSAGE_BYTES))
            self._told.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return its exit code, or nothing as long as it lives."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Kill it, if it lives."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def serve(descriptor: int) -> NoReturn:
    """Get warm, then fork for each order, and tell how each of them ended, until nobody orders any more."""
    gc.disable()
    from grader.sandbox import warmup, zygote_memory

    warmup.warm_up()
    warmup.warm_up = _is_warm
    for piece in zygote_memory.huge_pieces():
        zygote_memory.fold(*piece)
    orders, living = socket.socket(fileno=descriptor), dict[int, tuple[int, socket.socket]]()
    while True:
        ready = select.select([orders, *living], [], [])[0]
        for pidfd in living.keys() & set(ready):
            _tell(pidfd, *living.pop(pidfd))
        if orders in ready:
            message, descriptors, _, _ = socket.recv_fds(orders, _MESSAGE_BYTES, 16)
            if not message:
                os._exit(0)
            child = os.fork()
            if not child:
                _become(json.loads(message), descriptors[1:])
            told = socket.socket(fileno=descriptors[0])
            told.send(str(child).encode())
            living[os.pidfd_open(child)] = child, told
            for passed in descriptors[1:]:
                os.close(passed)


def _is_warm() -> None:
    """Stand in the place of `warm_up`."""


def _tell(pidfd: int, child: int, told: socket.socket) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(pidfd)
    with told:
        told.send(str(code).encode())


def _become(order: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Run a program as if it had been started."""
    try:
        os.setsid()
        away = [os.dup2(one, _FAR_AWAY + index) for index, one in enumerate(descriptors)]
        os.closerange(3, _FAR_AWAY)
        for one, place in zip(away, order["places"], strict=True):
            os.dup2(one, place)
            os.close(one)
        os.dup2(devnull := os.open(os.devnull, os.O_RDONLY), 0)
        os.close(devnull)
        os.environ.clear()
        os.environ.update(order["environment"])
        tempfile.tempdir = None
        sys.argv = ["-c", *order["arguments"]]
        exec(order["program"], {"__name__": "__main__"})
    except BaseException:  # noqa: BLE001 - nothing may get back into the loop
        traceback.print_exc()
    finally:
        os._exit(1)
