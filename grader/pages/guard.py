"""Checks every request before the application sees it: its path, the size and content of its body, and who sends it.

Stops: reading the server's files by sending Gradio a dictionary that looks like an upload; Gradio's routes that
our pages do not need, such as uploads, monitoring and proxy; bodies that fill the memory or never end;
headers that make Gradio believe it is served elsewhere; cross-site requests; unknown events; floods of requests.
Submissions wait for their turn here. What a person may see is not decided here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.pages.envelope import Events, check_event, parse, remade
from grader.pages.origin import check_origin
from grader.pages.rebuild import client_of, form_of, rebuilt, with_body
from grader.pages.refusal import Refusal
from grader.pages.request_limits import RequestLimiter, Who
from grader.pages.routes import Body, Route, Routes, split

BODY_SECONDS = 30.0
REST_SECONDS = 1.0  # and
REST_BYTES = 4 << 20  # of a refused body are read, so that its sender gets to read why
FORM_BYTES = 32 << 10
AT_ONCE = 2  # submissions; when a whole class submits, other requests must not wait behind them
HOST = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")

Turn = AbstractAsyncContextManager[None]


class Guard:
    """An ASGI application that lets only harmless requests through to `app`.

    Args:
        app: the application behind it.
        body_limit: the largest body that is accepted, in bytes.
        events: what may be sent to the Gradio application at each mount, ``""`` for the students'.
        crowd: counts requests by person and address.
        recognise: tells who sends a request.
        secure: whether browsers use HTTPS only.
        cookies: the names of the cookies that are passed on.
        routes: what there is.
        patience: how many seconds a body may take to arrive.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        body_limit: int,
        events: Mapping[str, Events],
        crowd: RequestLimiter,
        recognise: Callable[[Scope], Awaitable[Who]],
        secure: bool = False,
        cookies: Collection[str] = (),
        routes: Routes | None = None,
        patience: float = BODY_SECONDS,
    ) -> None:
        """Wrap `app`."""
        self._app = app
        self._body_limit = body_limit
        self._events = events
        self._crowd = crowd
        self._recognise = recognise
        self._secure = secure
        self._cookies = cookies
        self._routes = routes or Routes()
        self._patience = patience
        self._door = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a refusal."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        incoming = Incoming(Headers(scope=scope), receive)
        try:
            with self._crowd.inside(client_of(scope)[0]):
                passed_on, remade, turn = await self._checked(scope, incoming)
                async with turn:
                    await self._app(passed_on, remade, send)
        except Refusal as refusal:
            await incoming.drop_rest()
            await refusal.answer(Headers(scope=scope))(scope, receive, send)

    async def _checked(self, scope: Scope, receive: Receive) -> tuple[Scope, Receive, Turn]:
        headers = Headers(scope=scope)
        route = self._routes.find(scope["path"])
        if route is None:
            raise Refusal(404, "There is nothing here.")
        check_head(route, scope["method"], headers)
        if "transfer-encoding" in headers and scope.get("http_version") == "1.0":
            raise Refusal(400, "HTTP/1.0 has no chunked bodies.")  # an old proxy passes them on as a body without end
        plain = rebuilt(scope, route, self._cookies)
        if route.static:
            return plain, receive, nullcontext()
        writing = scope["method"] == "POST"
        if writing:
            check_origin(headers, "https" if self._secure else scope.get("scheme", "http"))
        self._crowd.admit(await self._recognise(plain))
        if not writing:
            return plain, receive, nullcontext()
        body, turn = await self._remade(route, scope["path"], headers, receive)
        return with_body(plain, body, route.body), replay(body, receive), turn

    async def _remade(self, route: Route, path: str, headers: Headers, receive: Receive) -> tuple[bytes, Turn]:
        """Return the body to pass on, and what the request has to wait for."""
        sent_as = headers.get("content-type", "").partition(";")[0].strip().lower()
        if route.body is Body.FORM:
            body = await self._body(headers, receive, min(self._body_limit, FORM_BYTES))
            if body and sent_as != Body.FORM.value:
                raise Refusal(415, f"Send a form as {Body.FORM.value}.")
            return form_of(body, route.form), nullcontext()
        body = await self._body(headers, receive, self._body_limit)
        if sent_as != route.body.value:
            raise Refusal(415, f"Send this as {route.body.value}.")
        if route.body is Body.TEXT:
            return body, nullcontext()
        mount, name = split(path)
        document = parse(body)
        event = check_event(self._events[mount], name, document)
        return remade(event, document), self._door if event.patient else nullcontext()

    async def _body(self, headers: Headers, receive: Receive, limit: int) -> bytes:
        declared = headers.get("content-length", "0")
        if not (declared.isascii() and declared.isdigit()) or int(declared[:20]) > limit:
            raise Refusal(413, f"The body is too long; at most {limit} bytes are accepted.")
        try:
            async with asyncio.timeout(self._patience):
                return await whole(receive, limit)
        except TimeoutError:
            raise Refusal(408, f"The body took longer than {self._patience:.0f} seconds to arrive.") from None


class Incoming:
    """The body of a request as it arrives; callable as ASGI's `receive`."""

    def __init__(self, headers: Headers, receive: Receive) -> None:
        """Read from `receive`."""
        self._receive = receive
        self._ended = "transfer-encoding" not in headers and headers.get("content-length", "0") == "0"

    async def __call__(self) -> Message:
        """Return the next piece."""
        message = await self._receive()
        self._ended = not message.get("more_body", False)
        return message

    async def drop_rest(self) -> None:
        """Read what is left, for a short time and up to a size.

        A connection that is closed with something unread is reset, and the other side may lose the answer to it.
        """
        size = 0
        try:
            async with asyncio.timeout(REST_SECONDS):
                while not self._ended and size < REST_BYTES:
                    size += len((await self()).get("body", b""))
        except TimeoutError:
            pass  # whoever sends so slowly may miss the answer


async def whole(receive: Receive, limit: int) -> bytes:
    """Return a body, in however many pieces it arrives.

    Raises:
        Refusal: it ends early, or is too long.
    """
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(400, "The request ended early.")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > limit:
            raise Refusal(413, f"The body is too long; at most {limit} bytes are accepted.")
    return bytes(body)


def check_head(route: Route, method: str, headers: Headers) -> None:
    """Refuse a method or a body that the route does not accept, a body with two lengths, and an invalid host name.

    Raises:
        Refusal: it is one of these.
    """
    if method not in route.methods:
        raise Refusal(405, f"Use {' or '.join(route.methods)} here.")
    chunked = "transfer-encoding" in headers
    if chunked and "content-length" in headers:
        raise Refusal(400, "Send a body with one length.")  # else two readers may see two requests
    if method != "POST" and (chunked or headers.get("content-length", "0") != "0"):
        raise Refusal(400, "Send no body here.")
    if "host" in headers and not HOST.fullmatch(headers["host"]):
        raise Refusal(400, "The host name is invalid.")


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read already, and then what comes after it."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
