"""A regrade against wrong rules that a replayed term might not notice, and what it takes in and leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import delete

from grader.service.classes import regrades
from grader.store import gradings
from grader.store.tables import OverrideRow
from tests.service.classes.school import School

IRIS, ADA = "iris@x.edu", "ada@x.edu"
A: dict[str, Any] = {"class_": "A"}
WHY = {"reason": "a case was wrong"}
Patch = pytest.MonkeyPatch


def _graded_anew(
    school: School, *, override: str | None = None, keep: str = "new", version: str = "2"
) -> dict[str, Any]:
    """Return Ada's cell after a regrade of what had 80 % by version 1, 90 % by 2, and 40 % by 3."""
    school.ask(IRIS, "cancel_change", **A, change="c1")
    school.ask("admin", "version", exercise="sdpa", version="1")
    scores = {"1": 80, "2": 90, "3": 40}
    given = {**A, "person": ADA, "assignment": "A-1", "exercise": "sdpa", "id": "h3"}
    assert school.code(ADA, "hand_in", **given, scores=scores) == "ok"
    if override is not None:
        school.ask(IRIS, "override", **A, person=ADA, assignment="A-1", points=override, reason="argued")
    school.ask("admin", "version", exercise="sdpa", version=version)
    school.ask(IRIS, "regrade", **A, exercise="sdpa", change="c2", keep=keep, **WHY)
    assert school.code(IRIS, "apply", **A, change="c2") == "ok"
    cell: dict[str, Any] = school.ask(ADA, "own", **A, person=ADA)["own"]["cells"]["A-1"]
    return cell


def _forgets_overrides(patch: Patch) -> None:
    right = gradings.make_current

    def wrong(session: Any, *more: Any, **named: Any) -> Any:
        session.execute(delete(OverrideRow))
        return right(session, *more, **named)

    patch.setattr(gradings, "make_current", wrong)


def _only_rises(patch: Patch) -> None:
    right = regrades.chosen
    patch.setattr(regrades, "chosen", lambda one, _keep: right(one, "better"))


@pytest.mark.parametrize(
    ("wrong", "given", "points"),
    [
        (_forgets_overrides, {"override": "9.00"}, "9.00"),
        (_only_rises, {"version": "3"}, "5.80"),  # 4.5 of 80 % and 5.5 of 40 %
    ],
)
def test_a_wrong_rule_of_regrades_gives_other_points(
    school: School, wrong: Callable[[Patch], None], given: dict[str, Any], points: str, monkeypatch: Patch
) -> None:
    wrong(monkeypatch)
    assert _graded_anew(school, **given)["points"] != points


@pytest.mark.parametrize(
    ("given", "points", "computed"),
    [
        ({"override": "9.00"}, "9.00", "8.55"),
        ({"version": "3"}, "5.80", "5.80"),
        ({"version": "3", "keep": "better"}, "8.00", "8.00"),
        ({"version": "2", "keep": "better"}, "8.55", "8.55"),
    ],
)
def test_a_regrade_changes_what_is_computed_and_leaves_overrides(
    school: School, given: dict[str, Any], points: str, computed: str
) -> None:
    cell = _graded_anew(school, **given)
    assert (cell["points"], cell["computed"]) == (points, computed)


@pytest.mark.parametrize(
    ("first", "then", "keep", "shown"),
    [
        (80, "ungradable", "new", None),
        (80, "ungradable", "better", "80.00"),
        ("ours", 10, "better", "10.00"),
        ("rejected", 0, "new", "0.00"),
        ("ungradable", "rejected", "better", None),
    ],
)
def test_a_free_result_replaces_a_graded_one_only_where_the_new_one_counts(
    school: School, first: Any, then: Any, keep: str, shown: str | None
) -> None:
    given = {**A, "person": ADA, "assignment": "A-1", "exercise": "sdpa", "id": "h3"}
    school.ask(ADA, "hand_in", **given, scores={"1": first, "2": then})
    school.ask("admin", "version", exercise="sdpa", version="2")
    made = school.ask(IRIS, "regrade", **A, exercise="sdpa", change="c2", keep=keep, **WHY)
    assert (made["gradings"], sum(number for _, _, number in made["matrix"])) == (1, 1)
    school.ask(IRIS, "apply", **A, change="c2")
    items = school.ask(ADA, "own", **A, person=ADA)["own"]["cells"]["A-1"]["items"]
    assert items.get("sdpa", {}).get("score") == shown


def test_a_regrade_takes_no_practice_and_nothing_cancelled_and_tells_nobody_who_has_left(school: School) -> None:
    for number, (person, more) in enumerate((
        ("ben@x.edu", {"scores": {"1": 50, "2": 60}}), ("ben@x.edu", {"status": "cancelled"}),
        ("ben@x.edu", {"assignment": None, "scores": {"1": 50, "2": 60}}),
        ("cleo@x.edu", {"scores": {"1": 50, "2": 60}}), ("iris@x.edu", {"scores": {"1": 50, "2": 60}}),
    )):  # fmt: skip
        given = {**A, "person": person, "assignment": "A-1", "exercise": "sdpa", "id": f"n{number}", **more}
        assert school.code(person, "hand_in", **given) == "ok"
    school.ask(IRIS, "member", **A, person="cleo@x.edu", act="leave")
    school.ask("admin", "version", exercise="sdpa", version="2")
    made = school.ask(IRIS, "regrade", **A, exercise="sdpa", change="c2", **WHY)
    assert (made["gradings"], made["told"]) == (2, ["ben@x.edu"])
    assert [one["attempt"] for one in made["attempts"]] == ["n0", "n3"]


def test_a_person_in_two_classes_has_two_banks(school: School) -> None:
    """Late days that one class takes are not missing in the other."""
    school.ask("bo@x.edu", "import", class_="B", csv="email,name\nada@x.edu,Ada\nbea@x.edu,Bea\n")
    handed = {"person": ADA, "exercise": "softmax", "score": 100}
    for key, assignment in (("A", "A-1"), ("B", "B-1")):
        given = {"class_": key, "assignment": assignment, "id": f"{key}1", **handed}
        assert school.ask(ADA, "hand_in", at="2026-09-26T12:00", **given)["days_late"] == 1
    left = {key: school.ask(ADA, "own", class_=key, person=ADA)["own"]["bank"]["left"] for key in ("A", "B")}
    assert left == {"A": 3, "B": 0}


def test_what_is_shown_of_an_override_above_what_is_possible_counts_as_full(school: School) -> None:
    school.ask(IRIS, "override", **A, person=ADA, assignment="A-2", points="20", reason="argued")
    school.ask(IRIS, "assign_change", **A, assignment="A-2", set={"items": {"causal": "10"}})
    figures = school.ask(IRIS, "grades", **A)["statistics"]["assignments"]["A-2"]
    assert (figures["n"], figures["full"]) == (1, 1)
