"""People without an account, and outside of any class: what they may do, and what becomes of it."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import func, select

from grader.errors import NotAllowed
from grader.jobs import shares
from grader.service import Service
from grader.service.limits import payer
from grader.store import people
from grader.store.engine import Database
from grader.store.records import Role, User, UserId
from grader.store.tables import SessionRow, UserRow
from tests.service.conftest import Clock
from tests.service.test_service import Person, follow

CODE, PASSWORD = "green-tree", "correct horse"


def visit(service: Service, address: str = "192.0.2.1") -> tuple[User, str]:
    token = service.accounts.visit(address)
    user = service.user_of(token)
    assert user is not None
    return user, token


def test_a_visitor_is_graded_and_on_no_board(service: Service) -> None:
    """Their result is theirs to see; boards and lists of the class do without it."""
    visitor, _ = visit(service)
    service.start()
    seen = asyncio.run(follow(service, visitor, service.submit(visitor, "softmax", "x = 1")))

    assert visitor.visitor
    assert seen[-1].report is not None
    assert service.best(visitor) == {"softmax": 100.0}
    assert service.leaderboard("softmax") == service.leaderboard() == []


def test_registering_takes_the_work_along_and_ends_the_visitors_session(service: Service) -> None:
    """Whoever has put a visitor's session into somebody's browser is not that person after they registered."""
    visitor, planted = visit(service)
    service.start()
    id = service.submit(visitor, "softmax", "x = 1")
    asyncio.run(follow(service, visitor, id))
    ada = service.register("Ada", PASSWORD, visitor=visitor)

    assert service.user_of(planted) is None
    assert [attempt.id for attempt in service.attempts(ada)] == [id]
    assert service.best(ada) == {"softmax": 100.0}


def test_what_a_visitor_types_is_not_stored(service: Service) -> None:
    """Visitors come without number, and each could fill megabytes that nobody is charged for."""
    visitor, _ = visit(service)

    with pytest.raises(NotAllowed, match="Register"):
        service.drafts.keep(visitor, "softmax", "x = 2")

    assert service.drafts.of(visitor, "softmax") is None


def test_another_members_work_is_never_taken(service: Service, person: Person) -> None:
    """Only a visitor's is; who is signed in and registers once more begins with nothing."""
    ada = person("Ada")
    service.drafts.keep(ada, "softmax", "hers")
    eve = service.register("Eve", PASSWORD, visitor=ada)

    assert service.drafts.of(eve, "softmax") is None
    assert service.drafts.of(ada, "softmax") is not None


def test_a_class_is_joined_with_its_code_only(service: Service) -> None:
    """Without one, a person learns outside of it; with it they are a student of it, once."""
    ada = service.register("Ada", PASSWORD)
    assert ada.role is Role.LEARNER
    with pytest.raises(NotAllowed, match="class code is wrong"):
        service.accounts.join(ada, "guess")
    for _ in range(2):
        service.accounts.join(ada, CODE)
    token = service.sign_in("Ada", PASSWORD, "192.0.2.1")
    known = service.user_of(token)

    assert known is not None
    assert known.role is Role.STUDENT
    with pytest.raises(NotAllowed, match="Register first"):
        service.accounts.join(visit(service)[0], CODE)


def test_visitors_without_end_have_to_wait(service: Service, clock: Clock) -> None:
    """Four hundred at one address, then one more every ten seconds; other addresses are let in."""
    for _ in range(399):
        service.accounts._limits.visitor("192.0.2.1")
    service.accounts.visit("192.0.2.1")
    with pytest.raises(NotAllowed, match="visitors began at your address"):
        service.accounts.visit("192.0.2.1")
    service.accounts.visit("192.0.2.2")
    clock.now += 10

    service.accounts.visit("192.0.2.1")


def test_visitors_are_forgotten_after_thirty_days(service: Service, database: Database, clock: Clock) -> None:
    """With all they have done; those whose code still waits, and members, are kept."""
    (_gone, _), (waiting, _) = visit(service), visit(service)
    service.submit(waiting, "softmax", "x = 1")
    ada = service.register("Ada", PASSWORD)
    clock.now += 31 * 24 * 3600
    fresh, _ = visit(service)
    with database.read() as session:
        left = set(session.scalars(select(UserRow.id)))

    assert left == {waiting.id, ada.id, fresh.id}


def add_visitors(database: Database, numbers: range, *, expires: float | None = None) -> None:
    with database.write() as session:
        for n in numbers:
            session.add(UserRow(id=n, name="", key=f"\nvisitor {n}", password="", created=0.0))
        session.flush()
        for n in numbers if expires is not None else ():
            session.add(SessionRow(digest=f"{n}", user_id=n, created=0.0, expires=expires))


def test_visitors_are_looked_through_in_pieces(database: Database) -> None:
    """However many there are, one call looks at so many and deletes so many; in the end all are gone that are to go."""
    add_visitors(database, range(1, 41), expires=1.0)
    add_visitors(database, range(41, 91))
    pieces, after = [], 0
    for _ in range(20):
        with database.write() as session:
            before = session.scalar(select(func.count()).select_from(UserRow)) or 0
            after = people.forget_visitors(session, after, looked_at=10, most=4)
            pieces.append((after, before - (session.scalar(select(func.count()).select_from(UserRow)) or 0)))

    assert pieces[:6] == [(10, 0), (20, 0), (30, 0), (40, 0), (44, 4), (48, 4)]
    assert (10, 0) in pieces[6:]
    assert sum(number for _, number in pieces) == 50


def test_sessions_that_have_ended_are_swept_in_pieces(database: Database) -> None:
    """After a quiet month tens of thousands have, more than a statement takes values; nobody could begin one then."""
    add_visitors(database, range(1, people.SWEPT + 51), expires=1.0)
    left = []
    for n in range(2):
        with database.write() as session:
            people.open_session(session, UserId(1), digest=f"fresh {n}", now=2.0, expires=3.0)
            left.append(session.scalar(select(func.count()).select_from(SessionRow)))

    assert left == [51, 2]


def test_a_visitors_seconds_are_those_of_all_at_the_address(
    service: Service, person: Person, database: Database, clock: Clock
) -> None:
    """Another cookie brings no more of them; a member at the same address, and a visitor elsewhere, are let in."""
    used = payer(None, "192.0.2.1")
    with database.write() as session:
        shares.charge(session, used, shares.HOUSEHOLD.seconds.burst + 100, clock.now)
    with pytest.raises(NotAllowed, match=r"at your address have used 2500 of 2400 seconds .* again in 2 minutes"):
        service.submit(visit(service)[0], "softmax", "x = 1", address="192.0.2.1")
    service.submit(person("Ada"), "softmax", "x = 1", address="192.0.2.1")
    service.submit(visit(service)[0], "softmax", "x = 1", address="192.0.2.2")
    clock.now += 101
    service.submit(visit(service)[0], "softmax", "x = 1", address="192.0.2.1")
