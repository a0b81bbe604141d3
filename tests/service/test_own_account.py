"""Changing a password, ending sessions, deleting an account, and links for forgotten passwords."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from grader.errors import NotAllowed
from grader.service import Service
from grader.service.own_account import WORTHLESS
from grader.store.engine import Database
from grader.store.records import Role, UserId
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
