"""Who is asking: the session cookie, and the person behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fastapi import Response

from grader.pages.wording import clean
from grader.service import Service
from grader.store.records import Role, User

PLAIN_NAME = "attention_gym"


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
        """Return the instructor who is asking; None for everybody else."""
        user = self.user(request)
        return user if user is not None and user.role is Role.INSTRUCTOR else None

    def set(self, response: Response, token: str, seconds: int) -> None:
        """Let the browser keep the session for `seconds`."""
        response.set_cookie(
            self.cookie, token, max_age=seconds, httponly=True, secure=self.secure, samesite="lax", path="/"
        )

    def clear(self, response: Response) -> None:
        """Let the browser forget the session."""
        response.delete_cookie(self.cookie, httponly=True, secure=self.secure, samesite="lax", path="/")


def shown_name(user: User) -> str:
    """Return a person's name as pages show it."""
    return clean(user.name, 64)
