"""What the fields of events may hold: numbers without rounding, names that can be seen, minutes of a wall."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt

from grader.judge.report import Status
from grader.rules.roster import fold
from grader.store.coursework import wall_time

MOST_DAYS = 3660
MOST_ATTEMPTS = 10_000
LONGEST_GRACE = 10_080  # minutes: a week
_YEARS = range(1970, 3000)  # of due times: days before and after them can be counted
_NUMBER = re.compile(r"-?\d{1,30}(\.\d{1,30})?", re.ASCII)
_ID = re.compile(r"[0-9A-Za-z_.-]{1,40}", re.ASCII)


def _exact(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        raise ValueError("a number is expected")
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > 30:
        raise ValueError("the number is out of its bounds")  # and not written out: it may have a billion digits
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    if not _NUMBER.fullmatch(text):
        raise ValueError("a number with a point is expected, such as 4.5")
    return Fraction(text)


def _hundredths(value: object) -> Fraction:
    number = _exact(value)
    if (number * 100).denominator != 1:
        raise ValueError("at most two decimals are stored")
    return number


def _ten_thousandths(value: object) -> Fraction:
    number = _exact(value)
    if (number * 10_000).denominator != 1:
        raise ValueError("at most four decimals are stored")
    if not 0 <= number <= 1:
        raise ValueError("a share from 0 to 1 is expected: 0.1 is ten per cent")
    return number


def wall_of(value: object) -> datetime:
    """Return a minute on the wall as events write it; ValueError for anything else."""
    if not isinstance(value, str):
        raise ValueError("a minute of the class's zone is expected, such as 2026-10-09T23:59")
    try:
        wall = wall_time(value)
    except ValueError:
        raise ValueError("a minute that exists is expected, such as 2026-10-09T23:59") from None
    if wall.year not in _YEARS:
        raise ValueError(f"a year from {_YEARS[0]} to {_YEARS[-1]} is expected")
    return wall


def _within(least: int, most: int) -> AfterValidator:
    def check(number: Fraction) -> Fraction:
        if not least <= number <= most:
            raise ValueError(f"from {least} to {most} is expected")
        return number

    return AfterValidator(check)


def _different(names: list[str]) -> list[str]:
    if len(set(names)) != len(names):
        raise ValueError("a name comes twice")
    return names


def _score(value: object) -> Fraction | Status | Literal["ours", "cancelled"]:
    if isinstance(value, str) and value in _STATUSES:
        word: Status | Literal["ours", "cancelled"] = _STATUSES[value]
        return word
    score = _hundredths(value)
    if not 0 <= score <= 100:
        raise ValueError("a score is from 0 to 100")
    return score


_STATUSES: Mapping[str, Any] = {
    "ungradable": Status.UNGRADABLE,
    "rejected": Status.REJECTED,
    "ours": "ours",
    "cancelled": "cancelled",
}


def _id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ValueError("up to 40 letters, digits, points, hyphens and underscores are expected")
    return text


def _visible(text: str) -> str:
    if "\0" in text or not text.isprintable():
        raise ValueError("characters that can be seen are expected")
    return text


Text = Annotated[str, Field(strict=True, max_length=200), AfterValidator(_visible)]
Key = Annotated[str, Field(strict=True, min_length=1, max_length=40), AfterValidator(_visible)]
Section = Annotated[str, Field(strict=True, min_length=1, max_length=80), AfterValidator(_visible)]
Sections = Annotated[list[Section], AfterValidator(_different)]
Person = Annotated[str, Field(strict=True), AfterValidator(fold)]
Reason = Annotated[
    str, Field(strict=True, max_length=2000), AfterValidator(lambda text: text.replace("\0", "").strip())
]
Points = Annotated[Fraction, BeforeValidator(_hundredths)]
Weight = Annotated[Points, _within(0, 1000)]
Share = Annotated[Fraction, BeforeValidator(_ten_thousandths)]
Wall = Annotated[datetime, BeforeValidator(wall_of)]
Days = Annotated[StrictInt, Field(ge=0, le=MOST_DAYS)]
Score = Annotated[Any, BeforeValidator(_score)]
Exercise = Annotated[str, Field(strict=True, min_length=1, max_length=100), AfterValidator(_visible)]
Items = Annotated[dict[Exercise, Weight], Field(min_length=1, max_length=100)]
Attempts = Annotated[StrictInt, Field(ge=1, le=MOST_ATTEMPTS)]
Grace = Annotated[StrictInt, Field(ge=0, le=LONGEST_GRACE)]
SubmissionKey = Annotated[str, Field(strict=True), AfterValidator(_id)]
