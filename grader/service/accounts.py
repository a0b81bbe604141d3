"""Accounts: registering, signing in, and what people change about their own.

A forgotten password is replaced by a link, which holds the person's id and a signature. The hash of the present
password is part of what is signed, so a link is worth nothing once a password was set with it, or in any other way;
nothing of it is stored.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from itsdangerous import BadSignature

from grader.errors import GraderError, NotAllowed, WrongPassword
from grader.jobs.table import Queue
from grader.service.authorize import INSTRUCTORS_ONLY, check_instructor
from grader.service.limits import EntryLimits, limiters, refuse
from grader.service.names import NameRegister, email_of, fold, key_of, tidy
from grader.service.sessions import BrowserTokens, Sessions, Signer
from grader.store import classes, people, submissions, turns
from grader.store.engine import Database, Session, server_time
from grader.store.people import Credentials
from grader.store.records import Role, User, UserId
from grader.store.tables import INITIAL_CLASS

PASSWORD_LENGTH = range(10, 201)
HASHES_AT_ONCE = 1  # each takes a core; the pages have the other one
# Argon2id as OWASP's cheat sheet has it, with one pass more: 30 ms. What is usual, 64 MiB, takes 200 ms, and 300 people
# who sign in beside a busy grading would wait for five minutes. One lane: four would take both cores from the pages.
PASSES, MEMORY_KIB, LANES = 3, 19 << 10, 1
LINK_SECONDS = 48 * 3600
LONGEST_ID = 18  # digits
NO_CLASS = "You are in no class."
WHICH_CLASS = "Say which of your classes to leave."
WORTHLESS = "This link was used already, or is older than 48 hours. Ask your instructor for a new one."


class Accounts:
    """Who somebody is: makes accounts, and proves whose they are; what is refused is a `NotAllowed` that says why.

    `class_code` is what somebody who joins the initial class has to know, until it is replaced; marks of browsers are
    made with `secret`.
    """

    def __init__(
        self,
        database: Database, *, class_code: str, secret: bytes, session_seconds: float,
        hasher: PasswordHasher | None = None, clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._database, self._class_code, self._clock = database, class_code, clock
        self._hasher = hasher or PasswordHasher(PASSES, MEMORY_KIB, LANES)
        self._hashing = threading.BoundedSemaphore(HASHES_AT_ONCE)
        self._marks = BrowserTokens(secret, clock)
        self._limits = EntryLimits(limiters(database, clock))
        self._names = NameRegister()
        self._decoy = self._hash(secrets.token_hex(16))
        self.sessions = Sessions(database, seconds=session_seconds, clock=clock)

    def visit(self, address: str = "") -> str:
        """Return the token of a session for somebody who wants to run something without an account.

        Visitors whose session has ended are forgotten on this occasion, with all they have done.
        """
        self._limits.visitor(address)
        return self.sessions.begin_visit()

    def register(
        self, name: str, password: str, class_code: str = "", address: str = "", *, visitor: User | None = None
    ) -> User:
        """Make an account: for a student of a class with its code, for somebody who only learns without one.

        What `visitor` has done is theirs from now on; the visitor's sessions end.
        """
        class_id = self.class_of_code(class_code, address) if class_code else INITIAL_CLASS
        counted = self._limits.account(address, in_class=bool(class_code))
        try:
            user = self.add(name, password, Role.STUDENT if class_code else Role.LEARNER, class_id)
            if visitor is not None and visitor.visitor:
                with self._database.write() as session:
                    people.take_over(session, visitor.id, user.id)
                # Whoever has planted the visitor's session in this browser is not signed in as the new member.
                self.sessions.forget()
            return user
        except GraderError:
            counted.give_back()  # no account was made
            raise

    def join(self, user: User, class_code: str, address: str = "") -> None:
        """Make somebody with an account a student of the class of that code."""
        if user.visitor:
            raise NotAllowed("Register first: a class has members with a name.")
        class_id = self.class_of_code(class_code, address)
        with self._database.write() as session:
            turns.of_class(session)
            if people.role_in(session, class_id, user.id) is Role.LEARNER:
                people.enter_class(session, class_id, user.id, Role.STUDENT, now=self._clock())
        self.sessions.forget()

    def class_code(self, class_id: int = INITIAL_CLASS) -> str:
        """Return what somebody who joins a class has to know; an empty text where nobody can."""
        return self._class_codes()[class_id]

    def _class_codes(self) -> dict[int, str]:
        with self._database.read() as session:
            codes = people.class_codes(session)
        return {**codes, INITIAL_CLASS: codes[INITIAL_CLASS] or self._class_code}

    def replace_class_code(self, class_id: int, code: str) -> None:
        """Let another code be what somebody who joins a class has to know."""
        with self._database.write() as session:
            people.replace_class_code(session, class_id, code)

    def class_of_key(self, key: str) -> int:
        """Return the id of the class of that key; without one, that of the initial class."""
        if not key:
            return INITIAL_CLASS
        with self._database.read() as session:  # compared here: what a terminal hands over may be no text to a database
            one = next((one for one in classes.every_class(session) if one.key == key), None)
        if one is None:
            raise NotAllowed(f"There is no class {key[:80]!r}.")
        return one.id

    def class_of_code(self, class_code: str, address: str = "") -> int:
        """Return the class of a code, and refuse a wrong one; hashes nothing, so that nobody waits behind it."""
        given = code_of(class_code)
        right = [id for id, code in self._class_codes().items() if code and hmac.compare_digest(given, code_of(code))]
        if not right:
            self._limits.code_was_wrong(address)
            raise NotAllowed("This class code is wrong; your instructor knows the right one.")
        return right[0]

    def add(self, name: str, password: str, role: Role, class_id: int = INITIAL_CLASS) -> User:
        """Make an account for anybody, without a class code; a learner is in no class, everybody else in that one."""
        tidied = tidy(name)
        check_length(password)
        with self._database.read() as session:
            self._refuse_alike(session, tidied)  # before the hash, which costs most
        hashed = self._hash(password)
        with self._database.write() as session:
            turns.of_class(session)  # else two names that look alike could come at once
            self._refuse_alike(session, tidied)
            key, now = fold(tidied), self._clock()
            return people.add(session, tidied, role, key=key, password=hashed, now=now, class_id=class_id)

    def rename(self, id: UserId, name: str) -> str:
        """Give somebody another name, to be shown and to sign in with, and return it as it is shown."""
        tidied = tidy(name)
        with self._database.write() as session:
            turns.of_class(session)
            self._refuse_alike(session, tidied, of=id)
            people.rename(session, id, tidied, key=fold(tidied))
        self.sessions.forget()
        return tidied

    def _refuse_alike(self, session: Session, name: str, *, of: int = 0) -> None:
        self._names.refuse(name, partial(people.names, session), people.census(session), of=of)

    def expect(self, name: str, address: str, mark: str | None = None) -> str | None:
        """Return the folded name if the browser was signed in under it before, None for a stranger; hashes nothing."""
        key = key_of(name)
        number = self._marks.number(key, mark)
        self._limits.sign_in(key, address, number).give_back()
        return None if number is None else key

    def sign_in(self, name: str, password: str, address: str, mark: str | None = None) -> str:
        """Return the token of a new session; takes 30 ms or more, on purpose. `mark` is of an earlier sign-in."""
        return self.begin_session(self.prove(name, password, address, mark))

    def prove(self, name: str, password: str, address: str, mark: str | None = None) -> User:
        """Return whose name and password these are; takes 30 ms or more, on purpose."""
        key = key_of(name)
        counted = self._limits.sign_in(key, address, self._marks.number(key, mark))
        with self._database.read() as session:
            known = people.credentials(session, key, email_of(name))
        # An unknown name costs as much time as a known one, so that nobody can ask which names exist.
        right = self._fits(known.password if known else self._decoy, password)
        if known is None or not right:
            raise WrongPassword("The name or the password is wrong.")
        if self._hasher.check_needs_rehash(known.password):
            hashed = self._hash(password)
            with self._database.write() as session:
                people.replace_password(session, known.user.id, hashed, former=known.password)
        counted.give_back()
        return known.user

    def begin_session(self, user: User) -> str:
        """Return the token of a new session for somebody who has just proven who they are, or has registered."""
        self._limits.session(key_of(user.email or user.name))
        return self.sessions.begin(user)

    def mark(self, user: User) -> str:
        """Return what a browser in which that person has signed in keeps, so that nobody locks them out of it."""
        return self._marks.make(key_of(user.email or user.name))

    def credentials(self, name: str) -> Credentials | None:
        """Return the person of that name with the hash of their password."""
        with self._database.read() as session:
            return people.credentials(session, key_of(name), email_of(name))

    def set_administrator(self, name: str, *, is_one: bool) -> User:
        """Let the person of that name administer the installation, or do so no longer, and return them."""
        known = self.credentials(name)
        if known is None:
            raise NotAllowed(f"There is no account called {name[:80]!r}.")
        with self._database.write() as session:
            people.set_administrator(session, known.user.id, is_one=is_one)
        return known.user

    def hashed(self, password: str) -> str:
        """Return the hash of a new password."""
        check_length(password)
        return self._hash(password)

    def _hash(self, password: str) -> str:
        with self._hashing:
            return self._hasher.hash(_plain(password))

    def _fits(self, hashed: str, password: str) -> bool:
        try:
            with self._hashing:
                return self._hasher.verify(hashed, _plain(password))
        except (VerificationError, InvalidHashError):
            return False


class OwnAccount:
    """What people change about their own accounts; what is refused is a `NotAllowed` that says why.

    `queue` cancels what is on its way where an account is deleted; links are signed with `secret`.
    """

    def __init__(
        self, accounts: Accounts, database: Database, queue: Queue, *, secret: bytes, clock: Callable[[], float]
    ) -> None:
        self._accounts, self._database, self._queue = accounts, database, queue
        self._secret, self._clock = secret, clock
        self._renames = limiters(database, clock)("renames", 5, 3600.0)

    def change_password(self, user: User, old: str, new: str, address: str) -> str:
        """Replace the password, end all sessions, and return the token of a new one."""
        self._prove(user, old, address)
        return self._set(user, new)

    def rename(self, user: User, name: str, password: str, address: str) -> User:
        """Give a person another name, to be shown and to sign in with, and return them with it."""
        if user.visitor:
            raise NotAllowed("Register first: a visitor has no name.")
        refuse(self._renames.wait(str(user.id)), "changes of your name")
        self._prove(user, password, address)
        renamed = replace(user, name=self._accounts.rename(user.id, name))
        self._renames.take(str(user.id))
        return renamed

    def sign_out_everywhere(self, user: User) -> None:
        """End all of a person's sessions."""
        with self._database.write() as session:
            people.close_sessions(session, user.id)
        self._accounts.sessions.forget()

    def leave(self, user: User, key: str = "") -> None:
        """End a person's membership of the class of that key, or of the only one; account and work stay."""
        with self._database.write() as session:
            turns.of_class(session)  # else the last two instructors could leave at once
            found = [one for one, _ in classes.classes_of(session, user.id) if key in ("", one.key)]
            if len(found) != 1:
                raise NotAllowed(WHICH_CLASS if found else NO_CLASS)
            (one,) = found
            people.check_leaving(session, user.id, one.id)
            classes.set_presence(session, one.id, user.id, ended=server_time(session, self._clock))
        self._accounts.sessions.forget()

    def classes(self, user: User) -> list[tuple[str, str]]:
        """Return the key and the name of each class to which a person belongs."""
        with self._database.read() as session:
            return [(one.key, one.name) for one, _ in classes.classes_of(session, user.id)]

    def delete(self, user: User, password: str, address: str) -> None:
        """Delete a person with everything that they have handed in."""
        self._prove(user, password, address)
        with self._database.read() as session:
            people.check_leaving(session, user.id, *people.classes_of(session, user.id, Role.INSTRUCTOR))
            under_way = submissions.open_ones(session, user.id)
        for id in under_way:
            self._queue.cancel(id)
        with self._database.write() as session:
            turns.of_class(session)
            people.check_leaving(session, user.id, *people.classes_of(session, user.id, Role.INSTRUCTOR))
            people.delete_person(session, user.id)
        self._accounts.sessions.forget()

    def link_for_student(self, asking: User, class_id: int, student: UserId) -> str:
        """Return the token of a link with which a student of a class sets a new password, once, within 48 hours."""
        with self._database.read() as session:
            check_instructor(session, asking, class_id)
            is_student = people.role_in(session, class_id, student) is Role.STUDENT
            is_theirs = is_student and people.is_here_alone(session, class_id, student)
            known = people.credentials_of(session, student) if is_theirs else None
        if known is None:
            raise NotAllowed("There is no such student.")
        return self._link(known)

    def links_for_new(self, asking: User, key: str) -> list[tuple[str, str, str]]:
        """Return links for those whom a class's roster brought here first, and who have set no password yet.

        Returns:
            e-mail address, name, token of each.

        Raises:
            NotAllowed: it is no instructor of the class who asks.
        """
        with self._database.read() as session:
            one = classes.find_class(session, key)
            if one is None:
                raise NotAllowed(INSTRUCTORS_ONLY)
            check_instructor(session, asking, one.id)
            new = classes.without_password(session, one.id)
            known = [people.credentials_of(session, user) for user in new]
        return [(one.user.email, one.user.name, self._link(one)) for one in known if one is not None]

    def link_for(self, name: str) -> str:
        """Return the same for anybody, by name; for the command line."""
        known = self._accounts.credentials(name)
        if known is None:
            raise NotAllowed(f"There is no account called {name[:80]!r}.")
        return self._link(known)

    def reset(self, token: str, password: str) -> str:
        """Set a new password by a link, end all sessions, and return the token of a new one."""
        known = self._by_link(token)
        return self._set(known.user, password, former=known.password)

    def owner_of(self, token: str) -> User:
        """Return whose password a link replaces."""
        return self._by_link(token).user

    def _prove(self, user: User, password: str, address: str) -> None:
        try:
            self._accounts.prove(user.email or user.name, password, address)
        except WrongPassword:
            raise WrongPassword("This password is wrong.") from None  # nobody has typed a name

    def _by_link(self, token: str) -> Credentials:
        number = token.partition(".")[0]
        if not (number.isascii() and number.isdigit() and len(number) <= LONGEST_ID):
            raise NotAllowed(WORTHLESS)
        with self._database.read() as session:
            known = people.credentials_of(session, UserId(int(number)))
        try:
            if known is None:
                raise BadSignature("nobody")
            self._signer(known).unsign(token.encode(errors="replace"), max_age=LINK_SECONDS)
        except BadSignature:
            raise NotAllowed(WORTHLESS) from None
        return known

    def _set(self, user: User, password: str, *, former: str | None = None) -> str:
        hashed = self._accounts.hashed(password)
        with self._database.write() as session:
            if not people.replace_password(session, user.id, hashed, former=former):
                raise NotAllowed(WORTHLESS if former else turns.GONE)  # a link is good once
            people.close_sessions(session, user.id)
        self._accounts.sessions.forget()
        return self._accounts.begin_session(user)

    def _link(self, known: Credentials) -> str:
        return self._signer(known).sign(str(known.user.id)).decode()

    def _signer(self, known: Credentials) -> Signer:
        return Signer(self._secret, b"new password after " + known.password.encode(), self._clock)


def check_length(password: str) -> None:
    """Refuse a password that is too short or too long.

    Raises:
        NotAllowed: it is.
    """
    if len(password) not in PASSWORD_LENGTH:
        shortest, longest = PASSWORD_LENGTH.start, PASSWORD_LENGTH.stop - 1
        raise NotAllowed(f"A password has {shortest} to {longest} characters; this one has {len(password)}.")


def code_of(class_code: str) -> bytes:
    """Return a class code as it is compared: capitals, hyphens and blanks make no difference."""
    # A code of nothing but hyphens is compared as it is, else no code at all would equal it.
    return (re.sub(r"[\s-]", "", class_code).lower() or class_code.strip()).encode(errors="surrogatepass")


def _plain(password: str) -> bytes:
    """Return a password's bytes, the same from every keyboard."""
    # The same letters typed on another machine may come composed otherwise; half a surrogate pair must not raise.
    # To put many accents in order takes the square of their number, so it is cut before.
    return unicodedata.normalize("NFC", password[: PASSWORD_LENGTH.stop])[: PASSWORD_LENGTH.stop].encode(
        errors="surrogatepass"
    )
