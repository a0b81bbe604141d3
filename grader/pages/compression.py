"""Answers are compressed with Brotli where the browser takes it: files once, and pages as they are sent.

Streams go out line by line, as they are. Answers to events are not compressed: in one that holds both a secret and
what an attacker has written, the length would tell something of the secret.
"""

from __future__ import annotations

import asyncio

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
        self._kept: dict[tuple[str, str], bytes] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and compress what comes back."""
        wanted = scope["type"] == "http" and scope["method"] == "GET" and "br" in _accepted(scope)
        if not wanted or scope["path"].endswith(".csv"):  # with names that students have chosen
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _Compressed(self, scope, send).send)

    async def compressed(self, scope: Scope, body: bytes) -> bytes:
        """Return a body compressed; a file's from what is kept."""
        if not is_static(scope["path"]):
            return bytes(brotli.compress(body, quality=_PAGE))
        key = scope["path"], scope.get("query_string", b"").decode("latin-1")[:80]
        if key not in self._kept:
            small = await asyncio.to_thread(brotli.compress, body, quality=_FILE)
            if sum(map(len, self._kept.values())) + len(small) > _MOST:
                self._kept.clear()
            self._kept[key] = small
        return self._kept[key]


def _accepted(scope: Scope) -> set[str]:
    offered = Headers(scope=scope).get("accept-encoding", "").lower()
    return {one.partition(";")[0].strip() for one in offered.split(",") if "q=0" not in one.replace(" ", "")}


class _Compressed:
    """Sends one answer, compressed if it is of a kind that shrinks."""

    def __init__(self, owner: Compression, scope: Scope, send: Send) -> None:
        self._owner, self._scope, self._send = owner, scope, send
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
        body = await self._owner.compressed(self._scope, bytes(self._body))
        headers = MutableHeaders(scope=start)
        headers["Content-Encoding"], headers["Content-Length"] = "br", str(len(body))
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
