"""What a browser says to the pages, at a fraction of a browser's cost: HTTP/1.1 on asyncio streams, nothing else.

Five hundred of these share one process, so a client library would eat the cores that are being measured.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

LONGEST_LINE = 1 << 24  # bytes; a page's part travels as one line
Message = dict[str, Any]


class Refused(Exception):
    """The server did not answer as it answers a browser."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the pages are, and the number under which Gradio knows each event of ours."""

    port: int
    events: dict[str, int] = field(default_factory=dict)


class Browser:
    """One open tab: its cookie and its session with Gradio; each request has a connection of its own."""

    def __init__(self, address: Address, token: str = "") -> None:
        """Open a tab; a guest's without a token."""
        self._address = address
        self._cookie = f"Cookie: attention_gym={token}\r\n" if token else ""
        self._session = secrets.token_hex(6)

    def another(self) -> Browser:
        """Return a tab of the same person."""
        tab = Browser(self._address)
        tab._cookie = self._cookie
        return tab

    async def get(self, path: str) -> bytes:
        """Return the body of a page."""
        async with self._answer("GET", path) as answer:
            return b"".join([chunk async for chunk in answer])

    async def stay(self) -> None:
        """Keep the tab's heartbeat open, as a browser does, until this is cancelled."""
        async with self._answer("GET", f"/gradio_api/heartbeat/{self._session}") as answer:
            async for _ in answer:
                pass

    async def event(self, name: str, *data: object, query: str = "") -> list[Any]:
        """Trigger an event; return the values of its outputs once it is completed."""
        return [values async for values in self.watch(name, *data, query=query)][-1]

    async def watch(self, name: str, *data: object, query: str = "") -> AsyncIterator[list[Any]]:
        """Trigger an event; yield the values of its outputs at each change, up to the last."""
        body = {"data": data, "event_data": None, "fn_index": self._address.events[name], "trigger_id": None}
        sent = json.dumps({**body, "session_hash": self._session}).encode()
        async with self._answer("POST", f"/gradio_api/queue/join?{query}", sent) as answer:
            event = json.loads(b"".join([chunk async for chunk in answer]))["event_id"]
        values: list[Any] = []
        async for message in self._messages():
            if message.get("event_id") != event or message["msg"] not in ("process_generating", "process_completed"):
                continue
            if not message["success"]:
                raise Refused(f"{name}: {message['output']}")
            values = _merged(values, message)
            yield values

    async def _messages(self) -> AsyncIterator[Message]:
        async with self._answer("GET", f"/gradio_api/queue/data?session_hash={self._session}") as answer:
            rest = b""
            async for chunk in answer:
                *lines, rest = (rest + chunk).split(b"\n\n")
                for line in lines:
                    yield json.loads(line.removeprefix(b"data: "))

    @asynccontextmanager
    async def _answer(self, method: str, path: str, body: bytes = b"") -> AsyncIterator[AsyncIterator[bytes]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._address.port, limit=LONGEST_LINE)
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{self._cookie}{kind}\r\n"
        try:
            writer.write(head.encode() + body)
            status, chunked = await _head(reader)
            if status != 200:
                raise Refused(f"{method} {path}: {status} {(await reader.read(300)).decode(errors='replace')}")
            yield _chunks(reader) if chunked else _rest(reader)
        finally:
            writer.close()


async def find_events(port: int) -> dict[str, int]:
    """Return the number of each event that has a name, from what the page tells every browser."""
    config = json.loads(await Browser(Address(port)).get("/config"))
    return {one["api_name"]: one["id"] for one in config["dependencies"] if one["api_name"]}


async def timed(task: Any) -> float:
    """Return how many seconds an awaitable took."""
    start = time.perf_counter()
    await task
    return time.perf_counter() - start


async def _head(reader: asyncio.StreamReader) -> tuple[int, bool]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    return int(head.split(b" ", 2)[1]), b"transfer-encoding: chunked" in head


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int(await reader.readline(), 16):
        yield await reader.readexactly(size)
        await reader.readline()


async def _rest(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while chunk := await reader.read(1 << 16):
        yield chunk


def _merged(values: list[Any], message: Message) -> list[Any]:
    """Return what the outputs hold after a message: whole values at first, then what has changed in each."""
    sent = message["output"].get("data", [])
    if message["msg"] == "process_generating" and values:
        return [_changed(old, changes) for old, changes in zip(values, sent, strict=True)]
    if values:  # a generator's end repeats its last values, or says nothing
        return values
    return sent


def _changed(old: Any, changes: Any) -> Any:
    for action, path, value in changes:
        if path:
            raise Refused(f"a change inside of a value: {action} {path}")
        old = old + value if action == "append" else value
    return old
