"""The guard in front of everything: which paths exist, how long a body may be, what it may hold, who may send it.

Stops: reading the server's files by sending Gradio a dictionary that looks like an upload; uploads, monitoring, proxy
and other doors of Gradio that no page of ours needs; bodies that fill the memory; requests that another site makes in
a person's name. It does not decide who somebody is.
"""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

GRADIO_ROUTES = ("queue/join", "queue/data", "call/", "run/", "heartbeat/")
GRADIO_EXACT = ("cancel", "reset", "info", "app_id", "user", "login_check", "theme.css", "startup-events")
OWN_PREFIXES = ("/gym/", "/assets/", "/static/")
OWN_PATHS = (
    "/",
    "/exercise",
    "/leaderboard",
    "/work",
    "/config",
    "/theme.css",
    "/favicon.ico",
    "/manifest.json",
    "/robots.txt",
    "/sign-in",
    "/register",
    "/sign-out",
    "/health",
    "/export.csv",
)
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
DEEPEST = 40  # levels of nesting in a body


class Refusal(Exception):
    """A request that goes no further: the HTTP status and the sentence sent back."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class Guard:
    """An ASGI application that lets only harmless requests through to `app`."""

    def __init__(self, app: ASGIApp, body_limit: int) -> None:
        """Guard `app`; a body holds at most `body_limit` bytes."""
        self._app = app
        self._body_limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refused request, or pass it on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            receive = await self._checked(scope, receive)
        except Refusal as refusal:
            await PlainTextResponse(refusal.text, refusal.status)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _checked(self, scope: Scope, receive: Receive) -> Receive:
        headers = Headers(scope=scope)
        if not is_known(scope["path"]):
            raise Refusal(404, "There is nothing here.")
        if scope["method"] in SAFE_METHODS:
            return receive
        check_origin(headers)
        body = await self._body(headers, receive)
        if is_gradio(scope["path"]):
            check_body(body)
        return _replay(body, receive)

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        declared = headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > self._body_limit:
            raise Refusal(413, f"That is too long; at most {self._body_limit} bytes are taken.")
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "The request ended early.")
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._body_limit:
                raise Refusal(413, f"That is too long; at most {self._body_limit} bytes are taken.")
        return bytes(body)


def is_gradio(path: str) -> bool:
    """Return whether a path belongs to Gradio's interface."""
    return _below_mount(path).startswith("/gradio_api/")


def is_known(path: str) -> bool:
    """Return whether a path is one that our pages use."""
    path = _below_mount(path)
    if ".." in path or "\\" in path or "//" in path:
        return False
    if path.startswith("/gradio_api/"):
        route = path.removeprefix("/gradio_api/").rstrip("/")
        return route in GRADIO_EXACT or route.startswith(GRADIO_ROUTES)
    return path in OWN_PATHS or path.startswith(OWN_PREFIXES)


def _below_mount(path: str) -> str:
    """Return the path inside the mount: `/teach/config` is `/config` of the instructors' pages."""
    return (path.removeprefix("/teach") or "/") if path == "/teach" or path.startswith("/teach/") else path


def check_origin(headers: Headers) -> None:
    """Refuse a writing request that another site makes.

    Raises:
        Refusal: the browser says that the request comes from elsewhere.
    """
    origin = headers.get("origin")
    site = headers.get("sec-fetch-site", "none")
    if site not in ("same-origin", "none"):
        raise Refusal(403, "This request came from another site.")
    if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
        raise Refusal(403, "This request came from another site.")


def check_body(body: bytes) -> None:
    """Refuse a body that holds what Gradio would take for a file.

    Raises:
        Refusal: it is no JSON, too deep, or holds a dictionary with both `path` and `meta`.
    """
    if not body:
        return
    try:
        level = [json.loads(body)]
    except (ValueError, RecursionError):
        raise Refusal(400, "That is no JSON.") from None
    for _ in range(DEEPEST):
        if any(isinstance(value, dict) and "path" in value and "meta" in value for value in level):
            raise Refusal(400, "Files are not taken here.")
        level = [inner for value in level for inner in _children(value)]
        if not level:
            return
    raise Refusal(400, "That is nested too deeply.")


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
