"""What instructors may read about their class; each method asks who is asking."""

from __future__ import annotations

from grader.errors import NotAllowed
from grader.service.authorize import Action, Roster, authorize
from grader.store import people, standings, submissions
from grader.store.engine import Database
from grader.store.records import Attempt, ListedAttempt, Neighbours, Submission, SubmissionId, User, UserId, Wanted
from grader.store.standings import CommonMistake, Student

MOST_LISTED = 300


class InstructorService:
    """The instructors' part of the service; nothing in it changes anything."""

    def __init__(self, database: Database) -> None:
        """Read from `database`."""
        self._database = database

    def students(self, user: User) -> list[Student]:
        """Return every student by name, those too who have not handed anything in.

        Raises:
            NotAllowed: it is no instructor who asks.
        """
        authorize(user, Action.READ, Roster())
        with self._database.read() as session:
            return standings.students(session)

    def student(self, user: User, id: UserId) -> User:
        """Return the student of that id.

        Raises:
            NotAllowed: it is no instructor who asks, or there is no such student.
        """
        authorize(user, Action.READ, Roster())
        with self._database.read() as session:
            found = people.student(session, id)
        if found is None:
            raise NotAllowed("There is no such student.")
        return found

    def attempts(self, user: User, student: UserId) -> list[Attempt]:
        """Return a student's submissions, newest first.

        Raises:
            NotAllowed: it is no instructor who asks.
        """
        authorize(user, Action.READ, Roster())
        with self._database.read() as session:
            return submissions.attempts(session, student)

    def neighbours(self, user: User, submission: Submission) -> Neighbours:
        """Return what the same student handed in to the same exercise just before a submission, and just after it.

        Raises:
            NotAllowed: it is no instructor who asks.
        """
        authorize(user, Action.READ, Roster())
        with self._database.read() as session:
            return submissions.neighbours(session, submission)

    def listed(self, user: User, wanted: Wanted) -> list[ListedAttempt]:
        """Return the students' submissions that are wanted, newest first, the last few hundred of them.

        Raises:
            NotAllowed: it is no instructor who asks.
        """
        authorize(user, Action.READ, Roster())
        with self._database.read() as session:
            return submissions.listed(session, wanted, most=MOST_LISTED)

    def best_attempt(self, user: User, student: UserId, exercise: str) -> SubmissionId:
        """Return the submission that a student's best score on an exercise comes from.

        Raises:
            NotAllowed: it is no instructor who asks, or the student has no score on it.
        """
        authorize(user, Action.READ, Roster())
        with self._database.read() as session:
            found = submissions.best_of(session, student, exercise)
        if found is None:
            raise NotAllowed("There is no graded attempt of this student at that exercise.")
        return found

    def common_mistakes(self, user: User) -> list[CommonMistake]:
        """Return the mistakes that students made, on each exercise those of most students first.

        Raises:
            NotAllowed: it is no instructor who asks.
        """
        authorize(user, Action.READ, Roster())
        with self._database.read() as session:
            return standings.common_mistakes(session)
