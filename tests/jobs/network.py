"""Machines of a test with a network of their own, which can be cut: namespaces of the kernel, joined by a bridge."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_NETWORK = 0x40000000  # CLONE_NEWNET


def hindrance() -> str:
    """Return why there can be no such network here; empty where there can be one."""
    if os.geteuid() != 0:
        return "only root can make networks"
    return "" if shutil.which("ip") else "the command `ip` is missing (Debian: iproute2)"


def enter(namespace: Path) -> None:
    """Have this thread, and all that it starts, use another network from now on.

    Raises:
        OSError: the kernel refuses.
    """
    with namespace.open() as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), _NETWORK):
            raise OSError(ctypes.get_errno(), f"setns {namespace}: {os.strerror(ctypes.get_errno())}")


@dataclass(frozen=True)
class Machine:
    """One network that is joined to the others."""

    name: str
    bridge: str

    @property
    def namespace(self) -> Path:
        """What `enter` takes."""
        return Path("/run/netns") / self.name

    def cut(self) -> None:
        """Have everything that it sends, and that is sent to it, vanish; nobody is told."""
        _ip("link", "set", f"{self.name}h", "nomaster")

    def join(self) -> None:
        """Have it reach the others again."""
        _ip("link", "set", f"{self.name}h", "master", self.bridge)


@contextmanager
def machines(number: int) -> Iterator[tuple[str, list[Machine]]]:
    """Give an address of this machine, and so many others from which it can be reached."""
    process = os.getpid()
    bridge, prefix = f"g{process}", f"10.{200 + process % 50}.{process // 50 % 250}"
    made = [Machine(f"{bridge}m{one}", bridge) for one in range(number)]
    try:
        _ip("link", "add", bridge, "type", "bridge")
        _ip("addr", "add", f"{prefix}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for place, machine in enumerate(made, start=2):
            _ip("netns", "add", machine.name)
            _ip("link", "add", f"{machine.name}h", "type", "veth", "peer", "name", "eth0", "netns", machine.name)
            _ip("link", "set", f"{machine.name}h", "master", bridge, "up")
            inside = ("-n", machine.name)
            _ip(*inside, "addr", "add", f"{prefix}.{place}/24", "dev", "eth0")
            for device in ("eth0", "lo"):
                _ip(*inside, "link", "set", device, "up")
        yield f"{prefix}.1", made
    finally:
        for machine in made:
            _ip("netns", "del", machine.name, check=False)
        _ip("link", "del", bridge, check=False)


def _ip(*words: str, check: bool = True) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
