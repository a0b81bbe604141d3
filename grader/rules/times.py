"""Due times on the wall of a zone, the instants that they mean, and how many days late a hand-in is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

_DAY, _MINUTE = 86_400_000, 60_000  # milliseconds


class NoSuchZone(ValueError):
    """No zone has this name."""


class NoSuchTime(ValueError):
    """The zone's clock skips this minute; `instead` is the one that it becomes."""

    def __init__(self, wall: datetime, instead: datetime) -> None:
        super().__init__(f"{wall:%Y-%m-%d %H:%M} does not exist: the clock is put forward then. Use {instead:%H:%M}")
        self.instead = instead


@cache
def zone_of(name: str) -> ZoneInfo:
    """Return the zone, such as `Europe/Berlin`.

    It comes from the pinned package `tzdata`: the machine's own files may be years old, and zones change their rules.

    Raises:
        NoSuchZone: there is none of this name.
    """
    package = files("tzdata")
    if name not in package.joinpath("zones").read_text(encoding="utf-8").split():
        raise NoSuchZone(f"`{name}` is no time zone; use a name such as `Europe/Berlin`")
    with package.joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@lru_cache(maxsize=4096)
def instant(wall: datetime, zone: ZoneInfo) -> int:
    """Return what a wall time means, in milliseconds: of its two readings the later one.

    A minute that the clock skips moves forward by the gap, and of a minute that comes twice the second counts.

    Example:
        >>> new_york = zone_of("America/New_York")
        >>> [wall_of(instant(datetime(2027, 3, 14, 2, 30), new_york), new_york).hour]
        [3]
    """
    return max(_milliseconds(wall.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))


def wall_of(at: int, zone: ZoneInfo) -> datetime:
    """Return what the clock on the wall shows at an instant, without its zone."""
    return (
        (datetime.fromtimestamp(at // 1000, UTC) + timedelta(milliseconds=at % 1000))
        .astimezone(zone)
        .replace(tzinfo=None, fold=0)
    )


def check_exists(wall: datetime, zone: ZoneInfo) -> None:
    """Raise NoSuchTime for a minute that the zone's clock skips."""
    if (becomes := wall_of(instant(wall, zone), zone)) != wall:
        raise NoSuchTime(wall, becomes)


def comes_twice(wall: datetime, zone: ZoneInfo) -> bool:
    """Return whether the zone's clock shows this minute twice."""
    first, second = (_milliseconds(wall.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))
    return first < second


@dataclass(frozen=True, slots=True)
class DueTime:
    """A due time: a minute on the wall of a zone. A hand-in within that minute is in time."""

    wall: datetime
    zone: ZoneInfo

    @property
    def at(self) -> int:
        """The instant at which its minute begins."""
        return instant(self.wall, self.zone)

    def boundary(self, days: int, grace: int) -> int:
        """Return the first instant that is more than `days` days late, with `grace` minutes of grace.

        A day is one of the calendar: the same time on the wall, however many hours the clock makes of it.
        """
        return instant(self.wall + timedelta(days=days), self.zone) + (1 + grace) * _MINUTE

    def days_late(self, at: int, grace: int) -> int:
        """Return how many days late a hand-in at the instant `at` is; 0 in time. Later is never fewer."""
        days = max(0, (at - self.boundary(0, grace)) // _DAY - 1)
        while at >= self.boundary(days, grace):
            days += 1
        while days and at < self.boundary(days - 1, grace):
            days -= 1
        return days


def _milliseconds(time: datetime) -> int:
    return round((time - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))
