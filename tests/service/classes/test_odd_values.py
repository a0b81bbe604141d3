"""Whatever stands in a field, the answer is an answer or a refusal, and never a fault of the program."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from grader.service.classes.events import EVENTS
from tests.service.classes.school import School
from tests.service.classes.test_roles import ASKED, WITHOUT_CLASS

ODD: list[Any] = [
    None, True, -1, 10**40, Decimal("1.5"), Decimal("1e999999999"), float("nan"), "", "a\0b", "\ud800", "x" * 5000,
    "2999-12-31T23:59", [], [None], ["\ud800"], {}, {"\ud800": 1}, {"do": ["x"]}, {"do": "own", "person": "ada@x.edu"},
    {"due": "2999-12-31T23:59", "late": {"cutoff": 3660}}, [{"assignment": []}],
]  # fmt: skip
CODES = {
    "ok", "unknown", "not_allowed", "bad_value", "bad_rows", "confirm_leaving", "exists", "stale", "no_such_time",
    "no_reason", "not_member", "not_open", "closed", "no_attempts", "open_change", "not_open_change", "changed_since",
}  # fmt: skip


@pytest.mark.parametrize("do", EVENTS)
def test_an_odd_value_in_any_field_gets_one_of_the_codes_that_there_are(school: School, do: str) -> None:
    fields = ASKED[do] if do in WITHOUT_CLASS else {"class_": "A", **ASKED[do]}
    asked = [(name, odd) for name in fields for odd in ODD]
    codes = {school.code(by, do, **{**fields, name: odd}) for name, odd in asked for by in ("iris@x.edu", "admin")}
    assert codes <= CODES


@pytest.mark.parametrize("at", ["0001-01-02T00:00", "1969-12-31T23:59", "2999-12-31T23:59", "9999-12-30T00:00"])
def test_at_any_time_there_is_an_answer(school: School, at: str) -> None:
    for by, do in (("iris@x.edu", "grades"), ("ada@x.edu", "own"), ("ada@x.edu", "deadline"), ("ada@x.edu", "hand_in")):
        assert school.code(by, do, at=at, class_="A", **ASKED[do]) in CODES
