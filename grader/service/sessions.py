"""Who is signed in: sessions, and the marks of browsers in which somebody was."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from itsdangerous import BadSignature, TimestampSigner

from grader.store import people
from grader.store.engine import Database
from grader.store.people import Visit
from grader.store.records import Role, User

CACHE_SECONDS = 5.0  # on SQLite; where several processes serve pages, the next request of a click may reach another one
CACHE_SIZE = 4096
VISITOR_SECONDS = 30 * 24 * 3600.0
LOOKED_AT_AT_ONCE, FORGOTTEN_AT_ONCE = 500, 20  # people and visitors; a new visitor waits for it
MARK_BYTES = 12
MARK_SECONDS = 180 * 24 * 3600


class Signer(TimestampSigner):
    """A signer by the service's clock; what is signed for one `purpose` is worth nothing for another one."""

    def __init__(self, secret: bytes, purpose: bytes, clock: Callable[[], float]) -> None:
        super().__init__(secret, purpose, key_derivation="hmac", digest_method=hashlib.sha256)
        self._clock = clock

    def get_timestamp(self) -> int:
        """Return the seconds since the epoch."""
        return int(self._clock())


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


class Sessions:
    """The sessions of people, which last so many `seconds`, and of visitors; of a token only the hash is stored."""

    def __init__(self, database: Database, *, seconds: float, clock: Callable[[], float]) -> None:
        self._database, self._seconds, self._clock = database, seconds, clock
        self._looked_at = 0  # the id up to which it is known which visitors to forget
        self._cache: dict[str, tuple[Visit | None, float]] = {}

    def begin(self, user: User) -> str:
        """Return the token of a new session."""
        token, now = secrets.token_urlsafe(32), self._clock()
        with self._database.write() as session:
            people.open_session(session, user.id, digest=digest(token), now=now, expires=now + self._seconds)
        return token

    def begin_visit(self) -> str:
        """Return the token of the session of a new visitor; some of those without a session any more are forgotten."""
        token, now = secrets.token_urlsafe(32), self._clock()
        with self._database.write() as session:
            # No name can be folded into this: it begins a line.
            key = f"\nvisitor {secrets.token_hex(12)}"
            user = people.add(session, "", Role.LEARNER, key=key, password="", now=now)
            people.open_session(session, user.id, digest=digest(token), now=now, expires=now + VISITOR_SECONDS)
            self._looked_at = people.forget_visitors(
                session, self._looked_at, looked_at=LOOKED_AT_AT_ONCE, most=FORGOTTEN_AT_ONCE
            )
        return token

    def user_of(self, token: str | None) -> User | None:
        """Return who is signed in with that token; None if nobody is."""
        if not token:
            return None
        known, now = digest(token), self._clock()
        visit, fresh = self._cache.get(known, (None, 0.0))
        if fresh <= now:
            with self._database.read() as session:
                visit = people.visit(session, known, now)
            if len(self._cache) >= CACHE_SIZE:
                self._cache = {}
            self._cache[known] = (visit, now + (CACHE_SECONDS if self._database.embedded else 0.0))
        return visit.user if visit is not None and visit.expires > now else None

    def end(self, token: str | None) -> None:
        """End the session of that token, if there is one."""
        if not token:
            return
        known = digest(token)
        with self._database.write() as session:
            people.close_session(session, known)
        self._cache.pop(known, None)

    def forget(self) -> None:
        """Ask the store anew who is signed in."""
        self._cache = {}


def digest(token: str) -> str:
    """Return the hash under which a session is stored."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
