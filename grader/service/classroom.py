"""The class: what its instructors read and change of it, and its leaderboards as each reader may see them.

On leaderboards people stand under a pseudonym, unless they choose their own name, or to leave.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from grader.errors import NotAllowed
from grader.service.accounts import Accounts
from grader.service.authorize import Action, OwnName, Roster, authorize, may
from grader.service.names import pseudonyms
from grader.store import keys, people, standings, submissions, turns
from grader.store.engine import Database, Session, server_time
from grader.store.people import Member
from grader.store.records import (
    Attempt,
    BoardName,
    ListedAttempt,
    Neighbours,
    Role,
    Standing,
    Submission,
    SubmissionId,
    User,
    UserId,
    Wanted,
)
from grader.store.standings import CommonMistake, Student
from grader.store.tables import FIRST_CLASS

MOST_LISTED = 300
NOBODY = "There is no such member of the class."
ELSEWHERE = "This account is used in another class too; the administrator of the installation changes it."


class InstructorService:
    """What instructors may read about their class; each method raises `NotAllowed` if it is no instructor who asks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _read(self, asking: User) -> AbstractContextManager[Session]:
        authorize(asking, Action.READ, Roster())
        return self._database.read()

    def students(self, user: User) -> list[Student]:
        """Return every student by name, those too who have not handed anything in."""
        with self._read(user) as session:
            return standings.students(session)

    def student(self, user: User, id: UserId) -> User:
        """Return the student of that id; `NotAllowed` for nobody."""
        with self._read(user) as session:
            if (known := people.student(session, id)) is None:
                raise NotAllowed("There is no such student.")
            return known

    def attempts(self, user: User, student: UserId) -> list[Attempt]:
        """Return a student's submissions, newest first."""
        with self._read(user) as session:
            return submissions.attempts(session, student, class_id=FIRST_CLASS)

    def neighbours(self, user: User, submission: Submission) -> Neighbours:
        """Return what the same student handed in to the same exercise just before a submission, and just after it."""
        with self._read(user) as session:
            return submissions.neighbours(session, submission)

    def listed(self, user: User, wanted: Wanted) -> list[ListedAttempt]:
        """Return the students' submissions that are wanted, newest first, the last few hundred of them."""
        with self._read(user) as session:
            return submissions.listed(session, wanted, most=MOST_LISTED)

    def best_attempt(self, user: User, student: UserId, exercise: str) -> SubmissionId:
        """Return the submission that a student's best score on an exercise comes from; `NotAllowed` without one."""
        with self._read(user) as session:
            if (best := submissions.best_of(session, student, exercise)) is None:
                raise NotAllowed("There is no graded attempt of this student at that exercise.")
            return best

    def common_mistakes(self, user: User) -> list[CommonMistake]:
        """Return the mistakes that students made, on each exercise those of most students first."""
        with self._read(user) as session:
            return standings.common_mistakes(session)


class Members:
    """The class as its instructors change it; each method raises `NotAllowed` if it is no instructor who asks."""

    def __init__(self, accounts: Accounts, database: Database, *, clock: Callable[[], float]) -> None:
        self._accounts, self._database, self._clock = accounts, database, clock

    def code(self, asking: User) -> str:
        """Return the class code."""
        authorize(asking, Action.MANAGE, Roster())
        return self._accounts.class_code()

    def replace_code(self, asking: User) -> str:
        """Draw another class code, which counts at once in place of the one before, and return it."""
        authorize(asking, Action.MANAGE, Roster())
        code = keys.drawn_code()
        with self._database.write() as session:
            people.replace_class_code(session, code)
        return code

    def everybody(self, asking: User) -> list[Member]:
        """Return all who belong to the class or did, by name."""
        authorize(asking, Action.MANAGE, Roster())
        with self._database.read() as session:
            return people.members(session)

    def one(self, asking: User, id: UserId) -> Member:
        """Return one of them; `NotAllowed` for nobody."""
        authorize(asking, Action.MANAGE, Roster())
        with self._database.read() as session:
            if (known := people.member(session, id)) is None:
                raise NotAllowed(NOBODY)
            return known

    def set_role(self, asking: User, id: UserId, role: Role) -> None:
        """Give a member another role; somebody who has left the class is back in it.

        Raises:
            NotAllowed: there is no such member, or no instructor would be left.
        """
        self._change(asking, id, role)

    def remove(self, asking: User, id: UserId) -> None:
        """Take somebody out of the class, as `set_role`; their account and what they have handed in stay."""
        self._change(asking, id, None)

    def rename(self, asking: User, id: UserId, name: str) -> None:
        """Give a member another name, with which they sign in from then on.

        Raises:
            NotAllowed: there is no such member now, or the name is odd or taken.
        """
        authorize(asking, Action.RENAME, OwnName(id))
        if self.one(asking, id).ended is not None:
            raise NotAllowed(NOBODY)
        with self._database.read() as session:
            if id != asking.id and not people.is_here_alone(session, id):
                raise NotAllowed(ELSEWHERE)
        self._accounts.rename(id, name)

    def _change(self, asking: User, id: UserId, role: Role | None) -> None:
        authorize(asking, Action.MANAGE, Roster())
        with self._database.write() as session:
            turns.of_class(session)  # else the last two instructors could remove each other
            if people.member(session, id) is None:
                raise NotAllowed(NOBODY)
            now = server_time(session, self._clock)
            if role is None:
                people.leave_class(session, id, now)
            else:
                people.enter_class(session, id, role, now)
            people.check_instructor_left(session)
        self._accounts.sessions.forget()


@dataclass(frozen=True, slots=True)
class OwnBoard:
    """How a person stands on leaderboards, and which pseudonym they have there."""

    choice: BoardName
    pseudonym: str


class BoardNames:
    """The leaderboards as each reader may see them, and what people choose to be on them."""

    def __init__(self, database: Database, secret: bytes) -> None:
        """Read from `database`; `secret` is what pseudonyms are drawn from."""
        self._database, self._secret = database, secret

    def leaderboard(self, exercise: str | None = None, reader: User | None = None) -> list[Standing]:
        """Return the students in order, on one exercise or over all, without those who have left the boards.

        Instructors see names; everybody else sees what each one has chosen.
        """
        with self._database.read() as session:
            board = standings.leaderboard(session, exercise)
            if reader is not None and may(reader, Action.READ, Roster()):
                return board
            names = pseudonyms(self._secret, people.folded_names(session))
        return [
            line if line.shown is BoardName.NAME else replace(line, name=names.get(line.user, "Somebody"))
            for line in board
        ]

    def of(self, user: User) -> OwnBoard | None:
        """Return how a student stands on the boards; None for whoever is on none."""
        with self._database.read() as session:
            choice = people.board_name(session, user.id)
            if choice is None:
                return None
            return OwnBoard(choice, pseudonyms(self._secret, people.folded_names(session))[user.id])

    def choose(self, user: User, choice: str) -> None:
        """Let a student stand on the boards in another way from now on.

        Raises:
            NotAllowed: there is no such way, or they are no student of the class.
        """
        if choice not in set(BoardName):
            raise NotAllowed("Choose one of the three.")
        with self._database.write() as session:
            if not people.choose_board_name(session, user.id, BoardName(choice)):
                raise NotAllowed("Only students of a class are on its leaderboards.")
