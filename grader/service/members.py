"""The class as its instructors change it: its code, who belongs to it, and in which role."""

from __future__ import annotations

from collections.abc import Callable

from grader.errors import NotAllowed
from grader.service.accounts import Accounts
from grader.service.authorize import Action, OwnName, Roster, authorize
from grader.store import keys, people, turns
from grader.store.engine import Database, server_time
from grader.store.people import Member
from grader.store.records import Role, User, UserId

NOBODY = "There is no such member of the class."


class Members:
    """Reads and changes the class; each method asks who is asking.

    Args:
        people: knows the class code and who is signed in.
        database: where memberships are stored.
        clock: gives the seconds since the epoch.
    """

    def __init__(self, people: Accounts, database: Database, *, clock: Callable[[], float]) -> None:
        """Wire the parts."""
        self._people, self._database, self._clock = people, database, clock

    def code(self, asking: User) -> str:
        """Return the class code.

        Raises:
            NotAllowed: it is no instructor who asks.
        """
        authorize(asking, Action.MANAGE, Roster())
        return self._people.class_code()

    def replace_code(self, asking: User) -> str:
        """Draw another class code, which counts at once in place of the one before, and return it.

        Raises:
            NotAllowed: it is no instructor who asks.
        """
        authorize(asking, Action.MANAGE, Roster())
        code = keys.drawn_code()
        with self._database.write() as session:
            people.replace_class_code(session, code)
        return code

    def everybody(self, asking: User) -> list[Member]:
        """Return all who belong to the class or did, by name.

        Raises:
            NotAllowed: it is no instructor who asks.
        """
        authorize(asking, Action.MANAGE, Roster())
        with self._database.read() as session:
            return people.members(session)

    def one(self, asking: User, id: UserId) -> Member:
        """Return one of them.

        Raises:
            NotAllowed: it is no instructor who asks, or there is no such member.
        """
        authorize(asking, Action.MANAGE, Roster())
        with self._database.read() as session:
            found = people.member(session, id)
        if found is None:
            raise NotAllowed(NOBODY)
        return found

    def set_role(self, asking: User, id: UserId, role: Role) -> None:
        """Give a member another role; somebody who has left the class is back in it.

        Raises:
            NotAllowed: it is no instructor who asks, there is no such member, or no instructor would be left.
        """
        self._change(asking, id, role)

    def remove(self, asking: User, id: UserId) -> None:
        """Take somebody out of the class; their account and what they have handed in stay.

        Raises:
            NotAllowed: it is no instructor who asks, there is no such member, or no instructor would be left.
        """
        self._change(asking, id, None)

    def rename(self, asking: User, id: UserId, name: str) -> None:
        """Give a member another name, with which they sign in from then on.

        Raises:
            NotAllowed: it is no instructor who asks, there is no such member now, or the name is odd or taken.
        """
        authorize(asking, Action.RENAME, OwnName(id))
        if self.one(asking, id).ended is not None:
            raise NotAllowed(NOBODY)
        self._people.rename(id, name)

    def _change(self, asking: User, id: UserId, role: Role | None) -> None:
        authorize(asking, Action.MANAGE, Roster())
        with self._database.write() as session:
            turns.of_class(session)  # else the last two instructors could remove each other
            if people.member(session, id) is None:
                raise NotAllowed(NOBODY)
            if role is None:
                people.leave_class(session, id, server_time(session, self._clock))
            else:
                people.enter_class(session, id, role, server_time(session, self._clock))
            people.check_instructor_left(session)
        self._people.forget_sessions()
