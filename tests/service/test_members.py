"""The class as its instructors change it: its code, its members and their roles."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.errors import NotAllowed
from grader.service import Service
from grader.service.members import LAST
from grader.store.engine import Database
from grader.store.records import Role, User, UserId
from tests.service.conftest import Clock
from tests.service.test_service import graded

Person = Callable[..., User]
WISHES: dict[str, Callable[[Service, User, UserId], object]] = {
    "read the code": lambda service, user, id: service.members.code(user),
    "replace the code": lambda service, user, id: service.members.replace_code(user),
    "list the members": lambda service, user, id: service.members.everybody(user),
    "look at a member": lambda service, user, id: service.members.one(user, id),
    "make an instructor": lambda service, user, id: service.members.set_role(user, id, Role.INSTRUCTOR),
    "rename": lambda service, user, id: service.members.rename(user, id, "Another name"),
    "remove": lambda service, user, id: service.members.remove(user, id),
}


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_only_instructors_manage_the_class(service: Service, person: Person, wish: Callable[..., object]) -> None:
    """A student is refused, about themselves too, and nothing is changed; an instructor is not refused."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    before = service.members.everybody(prof), service.members.code(prof)
    with pytest.raises(NotAllowed, match="for instructors only"):
        wish(service, ada, ada.id)
    assert (service.members.everybody(prof), service.members.code(prof)) == before

    wish(service, prof, ada.id)


def test_a_new_code_takes_the_place_of_the_one_before_at_once(service: Service, person: Person) -> None:
    """The code of the settings is worth nothing any more, and neither is the first drawn one after the second."""
    prof = person("Prof", Role.INSTRUCTOR)
    assert service.members.code(prof) == service.class_code == "green-tree"
    codes = ["green-tree", *(service.members.replace_code(prof) for _ in range(2))]
    for number, code in enumerate(codes[:-1]):
        with pytest.raises(NotAllowed, match="class code is wrong"):
            service.register(f"Late {number}", "correct horse", code)

    assert len(set(codes)) == 3
    assert service.class_code == service.members.code(prof) == codes[-1]
    assert service.register("In time", "correct horse", codes[-1]).role is Role.STUDENT


def test_somebody_removed_keeps_account_and_work_and_is_in_no_list(service: Service, person: Person) -> None:
    """Neither on a board nor in the gradebook; what is signed in is a learner at once, and back with all of it."""
    ada, bob, prof = person("Ada"), person("Bob"), person("Prof", Role.INSTRUCTOR)
    service.start()
    for user in (ada, bob):
        graded(service, user)
    token = service.sign_in("Ada", "correct horse", "192.0.2.1")
    work, board = service.attempts(ada), service.leaderboard("softmax")
    assert service.user_of(token) == ada
    service.members.remove(prof, ada.id)

    assert service.user_of(token) == User(ada.id, "Ada", Role.LEARNER)
    assert service.attempts(ada) == work != []
    assert [line.user for line in service.leaderboard("softmax")] == [bob.id]
    assert [one.user for one in service.instructor.students(prof)] == [bob]
    with pytest.raises(NotAllowed, match="no such student"):
        service.instructor.student(prof, ada.id)
    service.members.set_role(prof, ada.id, Role.STUDENT)
    assert service.user_of(token) == ada
    assert service.leaderboard("softmax") == board


def test_somebody_removed_joins_again_with_the_code(service: Service, person: Person, clock: Clock) -> None:
    """As a student, since the day on which they came first; a new code keeps them out."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    joined = clock.now
    clock.now += 1000.0
    service.members.remove(prof, ada.id)
    assert service.members.one(prof, ada.id).ended == joined + 1000.0
    service.accounts.join(ada, "green-tree")
    back = service.members.one(prof, ada.id)
    service.members.remove(prof, ada.id)
    service.members.replace_code(prof)
    with pytest.raises(NotAllowed, match="class code is wrong"):
        service.accounts.join(ada, "green-tree")

    assert (back.role, back.joined, back.ended) == (Role.STUDENT, joined, None)


def test_rights_are_given_and_taken_back_at_once(service: Service, person: Person) -> None:
    """Whoever is signed in has them, or has them no more, with their next request."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    tokens = [service.sign_in(name, "correct horse", "192.0.2.1") for name in ("Ada", "Prof")]
    assert [service.user_of(token) for token in tokens] == [ada, prof]
    service.members.set_role(prof, ada.id, Role.INSTRUCTOR)
    promoted = service.user_of(tokens[0])
    assert promoted is not None
    service.members.set_role(promoted, prof.id, Role.STUDENT)
    former = service.user_of(tokens[1])

    assert promoted.role is Role.INSTRUCTOR
    assert former is not None
    with pytest.raises(NotAllowed, match="for instructors only"):
        service.members.everybody(former)


@pytest.mark.parametrize("wish", ["student", "remove"])
def test_the_last_instructor_stays(service: Service, person: Person, wish: str) -> None:
    """They can give up their rights, or leave, only when there is another one; one who has left is none."""
    prof, other = person("Prof", Role.INSTRUCTOR), person("Other", Role.INSTRUCTOR)
    service.members.remove(prof, other.id)

    def leave() -> None:
        if wish == "remove":
            service.members.remove(prof, prof.id)
        else:
            service.members.set_role(prof, prof.id, Role.STUDENT)

    with pytest.raises(NotAllowed, match=LAST):
        leave()
    known = service.members.one(prof, prof.id)
    assert (known.role, known.ended) == (Role.INSTRUCTOR, None)
    service.members.set_role(prof, other.id, Role.INSTRUCTOR)
    leave()

    assert [one.name for one in service.members.everybody(other) if one.role is Role.INSTRUCTOR and not one.ended] == [
        "Other"
    ]


def test_learners_outside_of_the_class_cannot_be_changed(service: Service, person: Person, database: Database) -> None:
    """Whoever never was in the class is no member, and neither is nobody at all."""
    prof, outside = person("Prof", Role.INSTRUCTOR), service.register("Outside", "correct horse")
    for id in (outside.id, UserId(0), UserId(999)):
        for change in (
            lambda id=id: service.members.set_role(prof, id, Role.STUDENT),
            lambda id=id: service.members.remove(prof, id),
        ):
            with pytest.raises(NotAllowed, match="no such member"):
                change()

    assert [one.name for one in service.members.everybody(prof)] == ["Prof"]


def test_an_instructor_renames_members_only(service: Service, person: Person) -> None:
    """Their session goes on under the new name; nobody outside of the class, and no former member, is renamed."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    outside, left = service.register("Outside", "correct horse"), person("Left")
    service.members.remove(prof, left.id)
    token = service.sign_in("Ada", "correct horse", "192.0.2.1")
    service.members.rename(prof, ada.id, "Ada L")
    for other in (outside.id, left.id, UserId(999)):
        with pytest.raises(NotAllowed, match="no such member"):
            service.members.rename(prof, other, "Renamed")

    assert service.user_of(token) == User(ada.id, "Ada L", Role.STUDENT)
    assert service.add_user("Renamed", "correct horse", Role.STUDENT).name == "Renamed"
