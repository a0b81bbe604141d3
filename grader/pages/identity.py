"""Who is asking: the session cookie, and the person behind it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Protocol

from fastapi import Request, Response
from starlette.types import Scope

from grader.pages.request_limits import Who
from grader.pages.wording import clean
from grader.service import Service
from grader.service.sessions import MARK_SECONDS
from grader.store.records import Role, User, UserId

PLAIN_NAME = "attention_gym"
MARK_NAME = "attention_gym_browser"
FACE_SECONDS = 30.0
MOST_FACES = 10_000


class HasCookies(Protocol):
    """A request, Gradio's or FastAPI's."""

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies by name."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Reads and writes the session cookie."""

    service: Service
    secure: bool

    @property
    def cookie(self) -> str:
        """The cookie's name; `__Host-` ties it to this host, which browsers grant over HTTPS only."""
        return f"__Host-{PLAIN_NAME}" if self.secure else PLAIN_NAME

    def token(self, request: HasCookies) -> str | None:
        """Return the session's token, if there is one."""
        return request.cookies.get(self.cookie)

    def user(self, request: HasCookies) -> User | None:
        """Return who is asking; None for a guest."""
        return self.service.user_of(self.token(request))

    def instructor(self, request: HasCookies) -> User | None:
        """Return who is asking, if they teach any class; None for everybody else."""
        user = self.user(request)
        return user if user is not None and user.role is Role.INSTRUCTOR else None

    @property
    def mark_cookie(self) -> str:
        """The name of the cookie by which a browser is known again at the next sign-in; it opens nothing."""
        return f"__Host-{MARK_NAME}" if self.secure else MARK_NAME

    def mark(self, request: HasCookies) -> str | None:
        """Return what the browser kept from an earlier sign-in."""
        return request.cookies.get(self.mark_cookie)

    def set(self, response: Response, token: str, seconds: int) -> None:
        """Let the browser keep the session for `seconds`, and its mark for half a year."""
        kept = [(self.cookie, token, seconds)]
        if (user := self.service.user_of(token)) and not user.visitor:
            kept.append((self.mark_cookie, self.service.mark(user), MARK_SECONDS))
        for name, value, age in kept:
            response.set_cookie(name, value, max_age=age, httponly=True, secure=self.secure, samesite="lax", path="/")

    def clear(self, response: Response) -> None:
        """Let the browser forget the session."""
        response.delete_cookie(self.cookie, httponly=True, secure=self.secure, samesite="lax", path="/")


class CallerCache:
    """Knows people again for a while without asking the store; for counting them, never for what they may see.

    Whoever is in no class counts as a guest at their address: a cookie more costs nothing, and must gain nothing.
    """

    def __init__(self, identity: Identity) -> None:
        """Know nobody yet."""
        self._identity = identity
        self._known: dict[str, tuple[int | None, float]] = {}

    async def recognise(self, scope: Scope) -> Who:
        """Return who is asking."""
        address = scope["client"][0] if scope.get("client") else ""
        token = self._identity.token(Request(scope))
        return Who(await self._user(token) if token else None, address)

    async def _user(self, token: str) -> int | None:
        user, until = self._known.get(token, (None, 0.0))
        if until < time.monotonic():
            found = await asyncio.to_thread(self._identity.service.user_of, token)
            user = found.id if found and found.member else None
            if len(self._known) >= MOST_FACES:
                self._known = {}
            self._known[token] = (user, time.monotonic() + FACE_SECONDS)
        return user


def shown_name(user: User) -> str:
    """Return a person's name as pages show it."""
    return clean(user.name, 64)


def id_of(text: str) -> UserId:
    """Return the id that a form or an address names; that of nobody for what is none."""
    return UserId(int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0)
