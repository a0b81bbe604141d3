"""A class: what its instructors read and change of it, and its leaderboards as each reader may see them.

On leaderboards people stand under a pseudonym, unless they choose their own name, or to leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from grader.errors import NotAllowed
from grader.service.accounts import Accounts
from grader.service.authorize import INSTRUCTORS_ONLY, check_instructor, is_instructor
from grader.service.names import pseudonyms
from grader.store import classes, keys, people, standings, submissions, turns
from grader.store.classes import SchoolClass
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
from grader.store.tables import INITIAL_CLASS

MOST_LISTED = 300
NO_STUDENT = "There is no such student."
NOBODY = "There is no such member of the class."
ELSEWHERE = "This account is used in another class too; the administrator of the installation changes it."


class Classrooms:
    """Opens a class for whoever teaches it."""

    def __init__(self, accounts: Accounts, database: Database, *, clock: Callable[[], float]) -> None:
        self._accounts, self._database, self._clock = accounts, database, clock

    def open(self, asking: User, key: str = "", student: UserId | None = None) -> Classroom:
        """Return the class of that key, or else the oldest one that somebody teaches, with that student in it.

        Raises:
            NotAllowed: they teach no such class.
        """
        with self._database.read() as session:
            taught = [one for one, own in classes.classes_of(session, asking.id) if own.role is Role.INSTRUCTOR]
            studied = [] if student is None else people.classes_of(session, student, Role.STUDENT)
        open = [one for one in taught if key in ("", one.key)]
        if not open:
            raise NotAllowed(INSTRUCTORS_ONLY)
        one = next((one for one in open if one.id in studied), open[0])
        return Classroom(self._accounts, self._database, self._clock, asking, one, tuple(taught))


@dataclass(frozen=True, slots=True)
class Classroom:
    """A class as one of its instructors reads and changes it.

    Each method raises `NotAllowed` once they teach it no longer. `taught` are all the classes that they teach.
    """

    _accounts: Accounts
    _database: Database
    _clock: Callable[[], float]
    asking: User
    one: SchoolClass
    taught: tuple[SchoolClass, ...]

    @property
    def is_lost(self) -> bool:
        """Whether they teach it no longer."""
        with self._database.read() as session:
            return not is_instructor(session, self.asking, self.one.id)

    @contextmanager
    def _read(self, student: UserId | None = None) -> Iterator[Session]:
        with self._database.read() as session:
            check_instructor(session, self.asking, self.one.id)
            if student is not None and people.role_in(session, self.one.id, student) is not Role.STUDENT:
                raise NotAllowed(NO_STUDENT)
            yield session

    def students(self) -> list[Student]:
        """Return every student by name, those too who have not handed anything in."""
        with self._read() as session:
            return standings.students(session, self.one.id)

    def student(self, id: UserId) -> User:
        """Return the student of that id; `NotAllowed` for nobody."""
        with self._read(id) as session:
            if (known := people.user(session, id)) is None:
                raise NotAllowed(NO_STUDENT)
            return known

    def attempts(self, student: UserId) -> list[Attempt]:
        """Return a student's submissions, newest first."""
        with self._read(student) as session:
            return submissions.attempts(session, student, class_id=self.one.id)

    def neighbours(self, submission: Submission) -> Neighbours:
        """Return what the same student handed in to the same exercise just before a submission, and just after it."""
        with self._read(submission.user) as session:
            return submissions.neighbours(session, self.one.id, submission)

    def listed(self, wanted: Wanted) -> list[ListedAttempt]:
        """Return the students' submissions that are wanted, newest first, the last few hundred of them."""
        with self._read() as session:
            return submissions.listed(session, self.one.id, wanted, most=MOST_LISTED)

    def best_attempt(self, student: UserId, exercise: str) -> SubmissionId:
        """Return the submission that a student's best score on an exercise comes from; `NotAllowed` without one."""
        with self._read(student) as session:
            if (best := submissions.best_of(session, student, exercise)) is None:
                raise NotAllowed("There is no graded attempt of this student at that exercise.")
            return best

    def common_mistakes(self) -> list[CommonMistake]:
        """Return the mistakes that students made, on each exercise those of most students first."""
        with self._read() as session:
            return standings.common_mistakes(session, self.one.id)

    def code(self) -> str:
        """Return the class code; an empty text where none was drawn, so that nobody can join."""
        with self._read():
            return self._accounts.class_code(self.one.id)

    def replace_code(self) -> str:
        """Draw another class code, which counts at once in place of the one before, and return it."""
        code = keys.drawn_code()
        with self._database.write() as session:
            check_instructor(session, self.asking, self.one.id)
            people.replace_class_code(session, self.one.id, code)
        return code

    def everybody(self) -> list[Member]:
        """Return all who belong to the class or did, by name."""
        with self._read() as session:
            return people.members(session, self.one.id)

    def member(self, id: UserId) -> Member:
        """Return one of them; `NotAllowed` for nobody."""
        with self._read() as session:
            if (known := people.member(session, self.one.id, id)) is None:
                raise NotAllowed(NOBODY)
            return known

    def set_role(self, id: UserId, role: Role) -> None:
        """Give a member another role; somebody who has left the class is back in it.

        Raises:
            NotAllowed: there is no such member, or no instructor would be left.
        """
        self._change(id, role)

    def remove(self, id: UserId) -> None:
        """Take somebody out of the class, as `set_role`; their account and what they have handed in stay."""
        self._change(id, None)

    def rename(self, id: UserId, name: str) -> None:
        """Give a member another name, with which they sign in from then on.

        Raises:
            NotAllowed: there is no such member now, or the name is odd or taken.
        """
        if self.member(id).ended is not None:
            raise NotAllowed(NOBODY)
        with self._database.read() as session:
            if id != self.asking.id and not people.is_here_alone(session, self.one.id, id):
                raise NotAllowed(ELSEWHERE)
        self._accounts.rename(id, name)

    def _change(self, id: UserId, role: Role | None) -> None:
        here = self.one.id
        with self._database.write() as session:
            turns.of_class(session)  # else the last two instructors could remove each other
            check_instructor(session, self.asking, here)
            if people.member(session, here, id) is None:
                raise NotAllowed(NOBODY)
            now = server_time(session, self._clock)
            if role is None:
                classes.set_presence(session, here, id, ended=now)
            else:
                people.enter_class(session, here, id, role, now=now)
            people.check_instructor_left(session, here)
        self._accounts.sessions.forget()


@dataclass(frozen=True, slots=True)
class OwnBoard:
    """How a person stands on the leaderboards of a class, and which pseudonym they have there."""

    school: str
    choice: BoardName
    pseudonym: str


class BoardNames:
    """The leaderboards as each reader may see them, and what people choose to be on them."""

    def __init__(self, database: Database, secret: bytes) -> None:
        """Read from `database`; `secret` is what pseudonyms are drawn from."""
        self._database, self._secret = database, secret

    def classes(self, reader: User | None) -> list[SchoolClass]:
        """Return the classes whose leaderboards somebody sees: their own; the initial one, if they are in none."""
        with self._database.read() as session:
            return self._classes(session, reader)

    def leaderboard(self, exercise: str | None = None, reader: User | None = None, *, key: str = "") -> list[Standing]:
        """Return the students of a class in order, on one exercise or over all, without those who left the boards.

        It is the reader's class of that key, or else their oldest one. Who teaches it sees names; everybody else sees
        what each one has chosen.
        """
        with self._database.read() as session:
            seen = self._classes(session, reader)
            one = next((each for each in seen if each.key == key), seen[0])
            board = standings.leaderboard(session, one.id, exercise)
            if reader is not None and is_instructor(session, reader, one.id):
                return board
            names = pseudonyms(self._secret, one.id, people.folded_names(session, one.id))
        return [
            line if line.shown is BoardName.NAME else replace(line, name=names.get(line.user, "Somebody"))
            for line in board
        ]

    def of(self, user: User) -> list[OwnBoard]:
        """Return how a student stands on the boards of each of their classes."""
        found = []
        with self._database.read() as session:
            for one in self._classes(session, user):
                if (choice := people.board_name(session, one.id, user.id)) is not None:
                    names = pseudonyms(self._secret, one.id, people.folded_names(session, one.id))
                    found.append(OwnBoard(one.name, choice, names[user.id]))
        return found

    def choose(self, user: User, choice: str) -> None:
        """Let a student stand on the boards of their classes in another way from now on.

        Raises:
            NotAllowed: there is no such way, or they are no student of a class.
        """
        if choice not in set(BoardName):
            raise NotAllowed("Choose one of the three.")
        with self._database.write() as session:
            studied = people.classes_of(session, user.id, Role.STUDENT)
            if not studied:
                raise NotAllowed("Only students of a class are on its leaderboards.")
            for class_id in studied:
                people.choose_board_name(session, class_id, user.id, BoardName(choice))

    def _classes(self, session: Session, reader: User | None) -> list[SchoolClass]:
        own = [] if reader is None else [one for one, _ in classes.classes_of(session, reader.id)]
        return own or [classes.class_of_id(session, INITIAL_CLASS)]
