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

    async def get(self, path: str) -> bytes:
        """Return the body of a page."""
        async with self._answer("GET", path) as answer:
            return b"".join([chunk async for chunk in answer])

    async def event(self, name: str, *data: object, query: str = "") -> list[Any]:
        """Trigger an event, and return the values of its outputs."""
        body = {"data": data, "event_data": None, "fn_index": self._address.events[name], "trigger_id": None}
        sent = json.dumps({**body, "session_hash": self._session}).encode()
        async with self._answer("POST", f"/gradio_api/run/{name}?{query}", sent) as answer:
            return list(json.loads(b"".join([chunk async for chunk in answer]))["data"])

    async def follow(self, submission: str) -> AsyncIterator[tuple[str, str]]:
        """Follow a run up to its end; yield the name of each part of the page that changes, and its line of JSON."""
        async with self._answer("GET", f"/runs/{submission}") as answer:
            rest = b""
            async for chunk in answer:
                *events, rest = (rest + chunk).split(b"\n\n")
                for event in events:
                    name, line = event.decode().removeprefix("event: ").split("\ndata:", 1)
                    if name == "end":
                        return
                    yield name, line.lstrip()
        raise Refused(f"the stream of {submission} broke off")

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
