"""The class: what its instructors read and change, and under which names people stand on its leaderboards."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from grader.errors import NotAllowed
from grader.service import Service
from grader.service.classroom import Classroom
from grader.service.names import ADJECTIVES, ANIMALS, NUMBERS, fold, pseudonyms
from grader.store.engine import Database
from grader.store.people import LAST
from grader.store.records import BoardName, Role, Submission, User, UserId, Wanted
from grader.store.tables import INITIAL_CLASS
from tests.service.conftest import Clock
from tests.service.test_service import graded

Person = Callable[..., User]
WISHES: dict[str, Callable[[Service, User, UserId], object]] = {
    "code": lambda service, user, id: service.classroom(user).code(),
    "replace_code": lambda service, user, id: service.classroom(user).replace_code(),
    "everybody": lambda service, user, id: service.classroom(user).everybody(),
    "member": lambda service, user, id: service.classroom(user).member(id),
    "set_role": lambda service, user, id: service.classroom(user).set_role(id, Role.INSTRUCTOR),
    "rename": lambda service, user, id: service.classroom(user).rename(id, "Another name"),
    "remove": lambda service, user, id: service.classroom(user).remove(id),
}


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_only_instructors_manage_the_class(service: Service, person: Person, wish: Callable[..., object]) -> None:
    """A student is refused, about themselves too, and nothing is changed; an instructor is not refused."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    before = service.classroom(prof).everybody(), service.classroom(prof).code()
    with pytest.raises(NotAllowed, match="for instructors only"):
        wish(service, ada, ada.id)
    assert (service.classroom(prof).everybody(), service.classroom(prof).code()) == before

    wish(service, prof, ada.id)


def test_a_new_code_takes_the_place_of_the_one_before_at_once(service: Service, person: Person) -> None:
    """The code of the settings is worth nothing any more, and neither is the first drawn one after the second."""
    prof = person("Prof", Role.INSTRUCTOR)
    assert service.classroom(prof).code() == service.class_code == "green-tree"
    codes = ["green-tree", *(service.classroom(prof).replace_code() for _ in range(2))]
    for number, code in enumerate(codes[:-1]):
        with pytest.raises(NotAllowed, match="class code is wrong"):
            service.register(f"Late {number}", "correct horse", code)

    assert len(set(codes)) == 3
    assert service.class_code == service.classroom(prof).code() == codes[-1]
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
    service.classroom(prof).remove(ada.id)

    assert service.user_of(token) == User(ada.id, "Ada", Role.LEARNER)
    assert service.attempts(ada) == work != []
    assert [line.user for line in service.leaderboard("softmax")] == [bob.id]
    assert [one.user for one in service.classroom(prof).students()] == [bob]
    with pytest.raises(NotAllowed, match="no such student"):
        service.classroom(prof).student(ada.id)
    service.classroom(prof).set_role(ada.id, Role.STUDENT)
    assert service.user_of(token) == ada
    assert service.leaderboard("softmax") == board


def test_somebody_removed_joins_again_with_the_code(service: Service, person: Person, clock: Clock) -> None:
    """As a student, since the day on which they came first; a new code keeps them out."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    joined = clock.now
    clock.now += 1000.0
    service.classroom(prof).remove(ada.id)
    assert service.classroom(prof).member(ada.id).ended == joined + 1000.0
    service.accounts.join(ada, "green-tree")
    back = service.classroom(prof).member(ada.id)
    service.classroom(prof).remove(ada.id)
    service.classroom(prof).replace_code()
    with pytest.raises(NotAllowed, match="class code is wrong"):
        service.accounts.join(ada, "green-tree")

    assert (back.role, back.joined, back.ended) == (Role.STUDENT, joined, None)


def test_rights_are_given_and_taken_back_at_once(service: Service, person: Person) -> None:
    """Whoever is signed in has them, or has them no more, with their next request."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    tokens = [service.sign_in(name, "correct horse", "192.0.2.1") for name in ("Ada", "Prof")]
    assert [service.user_of(token) for token in tokens] == [ada, prof]
    service.classroom(prof).set_role(ada.id, Role.INSTRUCTOR)
    promoted = service.user_of(tokens[0])
    assert promoted is not None
    service.classroom(promoted).set_role(prof.id, Role.STUDENT)
    former = service.user_of(tokens[1])

    assert promoted.role is Role.INSTRUCTOR
    assert former is not None
    with pytest.raises(NotAllowed, match="for instructors only"):
        service.classroom(former).everybody()


@pytest.mark.parametrize("wish", ["student", "remove"])
def test_the_last_instructor_stays(service: Service, person: Person, wish: str) -> None:
    """They can give up their rights, or leave, only when there is another one; one who has left is none."""
    prof, other = person("Prof", Role.INSTRUCTOR), person("Other", Role.INSTRUCTOR)
    service.classroom(prof).remove(other.id)

    def leave() -> None:
        if wish == "remove":
            service.classroom(prof).remove(prof.id)
        else:
            service.classroom(prof).set_role(prof.id, Role.STUDENT)

    with pytest.raises(NotAllowed, match=LAST):
        leave()
    known = service.classroom(prof).member(prof.id)
    assert (known.role, known.ended) == (Role.INSTRUCTOR, None)
    service.classroom(prof).set_role(other.id, Role.INSTRUCTOR)
    leave()

    assert [
        one.name for one in service.classroom(other).everybody() if one.role is Role.INSTRUCTOR and not one.ended
    ] == ["Other"]


def test_learners_outside_of_the_class_cannot_be_changed(service: Service, person: Person, database: Database) -> None:
    """Whoever never was in the class is no member, and neither is nobody at all."""
    prof, outside = person("Prof", Role.INSTRUCTOR), service.register("Outside", "correct horse")
    for id in (outside.id, UserId(0), UserId(999)):
        for change in (
            lambda id=id: service.classroom(prof).set_role(id, Role.STUDENT),
            lambda id=id: service.classroom(prof).remove(id),
        ):
            with pytest.raises(NotAllowed, match="no such member"):
                change()

    assert [one.name for one in service.classroom(prof).everybody()] == ["Prof"]


def test_an_instructor_renames_members_only(service: Service, person: Person) -> None:
    """Their session goes on under the new name; nobody outside of the class, and no former member, is renamed."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    outside, left = service.register("Outside", "correct horse"), person("Left")
    service.classroom(prof).remove(left.id)
    token = service.sign_in("Ada", "correct horse", "192.0.2.1")
    service.classroom(prof).rename(ada.id, "Ada L")
    for other in (outside.id, left.id, UserId(999)):
        with pytest.raises(NotAllowed, match="no such member"):
            service.classroom(prof).rename(other, "Renamed")

    assert service.user_of(token) == User(ada.id, "Ada L", Role.STUDENT)
    assert service.add_user("Renamed", "correct horse", Role.STUDENT).name == "Renamed"


QUESTIONS: dict[str, Callable[[Service, User, UserId], object]] = {
    "students": lambda service, user, id: service.classroom(user).students(),
    "student": lambda service, user, id: service.classroom(user).student(id),
    "attempts": lambda service, user, id: service.classroom(user).attempts(id),
    "listed": lambda service, user, id: service.classroom(user).listed(Wanted(student=id)),
    "neighbours": lambda service, user, id: service.classroom(user).neighbours(handed_in(service, id)),
    "common_mistakes": lambda service, user, id: service.classroom(user).common_mistakes(),
}


def handed_in(service: Service, id: UserId) -> Submission:
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

    assert service.classroom(prof).attempts(ada.id) == service.attempts(ada)
    assert [one.user for one in service.classroom(prof).students()] == [ada]


def test_a_best_attempt_that_is_not_there_is_told(service: Service, person: Person) -> None:
    """An instructor reads so; a student is told nothing."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    with pytest.raises(NotAllowed, match="no graded attempt"):
        service.classroom(prof).best_attempt(ada.id, "softmax")
    with pytest.raises(NotAllowed, match="for instructors only"):
        service.classroom(ada).best_attempt(ada.id, "softmax")


def test_all_that_a_class_can_be_asked_is_tried() -> None:
    """By name: what is added to it is tried as a student above."""
    methods = {name for name, one in vars(Classroom).items() if callable(one) and not name.startswith("_")}

    assert methods - {"best_attempt"} == {
        *WISHES,
        *QUESTIONS,
    }  # that one is refused without a graded attempt, as told above


CLASS = [(UserId(id), f"student {id}") for id in range(1, 2001)]


def test_pseudonyms_are_readable_and_unique() -> None:
    """In a class so large that many draw the same; all words are different ones."""
    names = pseudonyms(b"secret", INITIAL_CLASS, CLASS)

    assert len(set(ADJECTIVES)) == len(ADJECTIVES) == len(set(ANIMALS)) == len(ANIMALS) == 64
    assert len(set(names.values())) == len(names) == len(CLASS)
    assert [name for name in names.values() if not re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+ [1-9][0-9]", name)] == []


def test_a_pseudonym_stays_when_others_come_and_hangs_on_the_secret_alone() -> None:
    """Neither a new member nor another name changes it; another secret changes nearly all of them."""
    names = pseudonyms(b"secret", INITIAL_CLASS, CLASS[:50])
    renamed = [(id, f"other {id}") for id, _ in CLASS[:50]]
    other = pseudonyms(b"another", INITIAL_CLASS, CLASS[:50])

    assert pseudonyms(b"secret", INITIAL_CLASS, CLASS).items() >= names.items()
    assert pseudonyms(b"secret", INITIAL_CLASS, renamed) == names
    assert sum(names[id] == other[id] for id in names) < 3
    assert len(ADJECTIVES) * len(ANIMALS) * len(NUMBERS) > 300_000


def test_no_pseudonym_is_the_name_of_a_member() -> None:
    """Whoever registers under a name that looks like one is not taken for somebody else."""
    first = pseudonyms(b"secret", INITIAL_CLASS, CLASS[:1])[UserId(1)]
    second = pseudonyms(b"secret", INITIAL_CLASS, [CLASS[0], (UserId(2), fold(first))])

    assert first not in second.values()


def test_a_board_shows_pseudonyms_and_instructors_see_names(service: Service, person: Person) -> None:
    """The same one on every board, for the person themselves and for guests too."""
    ada, bob, teacher = person("Ada"), person("Bob"), person("Prof", Role.INSTRUCTOR)
    service.start()
    for one in (ada, bob):
        graded(service, one)
        graded(service, one, "causal_mask")
    own = {one.id: service.boards.of(one) for one in (ada, bob)}

    for board in (service.leaderboard(), service.leaderboard("softmax", ada), service.leaderboard("causal_mask", bob)):
        assert {line.user: line.name for line in board} == {id: found.pseudonym for id, (found,) in own.items()}
    assert {line.name for line in service.leaderboard(reader=teacher)} == {"Ada", "Bob"}
    assert service.boards.of(teacher) == []


def test_people_choose_their_name_or_leave(service: Service, person: Person) -> None:
    """Who has left is on no board, and leaves no gap in the ranks; coming back brings the same pseudonym."""
    ada, bob, teacher = person("Ada"), person("Bob"), person("Prof", Role.INSTRUCTOR)
    service.start()
    for one in (ada, bob):
        graded(service, one)
    before = service.boards.of(ada)
    service.boards.choose(bob, BoardName.NAME)
    assert "Bob" in [line.name for line in service.leaderboard("softmax", ada)]
    service.boards.choose(ada, BoardName.NONE)
    for reader in (ada, bob, teacher, None):
        assert [(line.rank, line.name) for line in service.leaderboard("softmax", reader)] == [(1, "Bob")]
        assert [line.name for line in service.leaderboard(reader=reader)] == ["Bob"]
    service.boards.choose(ada, BoardName.PSEUDONYM)

    assert service.boards.of(ada) == before
    assert before[0].pseudonym in [line.name for line in service.leaderboard("softmax")]


def test_only_students_choose_and_only_what_there_is(service: Service, person: Person) -> None:
    """Anything else is refused, and changes nothing."""
    ada, learner = person("Ada"), person("Lea", Role.LEARNER)
    with pytest.raises(NotAllowed, match="one of the three"):
        service.boards.choose(ada, "Bob")
    for one in (learner, person("Prof", Role.INSTRUCTOR)):
        with pytest.raises(NotAllowed, match="Only students"):
            service.boards.choose(one, BoardName.NAME)

    (found,) = service.boards.of(ada)
    assert found.choice is BoardName.PSEUDONYM
    assert service.boards.of(learner) == []
