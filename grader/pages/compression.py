"""Answers are compressed: files once, and pages as they are sent; with gzip where a browser takes no Brotli.

Browsers take Brotli over HTTPS, and from this machine.

Streams go out line by line, as they are. Answers to events are not compressed: in one that holds both a secret and
what an attacker has written, the length would tell something of the secret.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib

import brotli  # type: ignore[import-untyped]
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.pages.routes import is_static

LEAST = 700  # bytes; below, there is nothing to gain
_KINDS = ("text/html", "text/css", "text/javascript", "application/javascript", "application/json", "image/svg+xml")
_FILE, _PAGE = 9, 4  # quality: of what is kept, and of what is compressed each time
_MOST = 16 << 20  # bytes of compressed files that are kept


class Compression:
    """An ASGI application that compresses what `app` answers."""

    def __init__(self, app: ASGIApp) -> None:
        """Compress the answers of `app`."""
        self._app = app
        self._kept: dict[tuple[str, str, str], bytes] = {}
        self._coming: dict[tuple[str, str, str], asyncio.Task[bytes]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and compress what comes back."""
        coding = _coding(scope) if scope["type"] == "http" and scope["method"] == "GET" else ""
        if not coding or scope["path"].endswith(".csv"):  # with names that students have chosen
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _Compressed(self, scope, send, coding).send)

    async def compressed(self, scope: Scope, body: bytes, coding: str) -> bytes:
        """Return a body compressed; a file's from what is kept."""
        if not is_static(scope["path"]):
            return _compress(body, coding, _PAGE)
        key = coding, scope["path"], hashlib.sha256(body).hexdigest()
        if key not in self._kept:
            # Once for all who wait: after a start a whole class asks for the same files at once.
            if key not in self._coming:
                self._coming[key] = asyncio.create_task(asyncio.to_thread(_compress, body, coding, _FILE))
                self._coming[key].add_done_callback(lambda _: self._coming.pop(key))
            small = await asyncio.shield(self._coming[key])
            if sum(map(len, self._kept.values())) + len(small) > _MOST:
                self._kept.clear()
            self._kept[key] = small
        return self._kept[key]


def _coding(scope: Scope) -> str:
    """Return how the browser takes a body, the better way if it takes both; nothing if it takes neither."""
    offered = Headers(scope=scope).get("accept-encoding", "").lower().replace(" ", "")
    accepted = {one.partition(";")[0] for one in offered.split(",") if not one.endswith((";q=0", ";q=0.0"))}
    return next((coding for coding in ("br", "gzip") if coding in accepted), "")


def _compress(body: bytes, coding: str, quality: int) -> bytes:
    return bytes(brotli.compress(body, quality=quality)) if coding == "br" else gzip.compress(body, quality, mtime=0)


class _Compressed:
    """Sends one answer, compressed if it is of a kind that shrinks."""

    def __init__(self, owner: Compression, scope: Scope, send: Send, coding: str) -> None:
        self._owner, self._scope, self._send, self._coding = owner, scope, send, coding
        self._start: Message | None = None
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_worth_it(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._finish(self._start)

    async def _finish(self, start: Message) -> None:
        body = await self._owner.compressed(self._scope, bytes(self._body), self._coding)
        headers = MutableHeaders(scope=start)
        headers["Content-Encoding"], headers["Content-Length"] = self._coding, str(len(body))
        headers.add_vary_header("Accept-Encoding")
        if "etag" in headers:
            headers["ETag"] = "W/" + headers["etag"].removeprefix("W/")
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _is_worth_it(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    length = headers.get("content-length", "")
    shrinks = headers.get("content-type", "").partition(";")[0] in _KINDS and "content-encoding" not in headers
    return bool(start["status"] == 200 and shrinks and length.isdigit() and int(length) >= LEAST)
