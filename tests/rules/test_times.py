"""DueTime times, what they mean in a zone whose clock changes, and lateness in calendar days."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.rules.times import DueTime, NoSuchTime, NoSuchZone, check_exists, comes_twice, instant, wall_of, zone_of

ZONES = ("America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "UTC")
_HOUR = 3_600_000
_NEW_YORK = zone_of("America/New_York")


def _utc(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


@pytest.mark.parametrize(
    ("wall", "meant"),
    [
        ("2026-07-01T12:00", "2026-07-01T16:00"),
        ("2027-03-14T02:30", "2027-03-14T07:30"),  # skipped: 03:30 of summer time
        ("2026-11-01T01:30", "2026-11-01T06:30"),  # twice: the second, of winter time
        ("2026-11-01T23:59", "2026-11-02T04:59"),
    ],
)
def test_of_the_two_readings_of_a_wall_time_the_later_counts(wall: str, meant: str) -> None:
    assert instant(datetime.fromisoformat(wall), _NEW_YORK) == _utc(meant)


def test_a_skipped_minute_is_refused_with_the_one_that_it_becomes() -> None:
    with pytest.raises(NoSuchTime, match=r"2027-03-14 02:30 does not exist.*03:30") as refused:
        check_exists(datetime(2027, 3, 14, 2, 30), _NEW_YORK)
    assert refused.value.instead == datetime(2027, 3, 14, 3, 30)
    check_exists(datetime(2027, 3, 14, 3, 30), _NEW_YORK)


def test_a_minute_that_comes_twice_is_known() -> None:
    assert comes_twice(datetime(2026, 11, 1, 1, 30), _NEW_YORK)
    assert not comes_twice(datetime(2026, 11, 1, 2, 0), _NEW_YORK)
    assert not comes_twice(datetime(2027, 3, 14, 2, 30), _NEW_YORK)


def test_an_unknown_zone_is_refused() -> None:
    for name in ("Mars/Olympus", "", "../etc/passwd", "Europe"):
        with pytest.raises(NoSuchZone, match="no time zone"):
            zone_of(name)


@pytest.mark.parametrize(
    ("after_minute", "days"), [(-60_000, 0), (0, 0), (59_999, 0), (60_000, 1), (60_000 + 24 * _HOUR - 1, 1)]
)
def test_a_due_time_includes_its_minute(after_minute: int, days: int) -> None:
    due = DueTime(datetime(2026, 7, 1, 23, 59), _NEW_YORK)
    assert due.days_late(due.at + after_minute, grace=0) == days


def test_grace_moves_every_boundary() -> None:
    due = DueTime(datetime(2026, 7, 1, 23, 59), _NEW_YORK)
    assert [due.days_late(due.at + 16 * 60_000 + more, grace=15) for more in (-1, 0)] == [0, 1]
    assert [due.days_late(due.at + 24 * _HOUR + 16 * 60_000 + more, grace=15) for more in (-1, 0)] == [1, 2]


@pytest.mark.parametrize(
    ("due", "hours"), [("2026-10-31T23:59", 25), ("2027-03-13T23:59", 23), ("2026-07-01T23:59", 24)]
)
def test_a_late_day_is_one_of_the_calendar(due: str, hours: int) -> None:
    one = DueTime(datetime.fromisoformat(due), _NEW_YORK)
    assert [one.days_late(one.boundary(0, 0) + hours * _HOUR + more, 0) for more in (-1, 0)] == [1, 2]


@given(
    zone=st.sampled_from(ZONES),
    day=st.dates(date(2011, 1, 1), date(2030, 12, 31)),
    minute=st.integers(0, 1439),
    grace=st.sampled_from((0, 5, 10_080)),
    first=st.integers(-(10**9), 10**10),
    more=st.integers(0, 2 * 10**8),
)
def test_later_is_never_fewer_days_late(zone: str, day: date, minute: int, grace: int, first: int, more: int) -> None:
    due = DueTime(datetime(day.year, day.month, day.day) + timedelta(minutes=minute), zone_of(zone))
    days = due.days_late(due.at + first, grace)
    assert days <= due.days_late(due.at + first + more, grace)
    assert due.at + first < due.boundary(days, grace)
    assert days == 0 or due.at + first >= due.boundary(days - 1, grace)


@given(zone=st.sampled_from(ZONES), at=st.integers(1_300_000_000_000, 1_900_000_000_000))
def test_the_wall_shows_what_means_the_instant(zone: str, at: int) -> None:
    wall = wall_of(at, zone_of(zone))
    read = instant(wall.replace(microsecond=0), zone_of(zone)) + wall.microsecond // 1000
    assert read == at or comes_twice(wall, zone_of(zone))
