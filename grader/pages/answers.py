"""Answers on their way out: our scripts and styles in each page, security headers, compression.

Gradio draws its components with `new Function`, so `'unsafe-eval'` stays in the policy; what a stranger writes is kept
from there by `wording.pack`. A nonce lets the page's own scripts run and no others. Our stylesheet and scripts are put
into the head of each page here, so that they are there before Gradio starts and no page flashes in the wrong colours.

Files are compressed once, and pages as they are sent; with gzip where a browser takes no Brotli, which it takes over
HTTPS, and from this machine. Streams go out line by line, as they are. Answers to events are not compressed: in one
that holds both a secret and what an attacker has written, the length would tell something of the secret.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import html
import re
import secrets
from collections.abc import Callable
from pathlib import Path

import brotli  # type: ignore[import-untyped]
from fastapi import APIRouter
from fastapi.responses import Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.pages.routes import FILES, is_static

POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'self'"
)
NO_PAGE = "default-src 'none'; frame-ancestors 'none'"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
ASSETS = Path(__file__).parent / "assets"
LEAST = 700  # bytes; below, there is nothing to gain by compressing
_UNTIL_CHANGED, _FOREVER = "public, max-age=3600", "public, max-age=31536000, immutable"
_SHRINKING = ("text/html", "text/css", "text/javascript", "application/javascript", "application/json", "image/svg+xml")
_FILE, _PAGE = 9, 4  # quality: of what is kept, and of what is compressed each time
_SCRIPT, _BODY = re.compile(rb"<script(?=[\s>])"), re.compile(rb"<body[^>]*>")
_LATER = ("charts.js", "microscope.js")  # loaded by `gym.load`
_LAST = {
    "/exercise": "exercise.js",
    **dict.fromkeys(("/teach/", "/class/attempt", "/class/results", "/assignments/results"), "reader.js"),
}  # what only one page needs
_KINDS = {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"}
# Before the first paint, so that no page flashes in the wrong colours.
_COLOURS = (
    "<script>(() => { let own = null; try { own = localStorage.getItem('gym/theme'); } catch {} "
    "const dark = (own || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'; "
    "document.documentElement.classList.toggle('dark', dark); "
    "document.documentElement.style.colorScheme = dark ? 'dark' : 'light'; })();</script>"
)


class Bundles:
    """Our scripts, styles and fonts as pages ask for them: few files, whose addresses change with their content.

    They are read once; `box_name` gives what submissions run in, for the footer of each page.
    """

    def __init__(self, box_name: Callable[[], str]) -> None:
        self._box_name = box_name
        self._bodies: dict[str, bytes] = {}
        for name, parts in FILES.items():
            body = b"\n".join((ASSETS / part).read_bytes() for part in parts)
            self._bodies[name] = body.replace(b"/gym/math.woff2", self._address("math.woff2").encode())

    def router(self) -> APIRouter:
        """Return the route of the files."""
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/gym/{name}", self._file, methods=["GET", "HEAD"])
        return router

    async def _file(self, name: str) -> Response:
        if name not in self._bodies:
            return Response("There is nothing here.", 404)
        kind = _KINDS[Path(name).suffix]
        return Response(self._bodies[name], media_type=kind, headers={"Cache-Control": _FOREVER})

    def heads(self, path: str) -> tuple[bytes, bytes]:
        """Return what to put at the beginning, and at the end, of the head of the page at `path`.

        Our scripts run before Gradio's, but for the editor's, which are larger than all of these; our styles come last.
        """
        metas = f'<meta name="gym-box" content="{html.escape(self._box_name())}">'
        metas += "".join(f'<meta name="gym-{Path(n).stem}" content="{self._address(n)}">' for n in _LATER)
        style = f'<link rel="stylesheet" href="{self._address("gym.css")}">'
        last = self._script(_LAST[path]) if path in _LAST else ""
        title = "<title>Attention Gym</title>" if path == "/exercise" else ""  # Gradio's scripts come later with theirs
        return f"{title}{_COLOURS}{self._script('gym.js')}".encode(), f"{style}{metas}{last}".encode()

    def _script(self, name: str) -> str:
        return f'<script defer src="{self._address(name)}"></script>'

    def _address(self, name: str) -> str:
        body = self._bodies.get(name, b"")
        return f"/gym/{name}?{hashlib.sha256(body).hexdigest()[:16]}" if body else f"/gym/{name}"


class Compressor:
    """Compresses bodies, those of files once for all who ask: after a start a whole class does so at the same time."""

    def __init__(self) -> None:
        # By coding, path and content; there are no more than the closed list of files has.
        self._files: dict[tuple[str, str, str], asyncio.Task[bytes]] = {}

    async def compressed(self, path: str, body: bytes, coding: str) -> bytes:
        """Return the body of an answer at `path` in a coding, `br` or `gzip`; a file's from what is kept."""
        if not is_static(path):
            return _compress(body, coding, _PAGE)
        key = coding, path, hashlib.sha256(body).hexdigest()
        if key not in self._files:
            self._files[key] = asyncio.create_task(asyncio.to_thread(_compress, body, coding, _FILE))
        return await asyncio.shield(self._files[key])


def _compress(body: bytes, coding: str, quality: int) -> bytes:
    return bytes(brotli.compress(body, quality=quality)) if coding == "br" else gzip.compress(body, quality, mtime=0)


def _coding(scope: Scope) -> str:
    """Return how the browser takes a body, the better way if it takes both; nothing if it takes neither."""
    if scope["method"] != "GET" or scope["path"].endswith(".csv"):  # which has names that students have chosen
        return ""
    offered = Headers(scope=scope).get("accept-encoding", "").lower().replace(" ", "")
    accepted = {one.partition(";")[0] for one in offered.split(",") if not one.endswith((";q=0", ";q=0.0"))}
    return next((coding for coding in ("br", "gzip") if coding in accepted), "")


class Answers:
    """An ASGI application that dresses what `app` answers.

    Args:
        app: the application.
        heads: markup of ours for the beginning and the end of the head of the page at a path.
        body: the same for the beginning of its body.
    """

    def __init__(
        self, app: ASGIApp, *, heads: Callable[[str], tuple[bytes, bytes]], body: Callable[[Scope], bytes]
    ) -> None:
        self.app, self.heads, self.body = app, heads, body
        self.compressor = Compressor()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and change what comes back."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # A compressed page could not be changed.
        headers = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        await self.app({**scope, "headers": headers}, receive, _Answer(self, scope, send).send)


class _Answer:
    """Sends one answer: as it comes, but what is dressed or compressed in one piece."""

    def __init__(self, owner: Answers, scope: Scope, send: Send) -> None:
        self._owner, self._scope, self._send = owner, scope, send
        self._start: Message | None = None
        self._coding = ""
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
        if is_static(self._scope["path"]):
            headers.setdefault("Cache-Control", _UNTIL_CHANGED)
        else:
            headers["Cache-Control"] = "no-store"  # what one person is told, no cache on the way may tell another
        kind = headers.get("content-type", "").partition(";")[0]
        if message["status"] == 200 and kind in _SHRINKING and "content-encoding" not in headers:
            self._coding = _coding(self._scope) if headers.get("content-length", "").isdigit() else ""
        if kind != "text/html":
            headers["Content-Security-Policy"] = NO_PAGE
        if kind == "text/html" or self._coding:
            self._start = message
        else:
            await self._send(message)

    async def _finish(self, start: Message) -> None:
        headers, body = MutableHeaders(scope=start), bytes(self._body)
        if headers.get("content-type", "").startswith("text/html"):
            nonce = secrets.token_urlsafe(16)
            headers["Content-Security-Policy"] = POLICY.format(nonce=nonce)
            body = _SCRIPT.sub(b'<script nonce="' + nonce.encode() + b'"', self._dressed(body)) if body else b""
        if self._coding and len(body) >= LEAST:
            body = await self._owner.compressor.compressed(self._scope["path"], body, self._coding)
            headers["Content-Encoding"] = self._coding
            headers.add_vary_header("Accept-Encoding")
            if "etag" in headers:
                headers["ETag"] = "W/" + headers["etag"].removeprefix("W/")
        if "content-length" in headers and body:
            headers["Content-Length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})

    def _dressed(self, page: bytes) -> bytes:
        first, last = self._owner.heads(self._scope["path"])
        added = self._owner.body(self._scope)
        head, end, rest = page.partition(b"</head>")
        head = head.replace(b"<head>", b"<head>" + first, 1) + last
        return head + end + (_BODY.sub(lambda tag: tag[0] + added, rest, count=1) if added else rest)
