"""What the pages' server needs of the system is asked for before anything is started."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from grader.errors import SettingsError
from grader.exercise.catalog import ROOT
from grader.pages import server as module
from grader.pages.server import FEWEST, bound, descriptors, listen
from tests.jobs.classroom import until
from tests.machine import free_port


def close(sockets: list[socket.socket]) -> None:
    """Close all of them."""
    for one in sockets:
        one.close()


def test_a_port_in_use_is_told_before_anything_is_started(tmp_path: Path) -> None:
    """Not after the seconds in which the sandbox warms up; there is not even a database."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        environment = os.environ | {"ATTENTION_GYM_DATA": str(tmp_path / "data"), "ATTENTION_GYM_PORT": str(port)}
        command = [sys.executable, "-m", "grader", "serve"]
        told = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)

    assert (told.returncode, told.stdout) == (2, "")
    assert f"PORT={port}: another program has that port" in told.stderr
    assert told.stderr.count("\n") == 1
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("192.0.2.1", "no such address"),
        ("no-such-host.invalid", "expected: an address of this"),
        ("..", "not an address"),
    ],
)
def test_an_address_of_nobody_is_told(host: str, said: str) -> None:
    """With the setting, its value, and what would be right."""
    with pytest.raises(SettingsError, match=f"HOST={host}") as told:
        bound(host, 7860)
    assert said in str(told.value)


def test_what_is_short_is_sent_without_delay() -> None:
    """Else each short answer on a connection that is kept waits up to 40 ms for word from the other end."""

    async def without_delay() -> int:
        accepted = asyncio.get_running_loop().create_future()
        (one,) = bound("127.0.0.1", 0)
        server = await asyncio.start_server(lambda _, writer: accepted.set_result(writer), sock=one)
        _, client = await asyncio.open_connection(*one.getsockname())
        there = (await accepted).get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        for end in (client, accepted.result()):
            end.close()
            await end.wait_closed()
        server.close()
        await server.wait_closed()
        return int(there)

    assert asyncio.run(without_delay()) != 0


def test_nobody_connects_before_the_server_listens() -> None:
    """A proxy in front then asks another machine at once."""
    (ours,) = bound("127.0.0.1", 0)
    address = ours.getsockname()
    try:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)
        ours.listen()
        socket.create_connection(address).close()
    finally:
        ours.close()


def test_a_port_is_free_again_right_after_a_stop() -> None:
    """Though connections of the former server linger for a minute in the kernel."""
    (first,) = bound("127.0.0.1", 0)
    first.listen()
    address = first.getsockname()
    with socket.create_connection(address) as visitor:
        first.accept()[0].close()  # by the server, so that the lingering end is its own
        visitor.recv(1)
    first.close()
    close(bound(*address))


def test_a_name_with_addresses_that_this_machine_lacks_is_served_on_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a container `localhost` often has an address of the newer kind, and the machine none, or not even the kind."""
    kinds = [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: kinds)
    real = module._bound

    def without_the_kind(family: int, address: object) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return real(family, address)

    monkeypatch.setattr(module, "_bound", without_the_kind)
    sockets = bound("localhost", 0)
    try:
        assert [one.getsockname()[0] for one in sockets] == ["127.0.0.1"]
    finally:
        close(sockets)


def test_two_that_start_at_the_same_moment_are_told_as_well() -> None:
    """Both can have the port until one of them listens; then the other one says so, before it says that it serves."""
    first = bound("127.0.0.1", 0)
    second = bound(*first[0].getsockname())
    try:
        listen(first)
        with pytest.raises(SettingsError, match="another program has that port"):
            listen(second)
    finally:
        close([*first, *second])


def test_too_few_open_files_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody could connect; the text names what there is, and what there should be."""
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (16, 32))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    with pytest.raises(SettingsError, match=f"32 open files; serving needs {FEWEST} or more"):
        descriptors()


def test_a_reader_who_leaves_does_not_end_the_service(tmp_path: Path) -> None:
    """`serve | head -1` prints into nothing; the pages are served all the same."""
    port = free_port()
    environment = os.environ | {
        "ATTENTION_GYM_DATA": str(tmp_path / "data"),
        "ATTENTION_GYM_PORT": str(port),
        "ATTENTION_GYM_ALLOW_ONE_WALL": "yes",
    }
    command = [sys.executable, "-m", "grader", "serve"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.close()
        try:
            until(lambda: answers(port) or process.poll() is not None, "the pages are served")
            assert process.poll() is None
        finally:
            process.terminate()


def answers(port: int) -> bool:
    """Return whether there are pages at a port."""
    try:
        return urlopen(f"http://127.0.0.1:{port}/health", timeout=5).status == 200
    except OSError:
        return False
