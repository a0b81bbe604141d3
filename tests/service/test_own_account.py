"""Changing a password, ending sessions, deleting an account, and links for forgotten passwords."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import func, select

from grader.errors import NotAllowed
from grader.service import Service
from grader.service.own_account import NO_CLASS, WORTHLESS
from grader.store import people
from grader.store.engine import Database
from grader.store.records import Role, User, UserId, Wanted
from grader.store.tables import GradingRow, SubmissionRow, UserRow
from tests.service.conftest import Clock
from tests.service.test_service import Person, graded

OLD, NEW, HERE = "correct horse", "battery staple", "192.0.2.1"


def test_a_changed_password_ends_all_other_sessions(service: Service, person: Person) -> None:
    """The old one opens nothing any more; whoever has copied a session is signed out."""
    ada = person("Ada")
    copied = service.sign_in("Ada", OLD, HERE)
    with pytest.raises(NotAllowed, match="password is wrong"):
        service.own_account.change_password(ada, "a wrong one", NEW, HERE)
    with pytest.raises(NotAllowed, match="10 to 200 characters"):
        service.own_account.change_password(ada, OLD, "short", HERE)
    assert service.user_of(copied) == ada
    fresh = service.own_account.change_password(ada, OLD, NEW, HERE)

    assert (service.user_of(copied), service.user_of(fresh)) == (None, ada)
    with pytest.raises(NotAllowed):
        service.sign_in("Ada", OLD, HERE)
    assert service.user_of(service.sign_in("Ada", NEW, HERE)) == ada


def test_signing_out_everywhere_ends_every_session(service: Service, person: Person) -> None:
    """One's own, and nobody else's."""
    ada, bob = person("Ada"), person("Bob")
    tokens = [service.sign_in(name, OLD, HERE) for name in ("Ada", "Ada", "Bob")]
    service.own_account.sign_out_everywhere(ada)

    assert [service.user_of(token) for token in tokens] == [None, None, bob]


def test_a_deleted_account_leaves_nothing(service: Service, person: Person, database: Database) -> None:
    """Submissions, gradings, drafts and places on boards are gone; the name is free again; others keep theirs."""
    ada, bob = person("Ada"), person("Bob")
    service.start()
    graded(service, ada)
    graded(service, bob)
    service.drafts.keep(ada, "softmax", "x = 2")
    with pytest.raises(NotAllowed, match="password is wrong"):
        service.own_account.delete(ada, "a wrong one", HERE)
    service.own_account.delete(ada, OLD, HERE)
    with database.read() as session:
        left = [session.scalar(select(func.count()).select_from(row)) for row in (UserRow, SubmissionRow, GradingRow)]

    assert left == [1, 1, 1]
    assert [line.user for line in service.leaderboard()] == [bob.id]
    assert person("Ada").id != ada.id


def test_the_last_instructor_stays_as_long_as_there_is_a_class(service: Service, person: Person) -> None:
    """With another instructor, or with nobody left in the class, the account can be deleted."""
    ida, ada = person("Ida", Role.INSTRUCTOR), person("Ada")
    service.submit(ida, "softmax", "x = 1")
    with pytest.raises(NotAllowed, match="only instructor"):
        service.own_account.delete(ida, OLD, HERE)
    assert service.unfinished(ida, "softmax") is not None

    service.own_account.delete(ada, OLD, HERE)
    service.own_account.delete(ida, OLD, HERE)
    assert service.accounts.credentials("Ida") is None


def test_whoever_leaves_the_class_keeps_what_they_have_done(service: Service, person: Person) -> None:
    """They are on no board any more, and back on it with the class code; the last instructor stays."""
    ada, ida = person("Ada"), person("Ida", Role.INSTRUCTOR)
    service.start()
    graded(service, ada)
    token = service.sign_in("Ada", OLD, HERE)
    with pytest.raises(NotAllowed, match="only instructor"):
        service.own_account.leave(ida)
    service.own_account.leave(ada)
    outside = service.user_of(token)

    assert outside == replace(ada, role=Role.LEARNER)
    assert service.leaderboard() == []
    assert service.best(ada) == {"softmax": 100.0}
    with pytest.raises(NotAllowed, match=NO_CLASS):
        service.own_account.leave(ada)
    service.accounts.join(outside, service.class_code, HERE)
    assert [line.user for line in service.leaderboard()] == [ada.id]


def test_an_account_is_deleted_while_its_code_waits(service: Service, person: Person) -> None:
    """The job is cancelled first, and the worker goes on with those of others."""
    ada, bob = person("Ada"), person("Bob")
    service.submit(ada, "softmax", "x = 1")
    service.own_account.delete(ada, OLD, HERE)
    service.start()
    graded(service, bob)

    assert service.best(bob) == {"softmax": 100.0}


def test_a_link_works_once_and_for_two_days(service: Service, person: Person, clock: Clock) -> None:
    """After it was used, or the password was changed otherwise, or 48 hours, it is worth nothing."""
    ada, ida = person("Ada"), person("Ida", Role.INSTRUCTOR)
    copied = service.sign_in("Ada", OLD, HERE)
    first, second = (service.own_account.link_for_student(ida, ada.id) for _ in range(2))
    fresh = service.own_account.reset(first, NEW)
    assert (service.user_of(copied), service.user_of(fresh)) == (None, ada)
    for used in (first, second):
        with pytest.raises(NotAllowed, match=WORTHLESS):
            service.own_account.reset(used, "another password")
    late = service.own_account.link_for("Ada")
    clock.now += 48 * 3600 + 1

    with pytest.raises(NotAllowed, match=WORTHLESS):
        service.own_account.owner_of(late)


def test_a_link_cannot_be_made_up(service: Service, person: Person) -> None:
    """Neither for somebody else, nor from a mark of a browser, nor from nothing."""
    ada, bob = person("Ada"), person("Bob")
    link = service.own_account.link_for("Ada")
    _, _, rest = link.partition(".")
    for forged in (f"{bob.id}.{rest}", service.mark(ada), f"{ada.id}.x.y", "", ".", "9" * 40, "\ud800", f"{link}x"):
        with pytest.raises(NotAllowed, match=WORTHLESS):
            service.own_account.owner_of(forged)


def test_only_instructors_make_links_and_only_for_students(service: Service, person: Person) -> None:
    """A student gets none, for nobody; an instructor none for an instructor."""
    ada, ida, max = person("Ada"), person("Ida", Role.INSTRUCTOR), person("Max", Role.INSTRUCTOR)
    with pytest.raises(NotAllowed, match="instructors only"):
        service.own_account.link_for_student(ada, ada.id)
    for nobody in (max.id, UserId(999)):
        with pytest.raises(NotAllowed, match="no such student"):
            service.own_account.link_for_student(ida, nobody)
    with pytest.raises(NotAllowed, match="no account called 'Nobody'"):
        service.own_account.link_for("Nobody")
    visitor = service.user_of(service.accounts.visit(HERE))
    assert visitor is not None
    with pytest.raises(NotAllowed, match=WORTHLESS):
        service.own_account.owner_of(f"{visitor.id}.x.y")


def test_guesses_at_the_old_password_are_limited(service: Service, person: Person) -> None:
    """A session that somebody else has does not let them try passwords without end."""
    ada = person("Ada")
    for _ in range(8):
        with pytest.raises(NotAllowed, match="wrong"):
            service.own_account.change_password(ada, "a wrong one", NEW, HERE)

    with pytest.raises(NotAllowed, match="Too many"):
        service.own_account.change_password(ada, "a wrong one", NEW, HERE)


def test_a_new_name_is_shown_everywhere_and_signs_in(service: Service, person: Person) -> None:
    """On the board, in the gradebook and in the session; the old name signs nobody in and is free for others."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    service.start()
    graded(service, ada)
    token = service.sign_in("Ada", OLD, HERE)
    assert service.user_of(token) == ada
    renamed = service.own_account.rename(ada, "  Augusta King ", OLD, HERE)

    assert renamed == service.user_of(token) == User(ada.id, "Augusta King", Role.STUDENT)
    assert [line.name for line in service.leaderboard("softmax", prof)] == ["Augusta King"]
    assert [one.user.name for one in service.instructor.students(prof)] == ["Augusta King"]
    assert [one.name for one in service.instructor.listed(prof, Wanted())] == ["Augusta King"]
    with pytest.raises(NotAllowed, match="name or the password is wrong"):
        service.sign_in("Ada", OLD, HERE)
    assert service.user_of(service.sign_in("augusta king", OLD, HERE)) == renamed
    assert service.register("Ada", OLD, "green-tree").id != ada.id


def test_a_new_name_keeps_to_the_rules_of_names(service: Service, person: Person, database: Database) -> None:
    """It looks like nobody else's, but may look like one's own; the rules hold for what another process has renamed."""
    ada, bob = person("Ada"), person("Bob")
    for name, message in (("B0b", "taken, or looks like"), ("x", "2 to 40 characters"), ("Ad\u0430", "one alphabet")):
        with pytest.raises(NotAllowed, match=message):
            service.own_account.rename(ada, name, OLD, HERE)
    with pytest.raises(NotAllowed, match="password is wrong"):
        service.own_account.rename(ada, "Augusta", "a wrong one", HERE)
    ada = service.own_account.rename(ada, "ADA", OLD, HERE)
    with database.write() as session:
        people.rename(session, bob.id, "Carol", key="carol")
    with pytest.raises(NotAllowed, match="taken, or looks like"):
        service.register("Car0l", OLD, "green-tree")

    assert ada.name == "ADA"
    assert service.register("B0b", OLD, "green-tree").name == "B0b"


def test_names_change_a_few_times_an_hour(service: Service, person: Person, clock: Clock) -> None:
    """Wrong tries are not counted; an instructor is not slowed down."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    for number in range(5):
        with pytest.raises(NotAllowed, match="taken, or looks like"):
            service.own_account.rename(ada, "Pr0f", OLD, HERE)
        ada = service.own_account.rename(ada, f"Ada {number}", OLD, HERE)
    with pytest.raises(NotAllowed, match="Too many changes of your name"):
        service.own_account.rename(ada, "Ada again", OLD, HERE)
    service.members.rename(prof, ada.id, "Ada by Prof")
    clock.now += 3600.0
    known = service.members.one(prof, ada.id)

    assert service.own_account.rename(replace(ada, name=known.name), "Ada again", OLD, HERE).name == "Ada again"


def test_a_visitor_has_no_name_to_change(service: Service) -> None:
    """Whoever has no account is refused."""
    visitor = service.user_of(service.accounts.visit(HERE))
    assert visitor is not None
    with pytest.raises(NotAllowed):
        service.own_account.rename(visitor, "Somebody", "", HERE)
