"""Who may do what with whose work, by class and role."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.errors import NotAllowed
from grader.rules.roster import RosterRow
from grader.service import Service
from grader.service.authorize import INSTRUCTORS_ONLY, NOT_YOURS
from grader.store import classes
from grader.store.classes import SchoolClass
from grader.store.engine import Database
from grader.store.records import BoardName, Role, User, Wanted
from tests.service.test_service import graded

Person = Callable[..., User]
ROLES = ("owner", "other student", "assistant", "assistant of another section", "instructor", "former instructor",
         "student elsewhere", "instructor elsewhere", "learner", "visitor")  # fmt: skip


@pytest.fixture
def cast(service: Service, database: Database, person: Person) -> dict[str, User]:
    """Give people of two classes, `east` and `west`, by what they are to the owner's work, which is of `east`."""
    service.start()
    found = {role: person(role.capitalize(), Role.LEARNER) for role in ROLES[:-1]}
    visitor = service.user_of(service.accounts.visit())
    assert visitor is not None
    found["visitor"] = visitor
    with database.write() as session:
        east, west = (
            classes.add_class(session, SchoolClass(0, key, key.capitalize(), "UTC", 0, ("A", "B")), 1.0)
            for key in ("east", "west")
        )
        for role, one, section in (
            ("owner", east, "A"),
            ("other student", east, "B"),
            ("student elsewhere", west, "A"),
        ):
            row = RosterRow(line=1, email="", name=role, section=section, number="", lms_id="")
            classes.enrol(session, one.id, found[role].id, row, now=1.0)
        for name, one, role, sections in (
            ("assistant", east, Role.ASSISTANT, ("A",)), ("assistant of another section", east, Role.ASSISTANT, ("B",)),
            ("instructor", east, Role.INSTRUCTOR, ()), ("former instructor", east, Role.INSTRUCTOR, ()),
            ("instructor elsewhere", west, Role.INSTRUCTOR, ()),
        ):  # fmt: skip
            classes.appoint(session, one.id, found[name].id, role, sections=sections, now=1.0)
        classes.set_presence(session, east.id, found["former instructor"].id, ended=2.0)
    service.accounts.sessions.forget()
    return found


def refusal(ask: Callable[[], object]) -> str:
    """Return why something is refused; an empty text if it is not."""
    try:
        ask()
    except NotAllowed as why:
        return str(why)
    return ""


def test_practice_is_read_by_its_owner_and_by_who_teaches_them(service: Service, cast: dict[str, User]) -> None:
    """Whoever else asks gets the answer that an unknown id gets."""
    id = service.submit(cast["owner"], "softmax", "x = 1")
    answers = {role: refusal(lambda user=user: service.submission(user, id)) for role, user in cast.items()}

    assert [role for role, why in answers.items() if not why] == ["owner", "assistant", "instructor"]
    assert set(answers.values()) == {"", NOT_YOURS}


def test_only_owners_and_instructors_cancel(service: Service, cast: dict[str, User]) -> None:
    """An assistant reads only."""
    id = service.submit(cast["owner"], "softmax", "x = 1")
    for role in ROLES:
        if role not in ("owner", "instructor"):
            with pytest.raises(NotAllowed, match=NOT_YOURS):
                service.cancel(cast[role], id)
    service.cancel(cast["instructor"], id)
    service.cancel(cast["owner"], id)


def test_a_class_is_opened_by_who_teaches_it_only(service: Service, cast: dict[str, User]) -> None:
    """Another class is answered like one that does not exist."""
    answers = {
        (role, key): refusal(lambda user=user, key=key: service.classroom(user, key))
        for role, user in cast.items()
        for key in ("", "east", "west", "the-class", "none")
    }

    assert [asked for asked, why in answers.items() if not why] == [
        ("instructor", ""), ("instructor", "east"), ("instructor elsewhere", ""), ("instructor elsewhere", "west"),
    ]  # fmt: skip
    assert set(answers.values()) == {"", INSTRUCTORS_ONLY}
    assert service.classroom(cast["instructor elsewhere"]).one.key == "west"


def test_a_class_lists_its_own_people_and_their_work_only(service: Service, cast: dict[str, User]) -> None:
    """In the gradebook, the lists, the questions about one student, and as members."""
    graded(service, cast["owner"])
    graded(service, cast["student elsewhere"])
    room = service.classroom(cast["instructor elsewhere"])

    assert [one.user.id for one in room.students()] == [cast["student elsewhere"].id]
    assert [one.user for one in room.listed(Wanted())] == [cast["student elsewhere"].id]
    assert sorted(one.name for one in room.everybody()) == ["Instructor elsewhere", "Student elsewhere"]
    for ask in (room.student, room.attempts, lambda id: room.best_attempt(id, "softmax")):
        with pytest.raises(NotAllowed, match="no such student"):
            ask(cast["owner"].id)
    for change in (room.remove, lambda id: room.set_role(id, Role.STUDENT), lambda id: room.rename(id, "Renamed")):
        with pytest.raises(NotAllowed, match="no such member"):
            change(cast["owner"].id)


def test_rights_that_end_between_two_questions_have_ended(
    service: Service, cast: dict[str, User], database: Database
) -> None:
    """A class that was opened before is closed from then on, for reading and for changing."""
    room = service.classroom(cast["instructor"])
    with database.write() as session:
        classes.appoint(session, room.one.id, cast["other student"].id, Role.INSTRUCTOR, now=3.0)
        classes.set_presence(session, room.one.id, cast["instructor"].id, ended=4.0)

    assert room.is_lost
    for ask in (room.students, room.code, room.replace_code, lambda: room.remove(cast["owner"].id)):
        with pytest.raises(NotAllowed, match=INSTRUCTORS_ONLY):
            ask()


def test_each_class_has_its_code_and_its_board(service: Service, cast: dict[str, User]) -> None:
    """A class without a code takes nobody; the drawn one leads into that class, on whose boards one stands then."""
    room = service.classroom(cast["instructor elsewhere"])
    assert room.code() == ""
    with pytest.raises(NotAllowed, match="class code is wrong"):
        service.accounts.join(cast["learner"], "")
    service.accounts.join(cast["learner"], room.replace_code())
    graded(service, cast["owner"])
    graded(service, cast["learner"])

    assert {one.user.name for one in room.students()} == {"Learner", "Student elsewhere"}
    assert [line.user for line in service.leaderboard("softmax", cast["learner"])] == [cast["learner"].id]
    assert [line.user for line in service.leaderboard("softmax", cast["owner"])] == [cast["owner"].id]
    assert service.leaderboard("softmax") == []  # a guest sees the initial class


def test_a_choice_for_boards_is_for_all_classes_of_a_student(service: Service, cast: dict[str, User]) -> None:
    """Who studies in two classes stands on the boards of both, under another pseudonym in each."""
    owner = cast["owner"]
    service.accounts.join(owner, service.class_code)
    graded(service, owner)
    boards = service.boards.of(owner)
    assert [one.school for one in boards] == [one.name for one in service.boards.classes(owner)]
    for key, board in zip(("the-class", "east"), boards, strict=True):
        assert [one.name for one in service.leaderboard("softmax", owner, key=key)] == [board.pseudonym]
    service.boards.choose(owner, BoardName.NAME)

    assert boards[0].pseudonym != boards[1].pseudonym
    for key in ("the-class", "east"):
        assert [one.name for one in service.leaderboard("softmax", owner, key=key)] == ["Owner"]
    service.own_account.leave(owner, "east")
    assert [one.school for one in service.boards.of(owner)] == [boards[0].school]


def test_beside_an_attempt_of_who_has_left_stands_no_practice(service: Service, cast: dict[str, User]) -> None:
    """The class keeps the attempts at its assignments; what somebody did by themselves is theirs again."""
    owner, instructor = cast["owner"], cast["instructor"]
    assignment = {
        "class": "east", "assignment": "one", "items": {"softmax": "10"}, "opens": "1970-01-01T00:00",
        "due": "2100-01-01T00:00",
    }  # fmt: skip
    practice = graded(service, owner)
    service.classes.do(instructor, "assign", assignment)
    attempts = [graded(service, owner), graded(service, owner)]
    before = service.trail.pair(instructor, attempts[1]).others
    service.classroom(instructor).remove(owner.id)
    after = service.trail.pair(instructor, attempts[1]).others

    assert refusal(lambda: service.submission(instructor, practice)) == NOT_YOURS
    assert [one.id for one in before] == [*reversed(attempts), practice]
    assert [one.id for one in after] == [*reversed(attempts)]
