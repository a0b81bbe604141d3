"""The settings, read once from the environment and handed down; the only reader of the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError

from grader.errors import SettingsError

PREFIX = "ATTENTION_GYM_"
SPACE_MARK = "SPACE_ID"  # set on a hosting Space
SPACE_DATA = Path("/data")  # the disk of a Space that outlives a restart
FLEETING = Path("var")  # where data lies elsewhere; in a container it goes with the container
DATABASE = "attention_gym.sqlite3"
URL = r"^(sqlite:///|postgres(ql)?(\+psycopg)?://)"
COMMON = {"DATABASE_URL": "database_url"}  # names that platforms give to these settings; ours comes first
TOKEN = r"^[!-~]{32,128}$"
HOST_NAME = r"^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"

LOOPBACK = ("127.0.0.0/8", "::1/128")
# On a Space the proxies' addresses are unknown, and nobody but them reaches the container.
PRIVATE = (
    *LOOPBACK,
    *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fc00::/7", "fe80::/10"),
)  # fmt: skip


def _hard_to_guess(code: str) -> str:
    """Return a class code; raises ValueError for one that is short, repeats few characters, or counts up or down."""
    steps = {ord(after) - ord(before) for before, after in pairwise(code.lower())}
    if len(code) < 12 or len(set(code.lower())) < 6 or len(steps) < 4:
        raise ValueError("easy to guess")
    return code


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
        class_code: what somebody who joins the class has to know until it is replaced; hard to guess, since wrong
            ones are not slowed down; None for the one kept in `data`.
        secret: what seeds are drawn from, at least 32 characters; None for the one kept in `data`.
        metrics_token: what a request for `/metrics` has to show; None for no metrics.
        allow_one_wall: whether to grade where the kernel offers one wall round the sandbox instead of two.
        allow_open_data: whether to start where other users of this machine may read `data`; for a disk whose modes
            cannot be changed, in a container of its own.
        proxies: the addresses and networks of the proxies in front, whose word on who is asking is taken; the rest of
            the world could write any address into that header.
        cookie_secure: whether a browser may send the session over HTTPS only.
        source_kib: the longest source that is taken, in KiB.
        session_hours: how long a session lasts.
        drain_seconds: how long a stop waits for what is being graded.
        connections: how many connections are open at once in all; never more than the process may have files.
        connections_each: how many of them from one address; a class of 300 behind one takes up to 1800.
        slowest_reader: how many bytes a second a browser has to read, over six connections, or else it loses them.
        log_format: `text` for people, or `json` for a collector: a line of JSON for each entry.
    """

    data: Annotated[Path, Field(description="a directory")] = Path("var")
    database_url: Annotated[str, Field(pattern=URL, description="sqlite:///… or postgresql://…")] = field(
        default="", repr=False
    )
    host: Annotated[str, Field(description="an address such as 127.0.0.1")] = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 7860
    allowed_hosts: Annotated[
        tuple[Annotated[str, Field(pattern=HOST_NAME)], ...],
        BeforeValidator(lambda text: [name.strip().lower() for name in text.split(",")]),
        Field(description="names such as gym.example.org, *.example.org"),
    ] = ()
    slots: Annotated[int, Field(ge=1, le=256)] = 1
    gpu_slots: Annotated[int, Field(ge=0, le=16)] = 1
    memory_mib: Annotated[int, Field(ge=1024, le=1 << 24)] = 0
    class_code: Annotated[
        Annotated[str, AfterValidator(_hard_to_guess)] | None,
        Field(description="12 characters or more, 6 different ones or more, and no sequence such as 123456789012"),
    ] = field(default=None, repr=False)
    secret: Annotated[str, Field(min_length=32)] | None = field(default=None, repr=False)
    metrics_token: Annotated[
        Annotated[str, Field(pattern=TOKEN)] | None, Field(description="32 to 128 letters, digits and signs, no spaces")
    ] = field(default=None, repr=False)
    allow_one_wall: bool = False
    allow_open_data: bool = False
    proxies: Annotated[
        tuple[str, ...],
        BeforeValidator(lambda text: [str(_network(one.strip())) for one in text.split(",")]),
        Field(description="addresses and networks such as 10.0.0.7, 172.30.0.0/24"),
    ] = LOOPBACK
    cookie_secure: bool = False
    source_kib: Annotated[int, Field(ge=1, le=256)] = 256
    session_hours: Annotated[float, Field(ge=0.1, le=720)] = 12.0
    drain_seconds: Annotated[float, Field(ge=0, le=600)] = 20.0
    connections: Annotated[int, Field(ge=16, le=65536)] = 8192
    connections_each: Annotated[int, Field(ge=8, le=65536)] = 2048
    slowest_reader: Annotated[int, Field(ge=1, le=10**6)] = 1024
    log_format: Literal["text", "json"] = "text"

    @property
    def store_url(self) -> str:
        """The URL of the database: the one that was set, or that of the file in `data`."""
        return self.database_url or file_url(self.data.absolute() / DATABASE)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the settings from variables that begin with ATTENTION_GYM_, and from DATABASE_URL; touches nothing.

        Args:
            environment: the variables; those of this process if left out.

        Raises:
            SettingsError: a value cannot be used, or a variable with our prefix is none of ours.
        """
        environment = os.environ if environment is None else environment
        names = {PREFIX + one.name.upper(): one.name for one in fields(cls)}
        chosen = {
            name: (variable, text)
            for variable, name in (COMMON | names).items()
            if (text := environment.get(variable, "").strip())
        }
        given = {name: text for name, (_, text) in chosen.items()}
        try:
            settings = TypeAdapter(cls).validate_python(given)
        except ValidationError as fault:
            name = str(fault.errors()[0]["loc"][0])
            raise SettingsError(_wrong(name, *chosen[name])) from None  # pydantic's words would show a secret
        for variable in environment:
            if variable.startswith(PREFIX) and variable not in names:
                raise SettingsError(f"{variable} is no setting; expected: one of {', '.join(sorted(names))}")
        hosted = {"host": "0.0.0.0", "cookie_secure": True, "proxies": PRIVATE} if environment.get(SPACE_MARK) else {}
        found: dict[str, Any] = {"data": default_data(), "slots": _cores(), **hosted}
        return replace(settings, **{name: value for name, value in found.items() if name not in given})


def file_url(file: Path) -> str:
    """Return the URL of a SQLite file; what means something in an address means itself in a path."""
    return f"sqlite:///{str(file).replace('%', '%25').replace('?', '%3F')}"


def _network(text: str) -> IPv4Network | IPv6Network:
    network = ip_network(text, strict=False)
    if not network.prefixlen:
        raise ValueError("everybody may not be a proxy")
    return network


def _wrong(name: str, variable: str, text: str) -> str:
    """Return what is to be said of the value of a variable; the expected form is read off the field."""
    shown = "(not shown)" if name in {"secret", "class_code", "database_url", "metrics_token"} else repr(text)
    match TypeAdapter(Settings).json_schema()["properties"][name]:
        case {"description": form}:
            pass
        case {"type": "boolean"}:
            form = "yes or no"
        case {"enum": words}:
            form = " or ".join(words)
        case {"type": kind, "minimum": low, "maximum": high}:
            form = f"{'an integer' if kind == 'integer' else 'a number'} from {low} to {high}"
        case {"anyOf": [{"minLength": length}, _]}:
            form = f"{length} characters or more"
    return f"{variable} is {shown}; expected: {form}"


def lost_at_a_restart(settings: Settings, environment: Mapping[str, str] = os.environ) -> str:
    """Return what a Space without a disk forgets at its next restart, and what helps; empty if it forgets nothing."""
    if not environment.get(SPACE_MARK) or settings.data != FLEETING:
        return ""
    if settings.store_url.startswith("sqlite"):
        return (
            "this Space has no disk, so accounts and submissions are lost at its next restart; attach one, which "
            f"appears as {SPACE_DATA}, or set DATABASE_URL to a Postgres elsewhere"
        )
    names = {"SECRET": settings.secret, "CLASS_CODE": settings.class_code}
    missing = " and ".join(f"{PREFIX}{name}" for name, value in names.items() if not value)
    return f"this Space has no disk; set {missing}, which is drawn anew at each restart otherwise" if missing else ""


def hand_down_temporary_folder(folder: str) -> Callable[[], None]:
    """Have libraries in this process, and whatever it starts, put temporary files into `folder`.

    What is returned undoes that.
    """
    ours = dict.fromkeys(("TMPDIR", "GRADIO_TEMP_DIR", "TORCHINDUCTOR_CACHE_DIR"), folder)
    before = {name: os.environ[name] for name in ours if name in os.environ}
    os.environ.update(ours)

    def undo() -> None:
        for name in ours:
            os.environ.pop(name, None)
        os.environ.update(before)

    return undo


def default_data(disk: Path = SPACE_DATA) -> Path:
    """Return where data lies without a setting; `disk` is the one of a Space."""
    if not os.access(disk, os.W_OK | os.X_OK):
        return FLEETING
    # A directory of its own there, since the disk's topmost one may be open to others; what is in use stays.
    return disk if (disk / DATABASE).exists() else disk / "attention_gym"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
