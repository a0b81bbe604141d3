"""Who somebody is: registering, signing in, and the session that follows."""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
import threading
import unicodedata
from collections.abc import Callable

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from grader.errors import NotAllowed
from grader.service.limits import Buckets
from grader.service.names import fold, tidy
from grader.store import accounts
from grader.store.accounts import Visit
from grader.store.engine import Database
from grader.store.records import Role, User

PASSWORD_LENGTH = range(10, 201)
CACHE_SECONDS = 5.0  # how long another process's sign-out may go unnoticed
CACHE_SIZE = 4096
HASHES_AT_ONCE = 4  # each takes 64 MiB
LONGEST_KEY = 200  # characters; a longer name is nobody's


class Accounts:
    """Everything about who is asking."""

    def __init__(
        self,
        database: Database,
        *,
        class_code: str,
        session_seconds: float,
        hasher: PasswordHasher | None = None,
        clock: Callable[[], float],
    ) -> None:
        """Serve the people of `database`.

        Args:
            database: where they are stored.
            class_code: what somebody who registers has to know.
            session_seconds: how long a session lasts.
            hasher: makes and checks the hashes of passwords.
            clock: gives the seconds since the epoch.
        """
        self._database = database
        self._class_code = class_code
        self._session_seconds = session_seconds
        self._hasher = hasher or PasswordHasher()
        self._clock = clock
        self._hashing = threading.BoundedSemaphore(HASHES_AT_ONCE)
        self._by_name = Buckets(8, 30.0, clock=clock)
        self._by_address = Buckets(60, 2.0, clock=clock)  # a whole class may sit behind one address
        self._by_code = Buckets(30, 2.0, clock=clock)
        self._cache: dict[str, tuple[Visit | None, float]] = {}
        self._decoy = self._hash(secrets.token_hex(16))

    def register(self, name: str, password: str, class_code: str) -> User:
        """Make an account for a student.

        Raises:
            NotAllowed: the class code is wrong, the name is taken or odd, the password is too short.
        """
        _check_wait(self._by_code.take("code"), "class codes were tried")
        if not hmac.compare_digest(class_code.strip().encode(), self._class_code.encode()):
            raise NotAllowed("This class code is wrong; your instructor knows the right one.")
        self._by_code.give("code")
        return self.add(name, password, Role.STUDENT)

    def add(self, name: str, password: str, role: Role) -> User:
        """Make an account.

        Raises:
            NotAllowed: the name is taken or odd, the password is too short.
        """
        tidied = tidy(name)
        if len(password) not in PASSWORD_LENGTH:
            shortest, longest = PASSWORD_LENGTH.start, PASSWORD_LENGTH.stop - 1
            raise NotAllowed(f"A password has {shortest} to {longest} characters; this one has {len(password)}.")
        hashed = self._hash(password)
        with self._database.write() as session:
            return accounts.add(session, tidied, role, key=fold(tidied), password=hashed, now=self._clock())

    def sign_in(self, name: str, password: str, address: str) -> str:
        """Return the token of a new session; takes a tenth of a second on purpose.

        Raises:
            NotAllowed: the name or the password is wrong, or there were too many tries.
        """
        key = fold(name)[:LONGEST_KEY]
        _check_wait(self._by_address.take(address), "sign-ins failed at your address")
        _check_wait(self._by_name.take(key), "sign-ins failed under this name")
        user = self._proven(key, password)
        self._by_address.give(address)
        self._by_name.give(key)
        token, now = secrets.token_urlsafe(32), self._clock()
        ends = now + self._session_seconds
        with self._database.write() as session:
            accounts.open_session(session, user.id, digest=_digest(token), now=now, expires=ends)
        return token

    def user_of(self, token: str | None) -> User | None:
        """Return who is signed in with that token; None if nobody is."""
        if not token:
            return None
        digest, now = _digest(token), self._clock()
        visit, fresh = self._cache.get(digest, (None, 0.0))
        if fresh <= now:
            visit = self._look_up(digest, now)
        return visit.user if visit is not None and visit.expires > now else None

    def sign_out(self, token: str | None) -> None:
        """End the session of that token, if there is one."""
        if not token:
            return
        digest = _digest(token)
        with self._database.write() as session:
            accounts.close_session(session, digest)
        self._cache.pop(digest, None)

    def _look_up(self, digest: str, now: float) -> Visit | None:
        with self._database.read() as session:
            visit = accounts.visit(session, digest, now)
        if len(self._cache) >= CACHE_SIZE:
            self._cache = {}
        self._cache[digest] = (visit, now + CACHE_SECONDS)
        return visit

    def _proven(self, key: str, password: str) -> User:
        with self._database.read() as session:
            found = accounts.credentials(session, key)
        # An unknown name costs as much time as a known one, so that nobody can ask which names exist.
        right = self._fits(found.password if found else self._decoy, password)
        if found is None or not right:
            raise NotAllowed("The name or the password is wrong.")
        if self._hasher.check_needs_rehash(found.password):
            hashed = self._hash(password)
            with self._database.write() as session:
                accounts.replace_password(session, found.user.id, hashed)
        return found.user

    def _fits(self, hashed: str, password: str) -> bool:
        try:
            with self._hashing:
                return self._hasher.verify(hashed, _plain(password))
        except (VerificationError, InvalidHashError):
            return False

    def _hash(self, password: str) -> str:
        with self._hashing:
            return self._hasher.hash(_plain(password))


def _plain(password: str) -> bytes:
    # The same letters typed on another machine may come composed otherwise; half a surrogate pair must not raise.
    return unicodedata.normalize("NFC", password)[: PASSWORD_LENGTH.stop].encode(errors="surrogatepass")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _check_wait(seconds: float, what: str) -> None:
    if seconds > 0:
        raise NotAllowed(f"Too many {what}. Please wait {math.ceil(seconds)} seconds and try again.")
