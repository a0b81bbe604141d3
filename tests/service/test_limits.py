"""The token bucket."""

from __future__ import annotations

from grader.service.limits import Buckets
from tests.service.conftest import Clock


def test_a_bucket_empties_and_fills_again(clock: Clock) -> None:
    """A burst, then one token for each period; the answer tells how long to wait."""
    buckets = Buckets(2, 8.0, clock=clock)
    waits = [buckets.take("a") for _ in range(3)]
    clock.now += 4
    waits.append(buckets.take("a"))
    clock.now += 4
    waits.append(buckets.take("a"))

    assert waits == [0.0, 0.0, 8.0, 4.0, 0.0]


def test_keys_do_not_share(clock: Clock) -> None:
    """One key's spending is no other's."""
    buckets = Buckets(1, 10.0, clock=clock)
    buckets.take("a")

    assert buckets.take("b") == 0.0


def test_giving_back_never_overfills(clock: Clock) -> None:
    """A full bucket stays full."""
    buckets = Buckets(1, 10.0, clock=clock)
    buckets.give("a")

    assert [buckets.take("a"), buckets.take("a")] == [0.0, 10.0]


def test_more_than_a_bucket_holds_is_taken_from_a_full_one(clock: Clock) -> None:
    """Who takes it waits for as much longer."""
    buckets = Buckets(2, 1.0, clock=clock)

    assert [buckets.take("a", 5.0), buckets.take("a", 1.0)] == [0.0, 4.0]
