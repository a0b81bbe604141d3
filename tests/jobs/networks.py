"""A network of two ends on this machine, one of them in a namespace of its own; its cable can be pulled out."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.sandbox.walls import kernel

_NETWORKS = 0x40000000  # CLONE_NEWNET


@dataclass(frozen=True, slots=True)
class Network:
    """A network namespace, and the cable between it and this machine.

    Attributes:
        name: of the namespace, and of this machine's end of the cable.
        here, there: the addresses of this machine and of the other end.
    """

    name: str
    here: str
    there: str

    def cut(self) -> None:
        """Pull the cable out: what is sent from now on is lost, and nobody is told."""
        _ip("link", "set", self.name, "down")

    def mend(self) -> None:
        _ip("link", "set", self.name, "up")


def enter(name: str) -> None:
    descriptor = os.open(Path("/run/netns") / name, os.O_RDONLY)
    try:
        kernel.setns(descriptor, _NETWORKS)
    finally:
        os.close(descriptor)


@cache
def missing() -> str:
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    try:
        with network():
            return ""
    except (OSError, subprocess.CalledProcessError) as fault:
        return f"this machine makes no network namespaces: {fault}"


@contextmanager
def network() -> Iterator[Network]:
    number = secrets.randbelow(1 << 15)
    place = f"198.{18 + (number >> 14)}.{(number >> 6) & 255}"  # a range for measurements, which nobody has
    last = 4 * (number & 63)
    made = Network(f"gym{secrets.token_hex(4)}", f"{place}.{last + 1}", f"{place}.{last + 2}")
    other = f"{made.name}e"
    _ip("netns", "add", made.name)
    try:
        _ip("link", "add", made.name, "type", "veth", "peer", "name", other, "netns", made.name)
        _ip("address", "add", f"{made.here}/30", "dev", made.name)
        _ip("-n", made.name, "address", "add", f"{made.there}/30", "dev", other)
        _ip("-n", made.name, "link", "set", other, "up")
        made.mend()
        yield made
    finally:
        _ip("netns", "delete", made.name)  # its cable goes with it, as soon as nobody is in it


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
