"""What the service lets whom do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from sqlalchemy import update

from grader.errors import NotAllowed
from grader.judge.report import Status
from grader.service import Service
from grader.store.engine import Database
from grader.store.records import Role, State, SubmissionId, User, Watch
from grader.store.tables import JobRow
from tests.service.conftest import Clock

Person = Callable[..., User]


async def follow(service: Service, user: User, id: SubmissionId) -> list[Watch]:
    return [watch async for watch in service.watch(user, id)]


def graded(service: Service, user: User, exercise: str = "softmax") -> SubmissionId:
    id = service.submit(user, exercise, "x = 1")
    asyncio.run(follow(service, user, id))
    return id


def test_a_submission_goes_all_the_way(service: Service, person: Person) -> None:
    """Submitted, watched, graded, listed, best, on the board."""
    ada = person("Ada")
    service.start()
    id = service.submit(ada, "softmax", "def softmax(x): ...")
    seen = asyncio.run(follow(service, ada, id))
    found = service.submission(ada, id)
    (attempt,) = service.attempts(ada)

    assert seen[-1].state is State.DONE
    assert seen[-1].report == found.report
    assert (found.source, found.number, found.state) == ("def softmax(x): ...", 1, State.DONE)
    assert (attempt.id, attempt.status, attempt.score) == (id, Status.GRADED, 100.0)
    assert service.best(ada) == {"softmax": 100.0}
    teacher = person("Prof", Role.INSTRUCTOR)
    assert [(line.rank, line.name) for line in service.leaderboard(reader=teacher)] == [(1, "Ada")]
    assert service.leaderboard("causal_attention") == []


def test_the_starter_is_no_attempt(service: Service, person: Person) -> None:
    """Who presses the button before writing anything is told so; one word more is an attempt."""
    ada, starter = person("Ada"), service.catalog["softmax"].starter
    with pytest.raises(NotAllowed, match="still the starter"):
        service.submit(ada, "softmax", starter.replace("\n", "\r\n") + "\n")
    service.submit(ada, "softmax", f"{starter}\nx")

    assert [attempt.number for attempt in service.attempts(ada)] == [1]


def test_one_at_a_time_on_each_exercise(service: Service, person: Person) -> None:
    """A second one is refused while the first is unfinished, on this exercise and for this person only."""
    ada = person("Ada")
    first = service.submit(ada, "softmax", "")
    with pytest.raises(NotAllowed, match="has not been graded yet"):
        service.submit(ada, "softmax", "")
    service.submit(ada, "causal_attention", "")
    service.submit(person("Bob"), "softmax", "")

    assert service.unfinished(ada, "softmax") == first
    service.cancel(ada, first)
    assert service.unfinished(ada, "softmax") is None
    service.submit(ada, "softmax", "")


@pytest.mark.parametrize("source", ["x = '\udcff'", b"\xff\xfe\x00", "", "def softmax(x):\n    return 'é'"])
def test_whatever_is_submitted_is_stored(service: Service, person: Person, source: str | bytes) -> None:
    """Garbage is no reason to lose it: the verdict will say what is wrong with it."""
    ada = person("Ada")
    found = service.submission(ada, service.submit(ada, "softmax", source))

    expected = source if isinstance(source, bytes) else source.encode(errors="surrogatepass")
    assert found.raw == expected


@pytest.mark.parametrize(
    ("exercise", "source", "device", "message"),
    [
        ("softmax", "x" * (256 * 1024 + 1), "cpu", "at most 256 KiB"),
        ("nonsense", "", "cpu", "no exercise called 'nonsense'"),
        ("softmax", "", "cuda", "choose one of: cpu"),
    ],
)
def test_what_cannot_be_taken_is_refused_before_it_is_stored(
    service: Service, person: Person, *, exercise: str, source: str, device: str, message: str
) -> None:
    """Too long, an unknown exercise, an unknown device: the message says what is possible."""
    ada = person("Ada")
    with pytest.raises(NotAllowed, match=message):
        service.submit(ada, exercise, source, device)

    assert service.attempts(ada) == []


def test_nobody_sees_or_touches_what_is_anothers(service: Service, person: Person) -> None:
    """Another student is told that there is no such submission, as for one that never was."""
    ada, eve = person("Ada"), person("Eve")
    id = service.submit(ada, "softmax", "mine")
    asked: list[Callable[[SubmissionId], object]] = [
        lambda id: service.submission(eve, id),
        lambda id: service.cancel(eve, id),
        lambda id: service.watch(eve, id),
    ]
    messages = set()
    for ask in asked:
        for one in (id, SubmissionId("never was")):
            with pytest.raises(NotAllowed) as refusal:
                ask(one)
            messages.add(str(refusal.value))

    assert messages == {"There is no such submission among yours."}
    assert service.submission(ada, id).state is State.QUEUED


def test_seeds_differ_and_follow_from_the_secret(service: Service, person: Person) -> None:
    """Each submission has its own seed, which is stored and can be drawn again."""
    seeds = {service.submission(one, service.submit(one, "softmax", "")).seed for one in (person("Ada"), person("Bob"))}

    assert len(seeds) == 2


def test_a_draft_is_kept_for_each_person_and_exercise(service: Service, person: Person) -> None:
    """A text made from the last one replaces it; one that could not be submitted is refused."""
    ada, drafts = person("Ada"), service.drafts
    first = drafts.keep(ada, "softmax", "first")
    second = drafts.keep(ada, "softmax", "second", first.saved)
    with pytest.raises(NotAllowed, match="too long"):
        drafts.keep(ada, "softmax", "\u1ed9" * (90 * 1024), second.saved)  # of three bytes each
    with pytest.raises(NotAllowed, match="no exercise called 'sotfmax'"):
        drafts.keep(ada, "sotfmax", "third")

    assert drafts.of(ada, "softmax") == second
    assert drafts.of(person("Bob"), "softmax") is None


def test_a_draft_from_elsewhere_is_not_overwritten(service: Service, person: Person, clock: Clock) -> None:
    """Who saves without having seen the newer text is given that, and their own is not stored."""
    ada, drafts = person("Ada"), service.drafts
    first = drafts.keep(ada, "softmax", "first")
    clock.now += 1
    newer = drafts.keep(ada, "softmax", "on the laptop", first.saved)
    clock.now += 1

    assert drafts.keep(ada, "softmax", "on the phone", first.saved) == newer
    assert drafts.of(ada, "softmax") == newer
    assert drafts.keep(ada, "softmax", "on the phone", newer.saved).source == "on the phone"


def test_a_stop_keeps_what_waits(service: Service, person: Person, clock: Clock) -> None:
    """What was submitted before the start is graded after it."""
    ada = person("Ada")
    id = service.submit(ada, "softmax", "")
    clock.now += 5
    service.start()
    seen = asyncio.run(follow(service, ada, id))

    assert (seen[-1].state, seen[-1].elapsed) == (State.DONE, 5.0)
    assert graded(service, ada) != id
    assert [attempt.number for attempt in service.attempts(ada, "softmax")] == [2, 1]


def test_what_waits_for_a_device_that_is_gone_is_graded_all_the_same(
    service: Service, person: Person, database: Database
) -> None:
    """A service that comes back without its GPU moves such submissions to the CPU's queue."""
    ada = person("Ada")
    id = service.submit(ada, "softmax", "")
    with database.write() as session:
        session.execute(update(JobRow).values(queue="cuda"))

    service.start()

    assert asyncio.run(follow(service, ada, id))[-1].state is State.DONE
