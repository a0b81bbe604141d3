"""The guard in front of everything: which paths exist, how long a body may be, what it may hold, who may send it.

Stops: reading the server's files by sending Gradio a dictionary that looks like an upload; uploads, monitoring, proxy
and other doors of Gradio that no page of ours needs; bodies that fill the memory or never end; headers that tell Gradio
to be somewhere else; requests that another site makes in a person's name; events that are none; floods. It lets those
who hand in wait for their turn. It does not decide what a person may see.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.pages.crowd import Crowd, Who
from grader.pages.envelope import Events, check_event, parse
from grader.pages.origin import check_origin
from grader.pages.refusal import Refusal

# All events go past Gradio's queue, so that it keeps no answers, and all doors to these can be shut.
GRADIO_EVENTS = "run/"
GRADIO_EXACT = ("info", "app_id", "user", "login_check", "theme.css", "startup-events")
RUNS = re.compile("/runs/[0-9a-f]{1,64}")
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
LONGEST_PATH = 300  # characters
BODY_SECONDS = 30.0
AT_ONCE = 2  # handing in; when a whole class does, those who read their pages are not to stand behind it
HOST = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
# What Gradio would build the addresses of its pages from; the server has read what a proxy of ours says already.
MISLEADING = frozenset(
    (b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-port", b"x-forwarded-prefix", b"x-gradio-server")
)

Turn = AbstractAsyncContextManager[None]


class Guard:
    """An ASGI application that lets only harmless requests through to `app`.

    Args:
        app: what is guarded.
        body_limit: how many bytes a body holds at most.
        events: what may be sent to the Gradio application at each mount, ``""`` for the students'.
        crowd: counts who asks for how much.
        recognise: tells who is asking.
        secure: whether browsers reach us by HTTPS only.
        patience: how many seconds a body may take to arrive.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        body_limit: int,
        events: Mapping[str, Events],
        crowd: Crowd,
        recognise: Callable[[Scope], Awaitable[Who]],
        secure: bool = False,
        patience: float = BODY_SECONDS,
    ) -> None:
        """Stand before `app`."""
        self._app = app
        self._body_limit = body_limit
        self._events = events
        self._crowd = crowd
        self._recognise = recognise
        self._secure = secure
        self._patience = patience
        self._door = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refused request, or pass it on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            passed_on, receive, turn = await self._checked(scope, receive)
            async with turn:
                await self._app(passed_on, receive, send)
        except Refusal as refusal:
            # What is left of the request is not read, so nothing else can come over this connection.
            answer = PlainTextResponse(refusal.text, refusal.status, {"Connection": "close"})
            await answer(scope, receive, send)

    async def _checked(self, scope: Scope, receive: Receive) -> tuple[Scope, Receive, Turn]:
        headers = Headers(scope=scope)
        check_address(scope["path"], headers)
        plain = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] not in MISLEADING]}
        if is_static(scope["path"]):
            return plain, receive, nullcontext()
        writing = scope["method"] not in SAFE_METHODS
        if writing:
            check_origin(headers, "https" if self._secure else scope.get("scheme", "http"))
        self._crowd.admit(await self._recognise(scope))
        if not writing:
            return plain, receive, nullcontext()
        body = await self._body(headers, receive)
        return plain, replay(body, receive), self._turn(scope["path"], headers, body)

    def _turn(self, path: str, headers: Headers, body: bytes) -> Turn:
        """Check an event, and return what it has to wait for."""
        mount, route = split(path)
        if not route:
            return nullcontext()  # a form of ours
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refusal(415, "Events are sent as application/json.")
        event = check_event(self._events[mount], route, parse(body))
        return self._door if event.patient else nullcontext()

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        declared = headers.get("content-length", "0")
        if not (declared.isascii() and declared.isdigit()) or int(declared[:20]) > self._body_limit:
            raise Refusal(413, f"That is too long; at most {self._body_limit} bytes are taken.")
        try:
            async with asyncio.timeout(self._patience):
                return await self._whole(receive)
        except TimeoutError:
            raise Refusal(408, f"That took longer than {self._patience:.0f} seconds to arrive.") from None

    async def _whole(self, receive: Receive) -> bytes:
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


def split(path: str) -> tuple[str, str]:
    """Return the mount that a path belongs to, and what follows `/gradio_api/`, empty where nothing does."""
    mount = "/teach" if path == "/teach" or path.startswith("/teach/") else ""
    below = path.removeprefix(mount)
    prefix = "/gradio_api/"
    return mount, below.removeprefix(prefix).rstrip("/") if below.startswith(prefix) else ""


def is_static(path: str) -> bool:
    """Return whether a path leads to what is the same for everybody, and costs nothing to send."""
    return path.removeprefix("/teach").startswith(OWN_PREFIXES)


def is_known(path: str) -> bool:
    """Return whether a path is one that our pages use."""
    mount, route = split(path)
    if ".." in path or "\\" in path or "//" in path or not path.isprintable() or len(path) > LONGEST_PATH:
        return False
    if route:
        return route in GRADIO_EXACT or route.startswith(GRADIO_EVENTS)
    below = path.removeprefix(mount) or "/"
    return below in OWN_PATHS or below.startswith(OWN_PREFIXES) or RUNS.fullmatch(path) is not None


def check_address(path: str, headers: Headers) -> None:
    """Refuse a path that no page of ours uses, a host that is no name, and a body of two lengths.

    Raises:
        Refusal: it is one of these.
    """
    if not is_known(path):
        raise Refusal(404, "There is nothing here.")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise Refusal(400, "A body has one length.")  # else two readers may see two requests
    if "host" in headers and not HOST.fullmatch(headers["host"]):
        raise Refusal(400, "That is no name of a host.")


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a way to receive a body that has been read already, and then what comes after it."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
