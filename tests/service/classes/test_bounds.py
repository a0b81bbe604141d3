"""A value that is none of its field is refused as `bad_value`, and nothing of its event is done."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.service.classes.school import ASSIGNMENT, LATE, ROSTER, School

NAN, HUGE, ENDLESS = float("nan"), Decimal("1e400"), Decimal("1e999999999")
NO_NUMBERS = [True, None, [], {}, "", "x", "1,5", "٣", "0x1", "1_0", NAN, float("inf"), HUGE, ENDLESS, "9" * 40, 10**40]
NO_WHOLES = [True, None, "1", Decimal("1.0"), Decimal("1.5"), 1.5, [], NAN, HUGE, -1, 10**40]
NO_TEXTS = [None, True, 5, ["x"], {}, "a\0b", "a\nb", "a\u202eb", "a\ud800b", "x" * 100_000]
NO_WALLS = [
    None, True, 5, "", "tomorrow", "2026-10-09", "2026-10-09T23:59:00", "2026-10-09T23:59Z", "2026-10-09 23:59",
    "2026-10-09T24:00", "2026-02-29T23:59", "2026-13-01T00:00", "2026-10-9T23:59", "0001-01-01T00:00",
    "9999-12-31T23:59", "٢٠٢٦-10-09T23:59", "2026-10-09T23:59\0",
]  # fmt: skip
OF_ASSIGNMENTS: dict[str, list[Any]] = {
    "items": [
        {}, [], None, "softmax", {"": "1"}, {"softmax": None}, {"a\0": "1"},
        *({"softmax": one} for one in [*NO_NUMBERS, "-0.01", "1000.01", "5.005", Decimal("5.005"), 1001]),
    ],
    "opens": [*NO_WALLS, "2026-09-26T00:00"],
    "due": [*NO_WALLS, "2026-09-13T23:59"],
    "section_due": [
        None, [], "A1", {"A3": "2026-09-25T23:59"}, {"": "2026-09-25T23:59"}, {"A1": "2026-09-13T23:59"},
        *({"A1": one} for one in NO_WALLS),
    ],
    "grace": [*NO_WHOLES, 10_081],
    "attempts": [*(one for one in NO_WHOLES if one is not None), 0],
    "count": [None, "", "worst", "BEST", 1, ["best"]],
    "show": [None, "", "always", True],
    "title": [one for one in NO_TEXTS if one is not None],
    "late": [[], "none", 5, True],
}  # fmt: skip
OF_LATENESS: dict[str, list[Any]] = {
    "per_day": [*NO_NUMBERS, 1.5, "1.5", "1.0001", "-0.1", "0.00001", Decimal("0.12345")],
    "at_most": [*NO_NUMBERS, 1.5, "1.0001", "-0.1", "0.00001"],
    "of": [None, "", "all", 1],
    "bank_max": NO_WHOLES,
    "cutoff": [one for one in NO_WHOLES if one is not None],
}
GRANTS: list[tuple[str, str | None, Any]] = [
    *(("due", "A-1", one) for one in NO_WALLS if one is not None),
    *(("attempts", "A-1", one) for one in NO_WHOLES if one is not None),
    *(("excused", "A-1", one) for one in (1, "true", "yes", [], {})),
    *(("standing_days", None, one) for one in NO_WHOLES if one is not None),
    *(("bank_days", None, one) for one in NO_WHOLES if one is not None),
    ("due", None, "2026-10-01T23:59"), ("attempts", None, 1), ("excused", None, True),
    ("standing_days", "A-1", 1), ("bank_days", "A-1", 1), ("grace", "A-1", 5), ("", "A-1", 5),
]  # fmt: skip
SCORES = [one for one in NO_NUMBERS if one is not None] + [
    "-0.01",
    "100.01",
    101,
    "87.655",
    Decimal("87.655"),
    "graded",
]
HAND_IN = {"person": "ada@x.edu", "assignment": "A-1", "exercise": "softmax", "id": "new"}
OTHERS: list[tuple[str, str, dict[str, Any]]] = [
    *(("admin", "class", {"class_": one}) for one in [*NO_TEXTS, "", "x" * 41]),
    *(("admin", "class", {"name": one}) for one in [*NO_TEXTS, "", "x" * 81]),
    *(("admin", "class", {"zone": one}) for one in [*NO_TEXTS, "", "Mars/Olympus", "../UTC", "utc", "America"]),
    *(("admin", "class", {"bank": one}) for one in NO_WHOLES),
    *(("admin", "class", {"sections": one}) for one in [None, "A1", {}, ["A1", "A1"], [""], [5], ["a\0"]]),
    *(("iris@x.edu", "class_change", {"set": {"bank": one}}) for one in NO_WHOLES),
    *(("iris@x.edu", "class_change", {"set": one}) for one in [None, [], "bank", {"zone": None}, {"zone": "x"}]),
    ("iris@x.edu", "class_change", {"set": {"sections": ["A1"]}}),  # A2 has students
    *(("iris@x.edu", "staff", {"role": one}) for one in ["student", "", None, "INSTRUCTOR", "administrator"]),
    *(("iris@x.edu", "staff", {"person": one}) for one in [None, 5, "", "x", "a@b", "@b.c", "a b@c.d", "a@b@c.d"]),
    *(("iris@x.edu", "staff", {"sections": one}) for one in [None, "A1", ["A3"], ["A1", "A1"]]),
    *(("iris@x.edu", "staff", {"name": one}) for one in NO_TEXTS),
    *(("iris@x.edu", "import", {"csv": one}) for one in [None, 5, [], "", "email\n", "name\n", "a\0b", "a\ud800"]),
    *(("iris@x.edu", "import", {"dry_run": one}) for one in [None, 1, "true"]),
    *(("iris@x.edu", "import", {"confirm": one}) for one in [True, "3", 1.5]),
    *(("iris@x.edu", "member", {"section": one}) for one in ["", "A3", 5, ["A1"], "a\0"]),
    *(("iris@x.edu", "member", {"act": one}) for one in ["", "join", True, ["leave"]]),
    *(("iris@x.edu", "override", {"points": one}) for one in NO_NUMBERS if one is not None),
    *(("iris@x.edu", "override", {"points": one}) for one in ["-0.01", "10.01", "5.005", Decimal("5.005"), 11]),
    *(("iris@x.edu", "override", {"revision": one}) for one in ["1", True, 1.5, []]),
    *(("iris@x.edu", "override", {"reason": one}) for one in [None, 5, ["ill"], "x" * 2001]),
    *(("ada@x.edu", "hand_in", {"score": one}) for one in SCORES),
    *(("ada@x.edu", "hand_in", {"score": None, "scores": {"2": one}}) for one in [*SCORES, None]),
    *(("ada@x.edu", "hand_in", {"score": None, "scores": one}) for one in [[], "80", {}, {"1": 50}]),
    *(("ada@x.edu", "hand_in", {"score": None, "status": one}) for one in ["", "graded", True, 5, None]),
    ("ada@x.edu", "hand_in", {"status": "ours"}),  # beside a score
    *(("ada@x.edu", "hand_in", {"id": one}) for one in [None, "", 5, "a b", "a/b", "x" * 41, "a\0", "ä", "a\n"]),
    *(("ada@x.edu", "hand_in", {"exercise": one}) for one in [*NO_TEXTS, ""]),
    *(("ada@x.edu", "hand_in", {"assignment": one}) for one in [5, ["A-1"], True]),
    *(("ada@x.edu", "aside", {"undo": one}) for one in [None, 1, "true"]),
    *(("admin", "version", {"version": one}) for one in [None, 2, "", "x" * 81]),
    *(("iris@x.edu", "regrade", {"keep": one}) for one in [None, "", "worse"]),
    *(("iris@x.edu", "regrade", {"change": one}) for one in [*NO_TEXTS, ""]),
    *(("iris@x.edu", "publish", {"hold": one}) for one in [None, "ada@x.edu", {}, [5]]),
    *(("iris@x.edu", "whatif", {"change": one}) for one in [None, [], {}, {"do": "delete", "person": "ada@x.edu"}]),
]
USUAL: dict[str, dict[str, Any]] = {
    "class": {"class_": "C", "name": "C", "zone": "UTC", "bank": 0, "sections": []},
    "class_change": {"class_": "A"},
    "staff": {"class_": "A", "person": "new@x.edu", "name": "New", "role": "assistant"},
    "import": {"class_": "A", "csv": ROSTER, "confirm": 0},
    "member": {"class_": "A", "person": "ada@x.edu"},
    "override": {"class_": "A", "person": "ada@x.edu", "assignment": "A-1", "points": 5, "reason": "asked"},
    "hand_in": {"class_": "A", **HAND_IN, "score": 80},
    "aside": {"person": "ada@x.edu", "id": "h1"},
    "version": {"exercise": "softmax", "version": "3"},
    "regrade": {"class_": "A", "exercise": "causal", "change": "c2", "reason": "asked"},
    "publish": {"class_": "A", "assignment": "A-1"},
    "whatif": {"class_": "A"},
}


@pytest.mark.parametrize("field", OF_ASSIGNMENTS)
def test_an_assignment_is_neither_made_nor_changed_with_a_wrong_value(same_school: School, field: str) -> None:
    for value in OF_ASSIGNMENTS[field]:
        with same_school.unchanged():
            made = same_school.code(
                "iris@x.edu", "assign", class_="A", assignment="A-9", **{**ASSIGNMENT, field: value}
            )
            also = {field: value, "grace": 5} if field != "grace" else {field: value, "title": "new"}
            changed = same_school.code("iris@x.edu", "assign_change", class_="A", assignment="A-1", set=also)
            assert (made, changed) == ("bad_value", "bad_value"), (field, value)


@pytest.mark.parametrize("field", OF_LATENESS)
def test_lateness_is_neither_made_nor_changed_with_a_wrong_value(same_school: School, field: str) -> None:
    for value in OF_LATENESS[field]:
        fields = {**ASSIGNMENT, "late": {**LATE, field: value}}
        with same_school.unchanged():
            made = same_school.code("iris@x.edu", "assign", class_="A", assignment="A-9", **fields)
            also = {"late": {field: value}, "grace": 5}
            changed = same_school.code("iris@x.edu", "assign_change", class_="A", assignment="A-1", set=also)
            assert (made, changed) == ("bad_value", "bad_value"), (field, value)


def test_nothing_is_granted_that_its_field_cannot_be(same_school: School) -> None:
    for field, assignment, value in GRANTS:
        given = {"class_": "A", "person": "ada@x.edu", "field": field, "value": value, "reason": "ill"}
        with same_school.unchanged():
            code = same_school.code("iris@x.edu", "except", assignment=assignment, **given)
            assert code == "bad_value", (field, assignment, value)


def test_every_other_wrong_value_is_refused_and_changes_nothing(same_school: School) -> None:
    for by, do, wrong in OTHERS:
        with same_school.unchanged():
            assert same_school.code(by, do, **{**USUAL[do], **wrong}) == "bad_value", (do, wrong)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("items", [{"softmax": one} for one in (0, "0", "0.00", 1000, "1000.00", Decimal("4.50"), 4.5, "4.500")]),
        ("opens", ["2026-09-25T23:59"]),
        ("section_due", [{}, {"A1": "2026-09-14T00:00"}]),
        ("grace", [0, 10_080]),
        ("attempts", [1, 10_000, None]),
        ("late", [{"per_day": one} for one in (0, 1, "0.3333", Decimal("1E-1"), "1.0000")]),
        ("late", [{"cutoff": None}, {"cutoff": 0}, {}, {"at_most": 0}]),
    ],
)
def test_a_value_at_the_edge_of_its_bounds_is_taken(school: School, field: str, values: list[Any]) -> None:
    for number, value in enumerate(values):
        fields = {**ASSIGNMENT, field: value}
        assert school.code("iris@x.edu", "assign", class_="A", assignment=f"A-9{number}", **fields) == "ok", value


def test_a_year_in_which_no_day_can_be_counted_is_refused_also_as_an_extension(same_school: School) -> None:
    given = {"class_": "A", "person": "ada@x.edu", "assignment": "A-1", "field": "due", "reason": "ill"}
    for year in ("0001", "1969", "3000", "9999"):
        assert same_school.code("iris@x.edu", "except", value=f"{year}-12-31T23:59", **given) == "bad_value"
