"""People without an account, and outside of any class: what they may do, and what becomes of it."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import func, select

from grader.errors import NotAllowed
from grader.jobs.queue import TURN_SECONDS
from grader.service import Service
from grader.store.engine import Database
from grader.store.records import Role, User
from grader.store.tables import JobRow, SubmissionRow, UserRow
from tests.service.conftest import Clock
from tests.service.test_service import Person, follow

CODE, PASSWORD = "green-tree", "correct horse"


def visit(service: Service, address: str = "192.0.2.1") -> tuple[User, str]:
    """Return a new visitor, and the token of their session."""
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
    service.drafts.keep(visitor, "softmax", "x = 2")
    ada = service.register("Ada", PASSWORD, visitor=visitor)

    assert service.user_of(planted) is None
    assert [attempt.id for attempt in service.attempts(ada)] == [id]
    assert service.best(ada) == {"softmax": 100.0}
    draft = service.drafts.of(ada, "softmax")
    assert draft is not None
    assert draft.source == "x = 2"


def test_a_run_under_way_is_taken_along(service: Service) -> None:
    """Registering while one's code waits loses nothing."""
    visitor, _ = visit(service)
    id = service.submit(visitor, "softmax", "x = 1")
    ada = service.register("Ada", PASSWORD, visitor=visitor)
    service.start()
    asyncio.run(follow(service, ada, id))

    assert service.best(ada) == {"softmax": 100.0}


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
        service.accounts._arrivals.visitor("192.0.2.1")
    service.accounts.visit("192.0.2.1")
    with pytest.raises(NotAllowed, match="visitors began at your address"):
        service.accounts.visit("192.0.2.1")
    service.accounts.visit("192.0.2.2")
    clock.now += 10

    service.accounts.visit("192.0.2.1")


def test_visitors_are_forgotten_after_thirty_days(service: Service, database: Database, clock: Clock) -> None:
    """With all they have done; those whose code still waits, and members, are kept."""
    (gone, _), (waiting, _) = visit(service), visit(service)
    service.drafts.keep(gone, "softmax", "x = 1")
    service.submit(waiting, "softmax", "x = 1")
    ada = service.register("Ada", PASSWORD)
    clock.now += 31 * 24 * 3600
    fresh, _ = visit(service)
    with database.read() as session:
        left = set(session.scalars(select(UserRow.id)))

    assert left == {waiting.id, ada.id, fresh.id}
    assert service.drafts.of(gone, "softmax") is None


def test_all_visitors_share_one_turn(service: Service, person: Person, database: Database, clock: Clock) -> None:
    """Making visitors gains no place in line: the tenth visitor's job counts as one person's tenth."""
    for _ in range(10):
        service.submit(visit(service)[0], "softmax", "x = 1")
    service.submit(person("Ada"), "softmax", "x = 1")
    with database.read() as session:
        order = session.execute(
            select(SubmissionRow.user_id, JobRow.priority).join(SubmissionRow).order_by(SubmissionRow.user_id)
        ).all()
        people = session.scalar(select(func.count()).select_from(UserRow))

    now = round(clock.now * 1000)
    assert people == 11
    assert [priority for _, priority in order] == [*(now + n * TURN_SECONDS * 1000 for n in range(10)), now]
