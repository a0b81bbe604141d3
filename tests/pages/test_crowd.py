"""Who may use how much, and whose a session of Gradio's is."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

import pytest

from grader.errors import NotAllowed
from grader.pages.crowd import GUESTS, IDLE_SECONDS, MOST_UNREAD, MOST_WATCHED, PERSON, Crowd, Seats, Who
from grader.pages.refusal import Refusal
from tests.service.conftest import Clock

ADA, EVE, GUEST = Who(1, "192.0.2.1"), Who(2, "192.0.2.1"), Who(None, "192.0.2.1")


class Kept:
    """Unread answers by session, and what was forgotten."""

    def __init__(self) -> None:
        self.answers: Counter[str] = Counter()
        self.forgotten: list[str] = []

    def unread(self, session: str) -> int:
        """Count them."""
        return self.answers[session]

    def forget(self, session: str) -> None:
        """Throw them away."""
        self.answers.pop(session, None)
        self.forgotten.append(session)


@pytest.fixture
def kept() -> Kept:
    """Give what Gradio keeps."""
    return Kept()


@pytest.fixture
def clock() -> Clock:
    """Give a clock that stands still until it is turned."""
    return Clock()


@pytest.fixture
def crowd(kept: Kept, clock: Clock) -> Crowd:
    """Give a crowd at one mount."""
    return Crowd({"": kept}, clock=clock)


def refused(status: int):
    """Expect a refusal with that status."""
    return pytest.raises(Refusal, check=lambda refusal: refusal.status == status)


def test_a_flood_is_slowed_down_and_nobody_else(crowd: Crowd, clock: Clock) -> None:
    """A person's requests are counted for them alone, and come again with time."""
    for _ in range(PERSON.burst):
        crowd.admit(ADA)
    with refused(429):
        crowd.admit(ADA)
    crowd.admit(EVE)
    clock.now += 1
    crowd.admit(ADA)


def test_unread_answers_belong_to_who_asked(crowd: Crowd, kept: Kept) -> None:
    """Somebody who knows the name of a session can neither read it nor send anything under it."""
    crowd.claim(ADA, "", "s")
    kept.answers["s"] = 1
    with refused(403):
        crowd.claim(EVE, "", "s")

    assert [crowd.owns(who, "", "s") for who in (ADA, EVE, GUEST)] == [True, False, False]


def test_nobody_listens_in_on_a_session(crowd: Crowd) -> None:
    """While its answers are being read, a session stays whose it is; a heartbeat alone keeps nobody out."""
    crowd.claim(EVE, "", "s")
    with crowd.stream(EVE, "", "s", reading=True), refused(403):
        crowd.claim(ADA, "", "s")
    with crowd.stream(EVE, "", "s", reading=False):
        crowd.claim(ADA, "", "s")

    assert crowd.owns(ADA, "", "s")


def test_a_tab_is_kept_when_its_owner_signs_in(crowd: Crowd) -> None:
    """A session in which nothing is under way goes over to who uses it next."""
    crowd.claim(GUEST, "", "s")
    crowd.claim(ADA, "", "s")

    assert [crowd.owns(who, "", "s") for who in (GUEST, ADA)] == [False, True]


def test_answers_that_nobody_reads_do_not_pile_up(crowd: Crowd, kept: Kept) -> None:
    """A session with too many takes no further event."""
    crowd.claim(ADA, "", "s")
    kept.answers["s"] = MOST_UNREAD
    with refused(429):
        crowd.claim(ADA, "", "s")


def test_the_oldest_session_makes_room(crowd: Crowd, kept: Kept) -> None:
    """A person's sessions are limited; what is left of the one that was used longest ago is thrown away."""
    for n in range(PERSON.sessions + 1):
        crowd.claim(ADA, "", f"s{n}")

    assert kept.forgotten == ["s0"]


def test_what_is_open_is_not_thrown_away(crowd: Crowd, kept: Kept) -> None:
    """Whoever has all sessions in use is refused another one."""
    streams = [crowd.stream(ADA, "", f"s{n}", reading=False) for n in range(PERSON.sessions)]
    for n, stream in enumerate(streams):
        crowd.claim(ADA, "", f"s{n}")
        stream.__enter__()
    with refused(429):
        crowd.claim(ADA, "", "one more")
    streams[3].__exit__(None, None, None)
    crowd.claim(ADA, "", "one more")

    assert kept.forgotten == ["s3"]


def test_what_nobody_uses_any_more_is_forgotten(crowd: Crowd, kept: Kept, clock: Clock) -> None:
    """After ten minutes a session is thrown away as soon as another one begins."""
    crowd.claim(ADA, "", "old")
    clock.now += IDLE_SECONDS + 1
    crowd.claim(EVE, "", "new")

    assert kept.forgotten == ["old"]


def test_streams_are_limited(crowd: Crowd) -> None:
    """Each open one counts until it is closed."""
    with ExitStack() as streams:
        for _ in range(2 * PERSON.sessions):
            streams.enter_context(crowd.stream(ADA, "", "s", reading=True))
        with refused(429), crowd.stream(ADA, "", "s", reading=True):
            pass
    with crowd.stream(ADA, "", "s", reading=True):
        assert not crowd.owns(ADA, "", "s")


def test_guests_are_counted_by_network() -> None:
    """One household has more long addresses than anybody can count; a short one is one."""
    addresses = ["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1", "192.0.2.1", "192.0.2.2", "unix"]

    assert len({Who(None, address).key for address in addresses}) == 5
    assert Who(None, "unix").share is GUESTS


def test_nobody_takes_all_the_seats() -> None:
    """A person watches so many runs at once; another person's are not counted with them, and seats come free."""
    seats = Seats()
    with ExitStack() as watched:
        for _ in range(MOST_WATCHED):
            watched.enter_context(seats.taken(1))
        with pytest.raises(NotAllowed, match="too many places"), seats.taken(1):
            pass
        watched.enter_context(seats.taken(2))
    watched.enter_context(seats.taken(1))
