"""Security headers, and the nonce that lets the page's own scripts run and no others.

Gradio draws its components with `new Function`, so `'unsafe-eval'` stays; what a stranger writes is kept from there by
`wording.pack`. Our stylesheet and scripts are put into the head of each page here, so that they are there before
Gradio starts and no page flashes in the wrong colours.
"""

from __future__ import annotations

import re
import secrets

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
_SCRIPT = re.compile(rb"<script(?=[\s>])")


class SecurityHeaders:
    """An ASGI application that adds the headers, and dresses HTML pages with `head` and the nonce."""

    def __init__(self, app: ASGIApp, head: str) -> None:
        """Shield `app`; `head` is markup of ours for the head of each page."""
        self._app = app
        self._head = head.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and change what comes back."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # A compressed page could not be changed.
        headers = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        answer = _Answer(send, self._head, keep=is_static(scope["path"]))
        await self._app({**scope, "headers": headers}, receive, answer.send)


class _Answer:
    """Sends one answer: as it comes, but an HTML page in one piece."""

    def __init__(self, send: Send, head: bytes, *, keep: bool) -> None:
        self._send = send
        self._head = head
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
        if not self._keep:
            headers["Cache-Control"] = "no-store"  # what one person is told, no cache on the way may tell another
        if headers.get("content-type", "").startswith("text/html"):
            self._start = message
            return
        headers["Content-Security-Policy"] = "default-src 'none'; frame-ancestors 'none'"
        await self._send(message)

    async def _finish(self, start: Message) -> None:
        nonce = secrets.token_urlsafe(16)
        dressed = bytes(self._body).replace(b"</head>", self._head + b"</head>", 1)
        page = _SCRIPT.sub(b'<script nonce="' + nonce.encode() + b'"', dressed)
        headers = MutableHeaders(scope=start)
        headers["Content-Security-Policy"] = POLICY.format(nonce=nonce)
        if "content-length" in headers and self._body:
            headers["content-length"] = str(len(page))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": page if self._body else b""})
