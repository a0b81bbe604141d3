"""What instructors may read, and nobody else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.errors import NotAllowed
from grader.service import Service
from grader.store.records import Role, Submission, User, UserId, Wanted

Person = Callable[..., User]
QUESTIONS: dict[str, Callable[[Service, User, UserId], object]] = {
    "students": lambda service, user, id: service.instructor.students(user),
    "student": lambda service, user, id: service.instructor.student(user, id),
    "attempts": lambda service, user, id: service.instructor.attempts(user, id),
    "submissions": lambda service, user, id: service.instructor.listed(user, Wanted(student=id)),
    "neighbours": lambda service, user, id: service.instructor.neighbours(user, handed_in(service, id)),
    "common mistakes": lambda service, user, id: service.instructor.common_mistakes(user),
}


def handed_in(service: Service, id: UserId) -> Submission:
    """Return a submission of that student's."""
    ada = User(id, "Ada", Role.STUDENT)
    return service.submission(ada, service.unfinished(ada, "softmax") or service.submit(ada, "softmax", "x = 1"))


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_a_student_is_refused(service: Service, person: Person, ask: Callable[..., object]) -> None:
    """Not even about themselves; an instructor gets an answer to the same question."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)

    with pytest.raises(NotAllowed, match="for instructors only"):
        ask(service, ada, ada.id)
    assert ask(service, prof, ada.id) is not None


def test_an_instructor_sees_what_a_student_has_handed_in(service: Service, person: Person) -> None:
    """The list of a student's submissions is the student's own."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    service.submit(ada, "softmax", "x = 1")

    assert service.instructor.attempts(prof, ada.id) == service.attempts(ada)
    assert [one.user for one in service.instructor.students(prof)] == [ada]


def test_there_is_no_such_student(service: Service, person: Person) -> None:
    """An instructor who asks for somebody unknown is told so."""
    with pytest.raises(NotAllowed, match="no such student"):
        service.instructor.student(person("Prof", Role.INSTRUCTOR), UserId(99))


def test_a_best_attempt_that_is_not_there_is_told(service: Service, person: Person) -> None:
    """An instructor reads so; a student is told nothing."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    with pytest.raises(NotAllowed, match="no graded attempt"):
        service.instructor.best_attempt(prof, ada.id, "softmax")
    with pytest.raises(NotAllowed, match="for instructors only"):
        service.instructor.best_attempt(ada, ada.id, "softmax")
