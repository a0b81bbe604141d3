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
        headers, network = Headers(scope=scope), household(client_of(scope)[0])
        incoming = Incoming(headers, receive)
        answer = Answer(send)
        if incoming.is_gone:
            return
        try:
            with self._crowd.inside(network), answer.without_store_faults(self._speaks_json(scope)):
                async with AsyncExitStack() as taken:
                    await taken.enter_async_context(self._turn(f"heads {network}", incoming))
                    route, plain = self._plain(scope, headers)
                    await taken.aclose()
                    passed_on, remade = await self._checked(route, plain, incoming, taken)
                    await self._app(passed_on, remade, giving_back(taken, answer))
            await answer.release()
        except HungUp:
            return
        except Refusal as refusal:
            await incoming.drop_rest(self._crowd.turn(f"rests {network}"))
            async with self._crowd.turn(f"heads {network}"):
                refused = refusal.answer(headers)
            await refused(scope, receive, send)

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

    def _speaks_json(self, scope: Scope) -> bool:
        route = self._routes.find(scope["path"])
        return route is not None and route.body in (Body.EVENT, Body.TEXT)

    def _plain(self, scope: Scope, headers: Headers) -> tuple[Route, Scope]:
        """Return what is asked for, and the request without its body as it is passed on."""
        route = self._routes.find(scope["path"])
        if route is None:
            raise Refusal(404, "There is nothing here.")
        check_head(route, scope["method"], headers)
        if scope["method"] == "POST":
            check_origin(headers, "https" if self._secure else scope.get("scheme", "http"))
        return route, rebuilt(scope, route, self._cookies)

    async def _checked(
        self, route: Route, plain: Scope, receive: Incoming, taken: AsyncExitStack
    ) -> tuple[Scope, Receive]:
        """Return the request as it is passed on, once it is its turn, which `taken` gives back."""
        network = household(plain["client"][0])
        if route.static:
            await taken.enter_async_context(self._turn(f"files {network}", receive))
            return plain, receive
        writing = plain["method"] == "POST"
        async with self._turn(f"faces {network}", receive):  # the store is asked, before anybody is counted
            who = await self._recognise(plain)
        self._crowd.admit(who)
        body = b""
        if writing:
            receive.hold = taken.enter_context(self._crowd.holding(who))
            async with self._crowd.turn(f"bodies {who.key}") if receive.is_large else nullcontext():
                body = await self._body(route, receive)
            self._crowd.admit(who, len(body) / BODY_BYTES)
        if not route.waits:
            await taken.enter_async_context(self._turn(who.key, receive))  # what is below takes time of the loop
        if not writing:
            return plain, receive
        if route.body is Body.FORM:
            body = form_of(body, route.form)
        elif route.body is Body.EVENT:
            body, patient = self._event(plain["path"], body)
            if patient:
                await taken.enter_async_context(self._door)
        return with_body(plain, body, route.body), replay(body, receive)

    def _event(self, path: str, body: bytes) -> tuple[bytes, bool]:
        """Return an event as it is passed on, and whether it may wait for others."""
        document = parse(body)
        event = check_event(self._events, event_of(path), document)
        return remade(event, document), event.patient

    async def _body(self, route: Route, receive: Incoming) -> bytes:
        form = route.body is Body.FORM
        body = await self._whole(receive, min(self._body_limit, FORM_BYTES) if form else self._body_limit)
        sent_as = receive.headers.get("content-type", "").partition(";")[0].strip().lower()
        if sent_as != route.body.value and (body or not form):
            raise Refusal(415, f"Send {'a form' if form else 'this'} as {route.body.value}.")
        return body

    async def _whole(self, receive: Incoming, limit: int) -> bytes:
        declared = receive.headers.get("content-length", "0")
        if not (declared.isascii() and declared.isdigit()) or int(declared[:20]) > limit:
            raise Refusal(413, f"The body is too long; at most {limit} bytes are accepted.")
        try:
            async with asyncio.timeout(self._patience):
                return await whole(receive, limit)
        except TimeoutError:
            raise Refusal(408, f"The body took longer than {self._patience:.0f} seconds to arrive.") from None


class HungUp(Exception):
    """Who sent a request has hung up, so nobody would read the answer."""


class Answer:
    """The answer to a request as it is sent; callable as ASGI's `send`.

    One of status 500 is held back to its end: whoever sent it may yet say that the store was away.
    """

    def __init__(self, send: Send) -> None:
        """Pass on to `send`."""
        self._send = send
        self._begun = False
        self._held: list[Message] = []

    async def __call__(self, message: Message) -> None:
        """Send a piece, or hold it back."""
        if self._held or (message["type"] == "http.response.start" and message["status"] == 500):
            self._held.append(message)
            return
        self._begun = True
        await self._send(message)

    async def release(self) -> None:
        """Send what was held back."""
        held, self._held = self._held, []
        for message in held:
            await self._send(message)

    @contextmanager
    def without_store_faults(self, as_json: bool) -> Iterator[None]:
        """Turn what the store's faults have led to into one refusal, wherever in the block they came up.

        Raises:
            Refusal: there was one, and nothing was sent yet.
        """
        met: list[Exception] = []
        token = MET.set(met)
        try:
            yield
        except STORE_FAULTS as fault:
            record(LOG, "a request met a fault of the store", fault)
            met.append(fault)
        finally:
            MET.reset(token)
        if met and not self._begun:
            raise Refusal(503, AWAY, as_json=as_json)


class Incoming:
    """The body of a request as it arrives; callable as ASGI's `receive`.

    `hold`: is told how many bytes have come, and may refuse them. `is_large`: whether it says to be.
    """

    def __init__(self, headers: Headers, receive: Receive) -> None:
        """Read from `receive` what comes after `headers`."""
        self._receive, self.headers = receive, headers
        self.hold: Callable[[int], None] = lambda _: None
        length = headers.get("content-length", "0")
        self._ended = length == "0"
        self.is_large = len(length) > 20 or (length.isascii() and length.isdigit() and int(length) > LARGE)

    async def __call__(self) -> Message:
        """Return the next piece."""
        message = await self._next()
        self.hold(len(message.get("body", b"")))
        return message

    @property
    def is_gone(self) -> bool:
        """Whether the connection has ended: `receive` is a method of what knows it, in the server that we run."""
        return bool(getattr(getattr(self._receive, "__self__", None), "disconnected", False))

    async def _next(self) -> Message:
        message = await self._receive()
        self._ended = not message.get("more_body", False)
        return message

    async def drop_rest(self, turn: AbstractAsyncContextManager[None]) -> None:
        """Read what is left once it is its turn, for a short time and up to a size.

        A connection that is closed with something unread is reset, and the other side may lose the answer to it.
        """
        size = 0
        try:
            async with asyncio.timeout(REST_SECONDS), nullcontext() if self._ended else turn:
                while not self._ended and size < REST_BYTES:
                    size += len((await self._next()).get("body", b""))
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
    """Refuse a method or a body that the route does not accept, and an invalid host name.

    Raises:
        Refusal: it is one of these.
    """
    if method not in route.methods:
        raise Refusal(405, f"Use {' or '.join(route.methods)} here.")
    if method != "POST" and headers.get("content-length", "0") != "0":
        raise Refusal(400, "Send no body here.")
    if "host" in headers and not HOST.fullmatch(headers["host"]):
        raise Refusal(400, "The host name is invalid.")


def giving_back(taken: AsyncExitStack, send: Send) -> Send:
    """Return a `send` that ends a turn as the answer begins: however slowly it is read, nothing works for it then."""

    async def sent(message: Message) -> None:
        await taken.aclose()
        await send(message)

    return sent


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
