"""Exceptions for several people, from a file with a line for each."""

from __future__ import annotations

from typing import Any

import pytest

from grader.service.classes.events import MOST_GRANTS
from tests.service.classes.school import School

IRIS, ADA, BEN = "iris@x.edu", "ada@x.edu", "ben@x.edu"
HEAD = "person,assignment,what,value,reason\n"
FILE = f"""{HEAD}{ADA},A-2,excused,yes,ill
{BEN},A-1,due,2026-10-01 23:59,ill
cleo@x.edu,,bank_days,2,moved house
cleo@x.edu,A-2,attempts,1,lost her notes
"""


def granted(school: School, csv: str, **more: Any) -> dict[str, Any]:
    return school.ask(IRIS, "except_all", class_="A", csv=csv, **more)


def exceptions(school: School, person: str, assignment: str) -> dict[str, str]:
    cell = school.ask(IRIS, "cell", class_="A", person=person, assignment=assignment)
    return {one["field"]: one["value"] for one in cell["exceptions"]}


def test_each_line_is_granted(school: School) -> None:
    answer = granted(school, FILE)

    assert [one["line"] for one in answer["grants"]] == [2, 3, 4, 5]
    assert exceptions(school, ADA, "A-2") == {"excused": "1"}
    assert exceptions(school, BEN, "A-1") == {"due": "2026-10-01T23:59"}
    assert exceptions(school, "cleo@x.edu", "A-2") == {"bank_days": "2", "attempts": "1"}
    audit = school.ask(IRIS, "audit", class_="A")["lines"]
    assert [one["reason"] for one in audit if one["do"] == "except"] == ["ill", "ill", "moved house", "lost her notes"]


def test_a_preview_says_what_changes_and_stores_nothing(school: School) -> None:
    with school.unchanged():
        seen = granted(school, FILE, dry_run=True)

    cells = [(one["person"], one["assignment"], one["before"], one["after"]) for one in seen["cells"]]
    assert cells == [(ADA, "A-2", "14.00", None)]
    assert seen["banks"] == [{"person": "cleo@x.edu", "before": 4, "after": 6}]


def test_an_empty_value_withdraws(school: School) -> None:
    granted(school, FILE)
    granted(school, f"{HEAD}{ADA},A-2,excused,,well again\n{BEN},A-1,due,,well again\n")

    assert (exceptions(school, ADA, "A-2"), exceptions(school, BEN, "A-1")) == ({}, {})


def test_every_line_that_is_wrong_is_named_and_none_is_granted(school: School) -> None:
    wrong = [
        ("bea@x.edu,A-1,attempts,1,ill", "unknown"),  # of the other class
        (f"{ADA},B-1,attempts,1,ill", "unknown"),
        (f"{ADA},A-1,points,1,ill", "bad_value"),
        (f"{ADA},A-1,attempts,some,ill", "bad_value"),
        (f"{ADA},A-1,attempts,²,ill", "bad_value"),
        (f"{ADA},A-1,attempts,99999999999999999999,ill", "bad_value"),
        (f"{ADA},A-1,excused,perhaps,ill", "bad_value"),
        (f"{ADA},A-1,due,tomorrow,ill", "bad_value"),
        (f"{ADA},A-1,due,2027-03-14T02:30,ill", "no_such_time"),
        (f"{ADA},A-1,standing_days,1,ill", "bad_value"),
        (f"{ADA},,attempts,1,ill", "bad_value"),
        (f"{BEN},A-1,attempts,1,", "no_reason"),
        ("ADA@x.edu,A-2,attempts,2,a second time", "bad_value"),
    ]
    file = f"{HEAD}{ADA},A-2,attempts,1,right\n" + "\n".join(line for line, _ in wrong)
    with school.unchanged():
        answer = granted(school, file)

    assert answer["code"] == "bad_rows"
    expected = [(line, code) for line, (_, code) in enumerate(wrong, start=3)]
    assert [(one["line"], one["code"]) for one in answer["errors"]] == expected
    assert answer["errors"][-1]["why"] == "Line 2 grants this already."


@pytest.mark.parametrize(
    "csv", ["", HEAD, f"person,what,value\n{ADA},due,\n", HEAD + "a\n" * (MOST_GRANTS + 1), "a\0b"]
)
def test_a_file_without_exceptions_or_with_too_many_is_refused(same_school: School, csv: str) -> None:
    with same_school.unchanged():
        assert granted(same_school, csv)["code"] == "bad_value"
