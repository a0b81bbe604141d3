"""How often one may try to get in: who guesses is slowed down, and nobody can keep another person out.

A limit on wrong passwords per name alone would lock its owner out for as long as somebody else guesses. So a browser
that has been signed in under a name keeps a mark, and is counted by that mark only; without one the tries are counted
by name and address together, and by name and by address in all, with more patience.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from grader.errors import NotAllowed
from grader.service.limits import Buckets

MARK_BYTES = 12


@dataclass(frozen=True, slots=True)
class Marks:
    """Makes and reads the marks of browsers; nothing is stored."""

    key: bytes

    @classmethod
    def of(cls, secret: bytes) -> Marks:
        """Return the marks of an installation with that secret."""
        return cls(hmac.digest(secret, b"marks of browsers", hashlib.sha256))

    def make(self, name: str) -> str:
        """Return a fresh mark for a browser that has just been signed in under a folded name."""
        number = secrets.token_urlsafe(MARK_BYTES)
        return f"{number}.{self._seal(name, number)}"

    def number(self, name: str, mark: str | None) -> str | None:
        """Return the number of a mark, None unless it was made for that name."""
        number, _, seal = (mark or "").partition(".")
        right = hmac.compare_digest(seal.encode(errors="replace"), self._seal(name, number).encode())
        return number if right else None

    def _seal(self, name: str, number: str) -> str:
        text = f"{number}:{name}".encode(errors="surrogatepass")
        return hmac.digest(self.key, text, hashlib.sha256).hex()


class SignIns:
    """Counts the tries to sign in."""

    def __init__(self, marks: Marks, clock: Callable[[], float]) -> None:
        """Start with nobody slowed down."""
        self._marks = marks
        self._by_mark = Buckets(8, 30.0, clock=clock)
        self._by_pair = Buckets(8, 30.0, clock=clock)
        self._by_name = Buckets(60, 5.0, clock=clock)
        self._by_address = Buckets(200, 1.0, clock=clock)  # a whole class may sit behind one address

    def take(self, name: str, address: str, mark: str | None) -> Try:
        """Count a try under a folded name.

        Raises:
            NotAllowed: there were too many.
        """
        number = self._marks.number(name, mark)
        if number is not None:
            return _taken((self._by_mark, number, "in this browser"))
        return _taken(
            (self._by_address, address, "at your address"),
            (self._by_pair, f"{address} {name}", "under this name"),
            (self._by_name, name, "under this name"),
        )


@dataclass(frozen=True, slots=True)
class Try:
    """One try: the buckets that it was taken from, with the key in each."""

    buckets: tuple[tuple[Buckets, str], ...]

    def succeeded(self) -> None:
        """Give it back."""
        for bucket, key in self.buckets:
            bucket.give(key)


def _taken(*buckets: tuple[Buckets, str, str]) -> Try:
    """Take a try from all buckets, or from none; each comes with a key and, in words, where that is."""
    taken: list[tuple[Buckets, str]] = []
    for bucket, key, where in buckets:
        wait = bucket.take(key)
        if wait > 0:
            Try(tuple(taken)).succeeded()
            refuse(wait, f"sign-ins failed {where}")
        taken.append((bucket, key))
    return Try(tuple(taken))


class Arrivals:
    """Counts what makes accounts and sessions, which cost disk and processor even when all is right."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start with nobody slowed down."""
        self._codes = Buckets(30, 10.0, clock=clock)
        self._accounts = Buckets(600, 5.0, clock=clock)  # a large class registers in its first hour
        self._sessions = Buckets(100, 10.0, clock=clock)

    def code_tried(self, address: str) -> None:
        """Count a class code that may be wrong.

        Raises:
            NotAllowed: there were too many from that address.
        """
        refuse(self._codes.take(address), "class codes were tried at your address")

    def code_was_right(self, address: str) -> None:
        """Count an account in place of the code.

        Raises:
            NotAllowed: there were too many from that address.
        """
        self._codes.give(address)
        refuse(self._accounts.take(address), "accounts were made at your address")

    def session(self, name: str) -> None:
        """Count a session about to begin, once its owner has proven to be that.

        Raises:
            NotAllowed: there were too many.
        """
        refuse(self._sessions.take(name), "sessions were begun under this name")


def refuse(seconds: float, what: str) -> None:
    """Say how long to wait.

    Raises:
        NotAllowed: the time is not zero.
    """
    if seconds > 0:
        raise NotAllowed(f"Too many {what}. Please wait {math.ceil(seconds)} seconds and try again.")
