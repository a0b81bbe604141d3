"""How often one may try to get in: who guesses is slowed down, and others' wrong tries keep nobody out.

**Passwords.** People choose them, so guessing has to be slow, and a try is refused before the password is looked at. A
limit on wrong ones per name alone would lock its owner out for as long as somebody else guesses. So a browser that has
been signed in under a name keeps a mark, and is counted by that mark only; without one the tries are counted by name
and address together, and by name and by address in all, with more patience. Where others have used up an address, each
name still has a few first tries there. What remains: whoever guesses in the name of somebody else, at the same address
or from many, keeps that person out of browsers in which they have never been signed in.

**The class code.** A right one is always taken: the class may share an address with whoever guesses. So wrong ones
cannot be slowed down, since a guesser would only have to look which code is not refused. What protects the code is its
length: a drawn one has 59 bits. At a thousand guesses a second for half a year, more than a machine that grades answers
to, the chance of a hit is one in fifty million.
"""

from __future__ import annotations

import logging
import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from itsdangerous import BadSignature

from grader.errors import NotAllowed
from grader.service.limits import Limiter, MakeLimiter, household
from grader.service.signing import Signer

LOG = logging.getLogger(__name__)
MARK_BYTES = 12
MARK_SECONDS = 180 * 24 * 3600
FAILED_HERE = "sign-ins failed at your address"
GUESSING = (
    "many wrong class codes came from %r: somebody may be guessing. A right one is taken all the same. "
    "`attention-gym class-code --new` draws another code"
)


@dataclass(frozen=True, slots=True)
class BrowserTokens:
    """Makes and reads the marks of browsers; nothing is stored."""

    secret: bytes = field(repr=False)
    clock: Callable[[], float]

    def make(self, name: str) -> str:
        """Return a fresh mark for a browser that has just been signed in under a folded name."""
        return self._signer(name).sign(secrets.token_urlsafe(MARK_BYTES)).decode()

    def number(self, name: str, mark: str | None) -> str | None:
        """Return the number of a mark, None unless it was made for that name in the last half year."""
        try:
            signed = (mark or "").encode(errors="replace")
            return self._signer(name).unsign(signed, max_age=MARK_SECONDS).decode()
        except BadSignature:
            return None

    def _signer(self, name: str) -> Signer:
        return Signer(self.secret, b"mark of a browser of " + name.encode(errors="surrogatepass"), self.clock)


class SignIns:
    """Counts the tries to sign in."""

    def __init__(self, marks: BrowserTokens, limiter: MakeLimiter) -> None:
        """Start with nobody slowed down."""
        self._marks = marks
        self._by_mark = limiter("sign-ins by mark", 8, 30.0)
        self._by_pair = limiter("sign-ins by name and address", 8, 30.0)
        self._by_name = limiter("sign-ins by name", 60, 5.0)
        self._by_address = limiter("sign-ins by address", 200, 1.0)  # a whole class may sit behind one address
        self._first_tries = limiter("first sign-ins", 2, 600.0)  # by name and address, where the address is used up

    def take(self, name: str, address: str, mark: str | None) -> Try:
        """Count a try under a folded name.

        Raises:
            NotAllowed: there were too many.
        """
        number = self._marks.number(name, mark)
        if number is not None:
            return _taken((self._by_mark, number, "sign-ins failed in this browser"))
        home = household(address)
        pair = f"{home} {name}"
        wait = self._by_address.wait(home)
        if wait > 0 and self._first_tries.wait(pair) > 0:
            refuse(wait, FAILED_HERE)
        return _taken(
            (self._first_tries, pair, FAILED_HERE) if wait > 0 else (self._by_address, home, FAILED_HERE),
            (self._by_pair, pair, "sign-ins failed under this name"),
            (self._by_name, name, "sign-ins failed under this name"),
        )


@dataclass(frozen=True, slots=True)
class Try:
    """One try: the buckets that it was taken from, with the key in each."""

    buckets: tuple[tuple[Limiter, str], ...]

    def give_back(self) -> None:
        """Count it no longer."""
        for bucket, key in self.buckets:
            bucket.give(key)


def _taken(*buckets: tuple[Limiter, str, str]) -> Try:
    """Take a try from all buckets, or from none; each comes with a key and, in words, what there was too much of."""
    taken: list[tuple[Limiter, str]] = []
    for bucket, key, what in buckets:
        wait = bucket.take(key)
        if wait > 0:
            Try(tuple(taken)).give_back()
            refuse(wait, what)
        taken.append((bucket, key))
    return Try(tuple(taken))


class SignupLimits:
    """Counts what makes accounts and sessions, which cost disk and processor even when all is right."""

    def __init__(self, limiter: MakeLimiter) -> None:
        """Start with nobody slowed down."""
        self._wrong_codes = limiter("wrong class codes", 30, 10.0)
        self._warnings = limiter("warnings of guessed codes", 1, 3600.0)
        self._accounts = limiter("accounts", 600, 5.0)  # a large class registers in its first hour
        self._sessions = limiter("sessions", 100, 10.0)
        self._outside = limiter("accounts outside of a class", 100, 30.0)
        self._visitors = limiter("visitors", 400, 10.0)  # a lecture hall that begins without accounts
        self._all_visitors = limiter("all visitors", 2000, 2.0)

    def code_was_wrong(self, address: str) -> None:
        """Count a wrong class code; after many from one address the log says so, once an hour at most."""
        home = household(address)
        if self._wrong_codes.take(home) > 0 and self._warnings.take("") == 0:
            LOG.warning(GUESSING, home)

    def account(self, address: str, *, in_class: bool = True) -> Try:
        """Count an account about to be made, by somebody who knows the class code or by somebody else.

        Raises:
            NotAllowed: there were too many from that address.
        """
        bucket = self._accounts if in_class else self._outside  # strangers may share the address of a class
        return _taken((bucket, household(address), "accounts were made at your address"))

    def visitor(self, address: str) -> None:
        """Count a visitor about to run something for the first time.

        Raises:
            NotAllowed: there were too many from that address, or in all.
        """
        _taken(
            (self._visitors, household(address), "visitors began at your address"),
            (self._all_visitors, "", "visitors began everywhere"),
        )

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
