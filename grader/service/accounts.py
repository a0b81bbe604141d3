"""Who somebody is: registering, signing in, and the session that follows."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable
from functools import partial

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from grader.errors import GraderError, NotAllowed, WrongPassword
from grader.service.names import fold, tidy
from grader.service.rate_limits import BrowserTokens, SignIns, SignupLimits
from grader.service.shared_limits import limiters
from grader.service.taken import TakenNames
from grader.service.typed import check_length, code_of, digest, key_of, plain
from grader.store import people, turns
from grader.store.engine import Database
from grader.store.people import Credentials, Visit
from grader.store.records import Role, User, UserId

CACHE_SECONDS = 5.0  # on SQLite; where several processes serve pages, the next request of a click may reach another one
CACHE_SIZE = 4096
VISITOR_SECONDS = 30 * 24 * 3600.0
LOOKED_AT_AT_ONCE, FORGOTTEN_AT_ONCE = 500, 20  # people and visitors; a new visitor waits for it
HASHES_AT_ONCE = 1  # each takes a core; the pages have the other one
# Argon2id as OWASP's cheat sheet has it, with one pass more: 30 ms. What is usual, 64 MiB, takes 200 ms, and 300 people
# who sign in beside a busy grading would wait for five minutes. One lane: four would take both cores from the pages.
PASSES, MEMORY_KIB, LANES = 3, 19 << 10, 1


class Accounts:
    """Everything about who is asking."""

    def __init__(
        self,
        database: Database,
        *,
        class_code: str,
        secret: bytes,
        session_seconds: float,
        hasher: PasswordHasher | None = None,
        clock: Callable[[], float],
    ) -> None:
        """Serve the people of `database`.

        Args:
            database: where they are stored.
            class_code: what somebody who joins the class has to know, until it is replaced.
            secret: what the marks of browsers are made with.
            session_seconds: how long a session lasts.
            hasher: makes and checks the hashes of passwords.
            clock: gives the seconds since the epoch.
        """
        self._database = database
        self._class_code = class_code
        self._session_seconds = session_seconds
        self._hasher = hasher or PasswordHasher(PASSES, MEMORY_KIB, LANES)
        self._clock = clock
        self._hashing = threading.BoundedSemaphore(HASHES_AT_ONCE)
        self._marks = BrowserTokens(secret, clock)
        self._sign_ins = SignIns(self._marks, limiters(database, clock))
        self._arrivals = SignupLimits(limiters(database, clock))
        self._taken = TakenNames()
        self._looked_at = 0  # the id up to which it is known which visitors to forget
        self._cache: dict[str, tuple[Visit | None, float]] = {}
        self._decoy = self._hash(secrets.token_hex(16))

    def visit(self, address: str = "") -> str:
        """Return the token of a session for somebody who wants to run something without an account.

        Visitors whose session has ended are forgotten on this occasion, with all they have done.

        Raises:
            NotAllowed: there were too many.
        """
        self._arrivals.visitor(address)
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

    def register(
        self, name: str, password: str, class_code: str = "", address: str = "", *, visitor: User | None = None
    ) -> User:
        """Make an account: for a student of the class with its code, for somebody who only learns without one.

        What `visitor` has done is theirs from now on; the visitor's sessions end.

        Raises:
            NotAllowed: the class code is wrong, the name is taken or odd, the password is too short, or too many
                accounts were made at that address.
        """
        if class_code:
            self.check_code(class_code, address)
        counted = self._arrivals.account(address, in_class=bool(class_code))
        try:
            user = self.add(name, password, Role.STUDENT if class_code else Role.LEARNER)
            if visitor is not None and visitor.visitor:
                self._take_over(visitor, user)
            return user
        except GraderError:
            counted.give_back()  # no account was made
            raise

    def join(self, user: User, class_code: str, address: str = "") -> None:
        """Make somebody with an account a student of the class.

        Raises:
            NotAllowed: the code is wrong, or they have no account.
        """
        if user.visitor:
            raise NotAllowed("Register first: a class has members with a name.")
        self.check_code(class_code, address)
        with self._database.write() as session:
            turns.of_class(session)
            known = people.user(session, user.id)
            if known is not None and known.role is Role.LEARNER:
                people.enter_class(session, user.id, Role.STUDENT, self._clock())
        self.forget_sessions()

    def _take_over(self, visitor: User, user: User) -> None:
        with self._database.write() as session:
            people.take_over(session, visitor.id, user.id)
        # Whoever has planted the visitor's session in this browser is not signed in as the new member.
        self.forget_sessions()

    def class_code(self) -> str:
        """Return what somebody who joins the class has to know."""
        with self._database.read() as session:
            return people.class_code(session) or self._class_code

    def check_code(self, class_code: str, address: str = "") -> None:
        """Refuse a wrong class code; hashes nothing, so that nobody waits behind it.

        Raises:
            NotAllowed: it is wrong.
        """
        if not hmac.compare_digest(code_of(class_code), code_of(self.class_code())):
            self._arrivals.code_was_wrong(address)
            raise NotAllowed("This class code is wrong; your instructor knows the right one.")

    def expect(self, name: str, address: str, mark: str | None = None) -> str | None:
        """Return the folded name if the browser was signed in under it before, None for a stranger; hashes nothing.

        Raises:
            NotAllowed: there were too many tries.
        """
        key = key_of(name)
        self._sign_ins.take(key, address, mark).give_back()
        return None if self._marks.number(key, mark) is None else key

    def add(self, name: str, password: str, role: Role) -> User:
        """Make an account.

        Raises:
            NotAllowed: the name is taken or odd, the password is too short.
        """
        tidied = tidy(name)
        check_length(password)
        with self._database.read() as session:
            # Before the hash, which costs most.
            self._taken.refuse(tidied, partial(people.names, session), people.census(session))
        hashed = self._hash(password)
        with self._database.write() as session:
            turns.of_class(session)  # else two names that look alike could come at once
            self._taken.refuse(tidied, partial(people.names, session), people.census(session))
            return people.add(session, tidied, role, key=fold(tidied), password=hashed, now=self._clock())

    def rename(self, id: UserId, name: str) -> str:
        """Give somebody another name, to be shown and to sign in with, and return it as it is shown.

        Raises:
            NotAllowed: it is odd, or looks like another person's.
        """
        tidied = tidy(name)
        with self._database.write() as session:
            turns.of_class(session)
            self._taken.refuse(tidied, partial(people.names, session), people.census(session), of=id)
            people.rename(session, id, tidied, key=fold(tidied))
        self.forget_sessions()
        return tidied

    def sign_in(self, name: str, password: str, address: str, mark: str | None = None) -> str:
        """Return the token of a new session; takes 30 ms or more, on purpose.

        Args:
            name, password: what was typed.
            address: where from.
            mark: what the browser kept from an earlier sign-in.

        Raises:
            NotAllowed: the name or the password is wrong, or there were too many tries.
        """
        return self.begin_session(self.prove(name, password, address, mark))

    def prove(self, name: str, password: str, address: str, mark: str | None = None) -> User:
        """Return whose name and password these are; takes 30 ms or more, on purpose.

        Raises:
            NotAllowed: the name or the password is wrong, or there were too many tries.
        """
        key = key_of(name)
        attempt = self._sign_ins.take(key, address, mark)
        user = self._proven(key, password)
        attempt.give_back()
        return user

    def credentials(self, name: str) -> Credentials | None:
        """Return the person of that name with the hash of their password."""
        with self._database.read() as session:
            return people.credentials(session, key_of(name))

    def hashed(self, password: str) -> str:
        """Return the hash of a new password.

        Raises:
            NotAllowed: it is too short or too long.
        """
        check_length(password)
        return self._hash(password)

    def forget_sessions(self) -> None:
        """Ask the store anew who is signed in."""
        self._cache = {}

    def begin_session(self, user: User) -> str:
        """Return the token of a new session for somebody who has just proven who they are, or has registered.

        Raises:
            NotAllowed: there were too many.
        """
        self._arrivals.session(key_of(user.name))
        token, now = secrets.token_urlsafe(32), self._clock()
        ends = now + self._session_seconds
        with self._database.write() as session:
            people.open_session(session, user.id, digest=digest(token), now=now, expires=ends)
        return token

    def mark(self, user: User) -> str:
        """Return what a browser that has just been signed in is to keep."""
        return self._marks.make(key_of(user.name))

    def user_of(self, token: str | None) -> User | None:
        """Return who is signed in with that token; None if nobody is."""
        if not token:
            return None
        known, now = digest(token), self._clock()
        visit, fresh = self._cache.get(known, (None, 0.0))
        if fresh <= now:
            visit = self._look_up(known, now)
        return visit.user if visit is not None and visit.expires > now else None

    def sign_out(self, token: str | None) -> None:
        """End the session of that token, if there is one."""
        if not token:
            return
        known = digest(token)
        with self._database.write() as session:
            people.close_session(session, known)
        self._cache.pop(known, None)

    def _look_up(self, known: str, now: float) -> Visit | None:
        with self._database.read() as session:
            visit = people.visit(session, known, now)
        if len(self._cache) >= CACHE_SIZE:
            self._cache = {}
        self._cache[known] = (visit, now + (CACHE_SECONDS if self._database.embedded else 0.0))
        return visit

    def _proven(self, key: str, password: str) -> User:
        with self._database.read() as session:
            found = people.credentials(session, key)
        # An unknown name costs as much time as a known one, so that nobody can ask which names exist.
        right = self._fits(found.password if found else self._decoy, password)
        if found is None or not right:
            raise WrongPassword("The name or the password is wrong.")
        if self._hasher.check_needs_rehash(found.password):
            hashed = self._hash(password)
            with self._database.write() as session:
                people.replace_password(session, found.user.id, hashed, former=found.password)
        return found.user

    def _fits(self, hashed: str, password: str) -> bool:
        try:
            with self._hashing:
                return self._hasher.verify(hashed, plain(password))
        except (VerificationError, InvalidHashError):
            return False

    def _hash(self, password: str) -> str:
        with self._hashing:
            return self._hasher.hash(plain(password))
