"""What people change about their own accounts, and the links by which a forgotten password is replaced.

A link holds the person's id and a signature. The hash of the present password is part of what is signed, so a link is
worth nothing once a password was set with it, or in any other way; nothing of it is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from itsdangerous import BadSignature

from grader.errors import NotAllowed, WrongPassword
from grader.jobs.table import Queue
from grader.service.accounts import Accounts
from grader.service.authorize import Action, OwnName, Roster, authorize
from grader.service.rate_limits import refuse
from grader.service.shared_limits import limiters
from grader.service.signing import Signer
from grader.store import accounts, clock, memberships, roster, submissions, turns
from grader.store.accounts import Credentials
from grader.store.engine import Database
from grader.store.records import User, UserId

LINK_SECONDS = 48 * 3600
LONGEST_ID = 18  # digits
NO_CLASS = "You are in no class."
WORTHLESS = "This link was used already, or is older than 48 hours. Ask your instructor for a new one."


class OwnAccount:
    """Changes passwords, ends sessions, and deletes accounts.

    Args:
        people: knows and hashes passwords.
        database: where people are stored.
        queue: cancels what is on its way.
        secret: what links are signed with.
        clock: gives the seconds since the epoch.
    """

    def __init__(
        self, people: Accounts, database: Database, queue: Queue, *, secret: bytes, clock: Callable[[], float]
    ) -> None:
        """Wire the parts."""
        self._people, self._database, self._queue = people, database, queue
        self._secret, self._clock = secret, clock
        self._renames = limiters(database, clock)("renames", 5, 3600.0)

    def change_password(self, user: User, old: str, new: str, address: str) -> str:
        """Replace the password, end all sessions, and return the token of a new one.

        Raises:
            NotAllowed: the old password is wrong, the new one too short, or there were too many tries.
        """
        self._prove(user, old, address)
        self._set(user, new)
        return self._people.begin_session(user)

    def rename(self, user: User, name: str, password: str, address: str) -> User:
        """Give a person another name, to be shown and to sign in with, and return them with it.

        Raises:
            NotAllowed: the password is wrong, the name is odd or taken, or there were too many tries or changes.
        """
        authorize(user, Action.RENAME, OwnName(user.id))
        refuse(self._renames.wait(str(user.id)), "changes of your name")
        self._prove(user, password, address)
        renamed = replace(user, name=self._people.rename(user.id, name))
        self._renames.take(str(user.id))
        return renamed

    def sign_out_everywhere(self, user: User) -> None:
        """End all of a person's sessions."""
        with self._database.write() as session:
            accounts.close_sessions(session, user.id)
        self._people.forget_sessions()

    def leave(self, user: User) -> None:
        """End a person's membership of the class; the account stays, with all that was handed in.

        Raises:
            NotAllowed: they are in no class, or it would have no instructor left.
        """
        with self._database.write() as session:
            turns.of_class(session)  # else the last two instructors could leave at once
            found = memberships.member(session, user.id)
            if found is None or found.ended is not None:
                raise NotAllowed(NO_CLASS)
            memberships.check_leaving(session, user.id)
            memberships.end(session, user.id, clock.now(session, self._clock))
        self._people.forget_sessions()

    def delete(self, user: User, password: str, address: str) -> None:
        """Delete a person with everything that they have handed in.

        Raises:
            NotAllowed: the password is wrong, or there were too many tries, or a class would have no instructor left.
        """
        self._prove(user, password, address)
        with self._database.read() as session:
            memberships.check_leaving(session, user.id)
            under_way = submissions.open_ones(session, user.id)
        for id in under_way:
            self._queue.cancel(id)
        with self._database.write() as session:
            turns.of_class(session)
            memberships.check_leaving(session, user.id)
            accounts.delete_person(session, user.id)
        self._people.forget_sessions()

    def link_for_student(self, asking: User, student: UserId) -> str:
        """Return the token of a link with which a student sets a new password, once, within 48 hours.

        Raises:
            NotAllowed: it is no instructor who asks, or there is no such student.
        """
        authorize(asking, Action.RESET, Roster())
        with self._database.read() as session:
            known = roster.student(session, student)
            found = accounts.credentials_of(session, student) if known else None
        if found is None:
            raise NotAllowed("There is no such student.")
        return self._signer(found).sign(str(found.user.id)).decode()

    def link_for(self, name: str) -> str:
        """Return the same for anybody, by name; for the command line.

        Raises:
            NotAllowed: there is nobody of that name.
        """
        found = self._people.credentials(name)
        if found is None:
            raise NotAllowed(f"There is no account called {name[:80]!r}.")
        return self._signer(found).sign(str(found.user.id)).decode()

    def reset(self, token: str, password: str) -> str:
        """Set a new password by a link, end all sessions, and return the token of a new one.

        Raises:
            NotAllowed: the link is worth nothing any more, or the password is too short.
        """
        found = self._found(token)
        self._set(found.user, password, former=found.password)
        return self._people.begin_session(found.user)

    def owner_of(self, token: str) -> User:
        """Return whose password a link replaces.

        Raises:
            NotAllowed: it is worth nothing any more.
        """
        return self._found(token).user

    def _prove(self, user: User, password: str, address: str) -> None:
        try:
            self._people.prove(user.name, password, address)
        except WrongPassword:
            raise WrongPassword("This password is wrong.") from None  # nobody has typed a name

    def _found(self, token: str) -> Credentials:
        number = token.partition(".")[0]
        if not (number.isascii() and number.isdigit() and len(number) <= LONGEST_ID):
            raise NotAllowed(WORTHLESS)
        with self._database.read() as session:
            found = accounts.credentials_of(session, UserId(int(number)))
        try:
            if found is None:
                raise BadSignature("nobody")
            self._signer(found).unsign(token.encode(errors="replace"), max_age=LINK_SECONDS)
        except BadSignature:
            raise NotAllowed(WORTHLESS) from None
        return found

    def _set(self, user: User, password: str, *, former: str | None = None) -> None:
        hashed = self._people.hashed(password)
        with self._database.write() as session:
            if not accounts.replace_password(session, user.id, hashed, former=former):
                raise NotAllowed(WORTHLESS if former else turns.GONE)  # a link is good once
            accounts.close_sessions(session, user.id)
        self._people.forget_sessions()

    def _signer(self, found: Credentials) -> Signer:
        return Signer(self._secret, b"new password after " + found.password.encode(), self._clock)
