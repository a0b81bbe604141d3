"""Security headers, and the nonce that lets the page's own scripts run and no others.

Gradio draws its components with `new Function`, so `'unsafe-eval'` stays; what a stranger writes is kept from there by
`wording.pack`. Our stylesheet and scripts are put into the head of each page here, so that they are there before
Gradio starts and no page flashes in the wrong colours.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import NamedTuple

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.pages.routes import is_static

POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'self'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_UNTIL_CHANGED = "public, max-age=3600"
_SCRIPT = re.compile(rb"<script(?=[\s>])")
_BODY = re.compile(rb"<body[^>]*>")


class SecurityHeaders:
    """An ASGI application that adds the headers, and dresses HTML pages with `head` and the nonce."""

    def __init__(
        self, app: ASGIApp, *, heads: Callable[[str], tuple[bytes, bytes]], body: Callable[[Scope], bytes]
    ) -> None:
        """Shield `app`.

        Args:
            app: the application.
            heads: markup of ours for the beginning and the end of the head of the page at a path.
            body: the same for the beginning of its body.
        """
        self._app = app
        self._heads, self._body = heads, body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and change what comes back."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # A compressed page could not be changed.
        headers = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        added = Added(*self._heads(scope["path"]), self._body(scope))
        answer = _Answer(send, added, keep=is_static(scope["path"]))
        await self._app({**scope, "headers": headers}, receive, answer.send)


class Added(NamedTuple):
    """Markup of ours for a page: at the beginning and at the end of its head, and at the beginning of its body."""

    first: bytes
    last: bytes
    body: bytes

    def to(self, page: bytes) -> bytes:
        """Return the page with it."""
        head, end, rest = page.partition(b"</head>")
        head = head.replace(b"<head>", b"<head>" + self.first, 1)
        return (
            head + self.last + end + (_BODY.sub(lambda tag: tag[0] + self.body, rest, count=1) if self.body else rest)
        )


class _Answer:
    """Sends one answer: as it comes, but an HTML page in one piece."""

    def __init__(self, send: Send, added: Added, *, keep: bool) -> None:
        self._send = send
        self._added = added
        self._keep = keep
        self._start: Message | None = None
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._finish(self._start)

    async def _begin(self, message: Message) -> None:
        headers = MutableHeaders(scope=message)
        headers.update(HEADERS)
        if self._keep:
            headers.setdefault("Cache-Control", _UNTIL_CHANGED)
        else:
            headers["Cache-Control"] = "no-store"  # what one person is told, no cache on the way may tell another
        if headers.get("content-type", "").startswith("text/html"):
            self._start = message
            return
        headers["Content-Security-Policy"] = "default-src 'none'; frame-ancestors 'none'"
        await self._send(message)

    async def _finish(self, start: Message) -> None:
        nonce = secrets.token_urlsafe(16)
        page = _SCRIPT.sub(b'<script nonce="' + nonce.encode() + b'"', self._added.to(bytes(self._body)))
        headers = MutableHeaders(scope=start)
        headers["Content-Security-Policy"] = POLICY.format(nonce=nonce)
        if "content-length" in headers and self._body:
            headers["content-length"] = str(len(page))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": page if self._body else b""})
