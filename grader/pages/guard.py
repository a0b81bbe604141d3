"""Checks every request before the application sees it: its path, the size and content of its body, and who sends it.

Stops: reading the server's files by sending Gradio a dictionary that looks like an upload; Gradio's routes that
our pages do not need, such as uploads, monitoring and proxy; bodies that fill the memory or never end;
headers that make Gradio believe it is served elsewhere; cross-site requests; unknown events; floods of requests.
Submissions wait for their turn here. What a person may see is not decided here.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager, nullcontext

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.errors import record
from grader.pages.plain import AWAY, MET, STORE_FAULTS, Refusal
from grader.pages.request_limits import BODY_BYTES, RequestLimiter, Who
from grader.pages.requests import (
    Events,
    check_event,
    check_origin,
    client_of,
    form_of,
    parse,
    rebuilt,
    remade,
    with_body,
)
from grader.pages.routes import Body, Route, Routes, event_of
from grader.service.limits import household

LOG = logging.getLogger(__name__)
BODY_SECONDS = 30.0
REST_SECONDS = 1.0  # and
REST_BYTES = 4 << 20  # of a refused body are read, so that its sender gets to read why
FORM_BYTES = 32 << 10
LARGE = 64 << 10  # bytes of a body, from which on they come in turns; below, the server has it before anybody asks
LARGE_AT_ONCE = 256  # large bodies of everybody: together they must fit into the memory
AT_ONCE = 2  # submissions; when a whole class submits, other requests must not wait behind them
HOST = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")


class Guard:
    """An ASGI application that lets only harmless requests through to `app`.

    Args:
        app: the application behind it.
        body_limit: the largest body that is accepted, in bytes.
        events: what may be sent to the Gradio application.
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
        events: Events,
        crowd: RequestLimiter,
        recognise: Callable[[Scope], Awaitable[Who]],
        secure: bool = False,
        cookies: Collection[str] = (),
        routes: Routes | None = None,
        patience: float = BODY_SECONDS,
    ) -> None:
        self._app = app
        self._body_limit = body_limit
        self._events = events
        self._crowd = crowd
        self._recognise = recognise
        self._secure = secure
        self._cookies = cookies
        self._routes = routes or Routes()
        self._patience = patience
        self._submitting = asyncio.Semaphore(AT_ONCE)
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a refusal."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, network = Headers(scope=scope), household(client_of(scope)[0])
        incoming, met = Incoming(headers, receive), StoreFaults(self._routes.find(scope["path"]))
        if incoming.is_gone:
            return
        try:
            with self._crowd.inside(network), met.turned_into_a_refusal():
                await self._serve(scope, incoming, met.without_500(send))
        except HungUp:
            return
        except Refusal as refusal:
            await incoming.drop_rest(self._crowd.turn(f"rests {network}"))
            async with self._crowd.turn(network):
                refused = refusal.answer(headers)
            await refused(scope, receive, send)

    async def _serve(self, scope: Scope, incoming: Incoming, send: Send) -> None:
        """Check a request, and pass it on once it is its turn; a turn ends as the answer begins."""
        async with AsyncExitStack() as turns:
            await turns.enter_async_context(self._turn(household(client_of(scope)[0]), incoming))
            route, request = self._without_body(scope, incoming.headers)
            receive: Receive = incoming
            if not route.static:
                request, receive = await self._known(route, request, incoming, turns)

            async def sent(message: Message) -> None:
                await turns.aclose()  # however slowly the answer is read, nothing works for it then
                await send(message)

            await self._app(request, receive, sent)

    async def _known(
        self, route: Route, request: Scope, incoming: Incoming, turns: AsyncExitStack
    ) -> tuple[Scope, Receive]:
        """Return a request as it is passed on, once it is known whose it is, and it is their turn."""
        who = await self._recognise(request)
        self._crowd.admit(who)
        await turns.aclose()
        is_writing = request["method"] == "POST"
        if is_writing and incoming.is_large:  # whoever sends the next ones keeps them until then
            await turns.enter_async_context(self._crowd.turn(f"bodies {who.key}"))
            await turns.enter_async_context(self._large)
        body = await self._body(route, incoming) if is_writing else b""
        if body:
            self._crowd.admit(who, len(body) / BODY_BYTES)
        if not route.waits:
            await turns.enter_async_context(self._turn(who.key, incoming))
        if not is_writing:
            return request, incoming
        body, may_wait = self._checked(route, request["path"], body)
        if may_wait:
            await turns.enter_async_context(self._submitting)
        return with_body(request, body, route.body), replay(body, incoming)

    @asynccontextmanager
    async def _turn(self, name: str, incoming: Incoming) -> AsyncIterator[None]:
        """Wait for a turn of `name`.

        Raises:
            HungUp: the sender of the request is gone by then. Else somebody who sends requests and hangs up at once
                would have as much done as they like, since their connections are never many.
        """
        async with self._crowd.turn(name):
            if incoming.is_gone:
                raise HungUp
            yield

    def _without_body(self, scope: Scope, headers: Headers) -> tuple[Route, Scope]:
        """Return what is asked for, and the request without its body as it is passed on."""
        route, method = self._routes.find(scope["path"]), scope["method"]
        if route is None:
            raise Refusal(404, "There is nothing here.")
        if method not in route.methods:
            raise Refusal(405, f"Use {' or '.join(route.methods)} here.")
        if method != "POST" and headers.get("content-length", "0") != "0":
            raise Refusal(400, "Send no body here.")
        if "host" in headers and not HOST.fullmatch(headers["host"]):
            raise Refusal(400, "The host name is invalid.")
        if method == "POST":
            check_origin(headers, "https" if self._secure else scope.get("scheme", "http"))
        return route, rebuilt(scope, route, self._cookies)

    async def _body(self, route: Route, incoming: Incoming) -> bytes:
        """Return a body, in however many pieces it arrives."""
        form = route.body is Body.FORM
        limit = route.most or (min(self._body_limit, FORM_BYTES) if form else self._body_limit)
        try:
            async with asyncio.timeout(self._patience):
                body = await incoming.whole(limit)
        except TimeoutError:
            raise Refusal(408, f"The body took longer than {self._patience:.0f} seconds to arrive.") from None
        sent_as = incoming.headers.get("content-type", "").partition(";")[0].strip().lower()
        if sent_as != route.body.value and (body or not form):
            raise Refusal(415, f"Send {'a form' if form else 'this'} as {route.body.value}.")
        return body

    def _checked(self, route: Route, path: str, body: bytes) -> tuple[bytes, bool]:
        """Return a body as it is passed on, and whether it may wait for others."""
        if route.body is Body.FORM:
            return form_of(body, route.form), False
        if route.body is not Body.EVENT:
            return body, False
        document = parse(body)
        event = check_event(self._events, event_of(path), document)
        return remade(event, document), event.may_wait


class StoreFaults:
    """The faults of the store that a request for `route` has met, which are answered by one refusal."""

    def __init__(self, route: Route | None) -> None:
        self._met: list[Exception] = []
        self._begun = False
        self._as_json = route is not None and route.body in (Body.EVENT, Body.TEXT)

    def without_500(self, send: Send) -> Send:
        """Return a `send` that holds a 500 back where the store was away: that is how Gradio answers what is raised."""

        async def sent(message: Message) -> None:
            if not self._begun and self._met and message.get("status", 500) == 500:
                return
            self._begun = True
            await send(message)

        return sent

    @contextmanager
    def turned_into_a_refusal(self) -> Iterator[None]:
        """Raise a refusal after the block where it met a fault of the store, wherever in it that came up.

        Raises:
            Refusal: there was one, and nothing was sent yet.
        """
        token = MET.set(self._met)
        try:
            yield
        except STORE_FAULTS as fault:
            record(LOG, "a request met a fault of the store", fault)
            self._met.append(fault)
        finally:
            MET.reset(token)
        if self._met and not self._begun:
            raise Refusal(503, AWAY, as_json=self._as_json)


class HungUp(Exception):
    """Who sent a request has hung up, so nobody would read the answer."""


class Incoming:
    """The body of a request as it arrives; callable as ASGI's `receive`."""

    def __init__(self, headers: Headers, receive: Receive) -> None:
        self._receive, self.headers = receive, headers
        length = headers.get("content-length", "0")
        self._length = int(length) if len(length) <= 20 and length.isascii() and length.isdigit() else None
        self._ended = self._length == 0

    @property
    def is_large(self) -> bool:
        """Whether it says to be long, or does not say how long it is."""
        return self._length is None or self._length > LARGE

    @property
    def is_gone(self) -> bool:
        """Whether the connection has ended: `receive` is a method of what knows it, in the server that we run."""
        return bool(getattr(getattr(self._receive, "__self__", None), "disconnected", False))

    async def __call__(self) -> Message:
        """Return the next piece."""
        message = await self._receive()
        self._ended = not message.get("more_body", False)
        return message

    async def whole(self, limit: int) -> bytes:
        """Return all of it.

        Raises:
            Refusal: it ends early, or has more than `limit` bytes.
        """
        too_long = Refusal(413, f"The body is too long; at most {limit} bytes are accepted.")
        if self._length is None or self._length > limit:
            raise too_long
        body, more = bytearray(), True
        while more:
            message = await self()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "The request ended early.")
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > limit:
                raise too_long
        return bytes(body)

    async def drop_rest(self, turn: AbstractAsyncContextManager[None]) -> None:
        """Read what is left once it is its turn, for a short time and up to a size.

        A connection that is closed with something unread is reset, and the other side may lose the answer to it.
        """
        size = 0
        try:
            async with asyncio.timeout(REST_SECONDS), nullcontext() if self._ended else turn:
                while not self._ended and size < REST_BYTES:
                    size += len((await self()).get("body", b""))
        except TimeoutError:
            pass  # whoever sends so slowly may miss the answer


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read already, and then what comes after it."""
    left = [body]

    async def again() -> Message:
        return {"type": "http.request", "body": left.pop(), "more_body": False} if left else await receive()

    return again
