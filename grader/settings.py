"""The settings, read once from the environment and handed down; the only reader of the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from grader.errors import SettingsError

PREFIX = "ATTENTION_GYM_"
SPACE_MARK = "SPACE_ID"  # set on a hosting Space
SPACE_DATA = Path("/data")  # the disk of a Space that outlives a restart
DATABASE = "attention_gym.sqlite3"
WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
HOST_NAME = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?")

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that an installation may choose.

    Attributes:
        data: the directory for the database, the secret and the class code; made by whoever first writes there.
        database_url: where the store is, and may hold a password; empty for a file in `data`.
        host, port: where the page is served.
        allowed_hosts: the names under which browsers may ask for it, `*.example.org` for all below; empty for any.
        slots: how many submissions are graded at once on the CPU.
        gpu_slots: how many submissions are run at once on a GPU, where there is one; 0 for none.
        memory_mib: how much memory the service may use with everything that it starts, in MiB; 0 for as much as the
            machine, or the container, has. There are as many slots as fit into it, at most `slots`.
        class_code: what somebody who registers has to know, 8 characters or more, 12 where they are words: wrong ones
            are not slowed down; None for the one kept in `data`.
        secret: what seeds are drawn from, at least 32 characters; None for the one kept in `data`.
        allow_one_wall: whether to grade where the kernel offers one wall round the sandbox instead of two.
        allow_open_data: whether to start where other users of this machine may read `data`; for a disk whose modes
            cannot be changed, in a container of its own.
        cookie_secure: whether a browser may send the session over HTTPS only.
        source_kib: the longest source that is taken, in KiB.
        session_hours: how long a session lasts.
        drain_seconds: how long a stop waits for what is being graded.
        connections: how many connections are open at once in all; never more than the process may have files.
        connections_each: how many of them from one address; a class of 300 behind one takes up to 1800.
        slowest_reader: how many bytes a second a browser has to read, over six connections, or else it loses them.
    """

    data: Path = Path("var")
    database_url: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    port: int = 7860
    allowed_hosts: tuple[str, ...] = ()
    slots: int = 1
    gpu_slots: int = 1
    memory_mib: int = 0
    class_code: str | None = field(default=None, repr=False)
    secret: str | None = field(default=None, repr=False)
    allow_one_wall: bool = False
    allow_open_data: bool = False
    cookie_secure: bool = False
    source_kib: int = 256
    session_hours: float = 12.0
    drain_seconds: float = 20.0
    connections: int = 8192
    connections_each: int = 2048
    slowest_reader: int = 1024

    @property
    def file_url(self) -> str:
        """The URL of the database file in `data`."""
        return f"sqlite:///{self.data.absolute() / DATABASE}"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the settings from variables that begin with ATTENTION_GYM_; touches nothing.

        Args:
            environment: the variables; those of this process if left out.

        Raises:
            SettingsError: a value cannot be used, or a variable with our prefix is none of ours.
        """
        read = _Reader(os.environ if environment is None else environment)
        hosted = read.present(SPACE_MARK)
        data = read("DATA", "a directory", Path, default=default_data())
        settings = cls(
            data=data,
            database_url=read("DATABASE_URL", "sqlite:///… or postgresql://…", _url, default=""),
            host=read("HOST", "an address such as 127.0.0.1", str, default="0.0.0.0" if hosted else "127.0.0.1"),
            port=read("PORT", "an integer from 1 to 65535", _integer(1, 65535), default=7860),
            allowed_hosts=read("ALLOWED_HOSTS", "names such as gym.example.org, *.example.org", _hosts, default=()),
            slots=read("SLOTS", "an integer from 1 to 256", _integer(1, 256), default=_cores()),
            gpu_slots=read("GPU_SLOTS", "an integer from 0 to 16", _integer(0, 16), default=1),
            memory_mib=read("MEMORY_MIB", "an integer from 1024 to 16777216", _integer(1024, 1 << 24), default=0),
            class_code=read("CLASS_CODE", "8 characters or more", _longer_than(7), default=None),
            secret=read("SECRET", "32 characters or more", _longer_than(31), default=None),
            allow_one_wall=read("ALLOW_ONE_WALL", "yes or no", _word, default=False),
            allow_open_data=read("ALLOW_OPEN_DATA", "yes or no", _word, default=False),
            cookie_secure=read("COOKIE_SECURE", "yes or no", _word, default=hosted),
            source_kib=read("SOURCE_KIB", "an integer from 1 to 256", _integer(1, 256), default=256),
            session_hours=read("SESSION_HOURS", "a number from 0.1 to 720", _number(0.1, 720.0), default=12.0),
            drain_seconds=read("DRAIN_SECONDS", "a number from 0 to 600", _number(0.0, 600.0), default=20.0),
            connections=read("CONNECTIONS", "an integer from 16 to 65536", _integer(16, 65536), default=8192),
            connections_each=read("CONNECTIONS_EACH", "an integer from 8 to 65536", _integer(8, 65536), default=2048),
            slowest_reader=read("SLOWEST_READER", "an integer from 1 to 1000000", _integer(1, 10**6), default=1024),
        )
        read.refuse_unknown()
        return settings


class _Reader:
    """Reads one variable after the other and remembers which."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._known: set[str] = set()

    def __call__(self, name: str, form: str, parse: Callable[[str], Value], *, default: Value) -> Value:
        variable = PREFIX + name
        self._known.add(variable)
        text = self._environment.get(variable, "").strip()
        if not text:
            return default
        try:
            return parse(text)
        except (ValueError, KeyError) as cause:
            shown = "(not shown)" if name in {"SECRET", "CLASS_CODE", "DATABASE_URL"} else repr(text)
            raise SettingsError(f"{variable} is {shown}; expected: {form}") from cause

    def present(self, variable: str) -> bool:
        return bool(self._environment.get(variable))

    def refuse_unknown(self) -> None:
        for variable in self._environment:
            if variable.startswith(PREFIX) and variable not in self._known:
                names = ", ".join(sorted(self._known))
                raise SettingsError(f"{variable} is no setting; expected: one of {names}")


def default_data(disk: Path = SPACE_DATA) -> Path:
    """Return where data lies without a setting; `disk` is the one of a Space."""
    if not os.access(disk, os.W_OK | os.X_OK):
        return Path("var")
    # A directory of its own there, since the disk's topmost one may be open to others; what is in use stays.
    return disk if (disk / DATABASE).exists() else disk / "attention_gym"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _url(text: str) -> str:
    if not text.startswith(("sqlite:///", "postgresql://", "postgresql+psycopg://")):
        raise ValueError(text)
    return text


def _hosts(text: str) -> tuple[str, ...]:
    names = tuple(name.strip().lower() for name in text.split(","))
    if not all(HOST_NAME.fullmatch(name) for name in names):
        raise ValueError(text)
    return names


def _integer(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not low <= int(text) <= high:
            raise ValueError(text)
        return int(text)

    return parse


def _number(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        if not low <= float(text) <= high:
            raise ValueError(text)
        return float(text)

    return parse


def _longer_than(length: int) -> Callable[[str], str | None]:
    def parse(text: str) -> str | None:
        if len(text) <= length:
            raise ValueError(text)
        return text

    return parse


def _word(text: str) -> bool:
    return WORDS[text.lower()]
