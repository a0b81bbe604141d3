"""Each refusal by its code, and what stands beside it."""

from __future__ import annotations

from typing import Any

import pytest

from grader.store import audit
from grader.store.audit import subject_of
from tests.service.classes.school import ASSIGNMENT, ROSTER, School

IRIS, ADA, BEN, BO = "iris@x.edu", "ada@x.edu", "ben@x.edu", "bo@x.edu"
A: dict[str, Any] = {"class_": "A"}
SKIPPED = "2027-03-14T02:30"  # New York's clock goes from 02:00 to 03:00
WHY = {"reason": "ill"}
OVERRIDE = {**A, "person": BEN, "assignment": "A-1", "points": 5}


def _hand_in(person: str = BEN, id: str = "new", exercise: str = "softmax", **more: Any) -> dict[str, Any]:
    return {**A, "person": person, "assignment": "A-1", "exercise": exercise, "id": id, "score": 80, **more}


@pytest.mark.parametrize(
    ("do", "fields"),
    [
        ("class_change", {"class_": "C", "set": {}}),
        ("except", {**A, "person": ADA, "assignment": "A-9", "field": "attempts", "value": 1, **WHY}),
        ("except", {**A, "person": "who@x.edu", "assignment": "A-1", "field": "attempts", "value": 1, **WHY}),
        ("except", {**A, "person": "bea@x.edu", "assignment": "A-1", "field": "attempts", "value": 1, **WHY}),
        ("override", {**A, "person": ADA, "assignment": "B-1", "points": 1, **WHY}),
        ("override", {**A, "person": IRIS, "assignment": "A-1", "points": 1, **WHY}),
        ("assign_change", {**A, "assignment": "B-1", "set": {"grace": 1}}),
        ("assign_change", {**A, "assignment": "A-1\0", "set": {"grace": 1}}),
        ("member", {**A, "person": "bea@x.edu", "act": "leave"}),
        ("publish", {**A, "assignment": "B-1"}),
        ("publish", {**A, "assignment": "A-1", "hold": [ADA, "bea@x.edu"]}),
        ("release", {**A, "assignment": "A-1", "person": "bea@x.edu"}),
        ("regrade", {**A, "exercise": "heads", "change": "c9", **WHY}),
        ("apply", {**A, "change": "c9"}),
        ("cancel_change", {**A, "change": "c9"}),
        ("own", {**A, "person": "bea@x.edu"}),
        ("own", {**A, "person": IRIS}),
        ("deadline", {**A, "person": ADA, "assignment": "B-1"}),
        ("board", {**A, "assignment": "B-1", "exercise": "softmax"}),
        ("board", {**A, "assignment": "A-1", "exercise": "causal"}),
        ("whatif", {**A, "change": {"do": "member", "person": "bea@x.edu", "act": "leave"}}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_there_is_not_is_unknown_and_so_is_what_belongs_to_another_class(
    same_school: School, do: str, fields: dict[str, Any]
) -> None:
    with same_school.unchanged():
        assert same_school.code(IRIS, do, **fields) == "unknown"


def test_an_attempt_of_somebody_else_is_as_unknown_as_none(same_school: School) -> None:
    for id in ("h1", "none", "h1\0", "x" * 5000):
        assert same_school.ask(BEN, "aside", person=BEN, id=id) == {"ok": False, "code": "unknown"}


def test_nothing_is_made_twice_under_one_key(same_school: School) -> None:
    for by, do, fields in (
        ("admin", "class", {**A, "name": "C", "zone": "UTC", "bank": 0, "sections": []}),
        (IRIS, "assign", {**A, "assignment": "A-1", **ASSIGNMENT}),
        (IRIS, "regrade", {**A, "exercise": "causal", "change": "c1", **WHY}),
        (BEN, "hand_in", _hand_in(id="h1")),
    ):
        with same_school.unchanged():
            assert same_school.code(by, do, **fields) == "exists", do


def test_a_key_is_free_in_another_class(school: School) -> None:
    assert school.code(BO, "assign", class_="B", assignment="A-1", **ASSIGNMENT) == "ok"


@pytest.mark.parametrize("reason", ["", "  ", "\n\t", "\0", "\u200f\u202e", "\ufeff"])
def test_a_grade_is_changed_with_a_reason_that_can_be_read(same_school: School, reason: str) -> None:
    granted = {**A, "person": ADA, "assignment": "A-1", "field": "attempts", "value": 1}
    for do, fields in (
        ("except", granted), ("except", {**granted, "value": None}), ("override", OVERRIDE),
        ("override", {**OVERRIDE, "points": None}), ("regrade", {**A, "exercise": "causal", "change": "c2"}),
        ("whatif", {**A, "change": {"do": "override", **OVERRIDE, "reason": reason, "class_": None}}),
    ):  # fmt: skip
        if do == "whatif":
            inner = {name: value for name, value in fields["change"].items() if name != "class_"}
            fields = {**A, "change": inner}
        with same_school.unchanged():
            given = fields if do == "whatif" else {**fields, "reason": reason}
            assert same_school.code(IRIS, do, **given) == "no_reason", do


def test_a_minute_that_the_clock_skips_is_refused_with_the_one_that_it_becomes(same_school: School) -> None:
    refused = {"ok": False, "code": "no_such_time", "instead": "2027-03-14T03:30"}
    for do, fields in (
        ("assign", {"assignment": "A-9", **ASSIGNMENT, "due": SKIPPED}),
        ("assign", {"assignment": "A-9", **ASSIGNMENT, "section_due": {"A1": SKIPPED}}),
        ("assign", {"assignment": "A-9", **ASSIGNMENT, "opens": SKIPPED, "due": "2027-03-15T23:59"}),
        ("assign_change", {"assignment": "A-1", "set": {"due": SKIPPED}}),
        ("except", {"person": ADA, "assignment": "A-1", "field": "due", "value": SKIPPED, **WHY}),
        ("whatif", {"change": {"do": "assign_change", "assignment": "A-1", "set": {"due": SKIPPED}}}),
    ):
        with same_school.unchanged():
            assert same_school.ask(IRIS, do, **A, **fields) == refused, (do, fields)
    later = {**ASSIGNMENT, "due": SKIPPED}
    assert same_school.code(BO, "assign", class_="B", assignment="B-1", **later) == "exists", "Berlin has this minute"


def test_a_due_time_that_only_the_new_zone_skips_stays_and_does_not_keep_an_assignment_from_changes(
    school: School,
) -> None:
    school.ask(BO, "assign", class_="B", assignment="B-2", **{**ASSIGNMENT, "due": SKIPPED})
    assert school.code(BO, "class_change", class_="B", set={"zone": "America/New_York"}) == "ok"
    assert school.code(BO, "assign_change", class_="B", assignment="B-2", set={"grace": 5}) == "ok"
    ends = school.ask("bea@x.edu", "deadline", class_="B", person="bea@x.edu", assignment="B-2")["ends"]
    assert ends == "2027-03-14T07:36:00.000Z"  # 03:30 in New York, its minute, and the grace


def test_a_stale_save_is_refused_with_the_revision_that_there_is(school: School) -> None:
    stale = {"ok": False, "code": "stale", "revision": 1}
    for seen in (0, 2, -1, 10**30):
        assert school.ask(IRIS, "override", **OVERRIDE, **WHY, revision=seen) == stale
        assert school.ask(IRIS, "assign_change", **A, assignment="A-1", set={"grace": 5}, revision=seen) == stale
        change = {"do": "assign_change", "assignment": "A-1", "set": {"grace": 5}, "revision": seen}
        assert school.ask(IRIS, "whatif", **A, change=change) == stale
    assert school.ask(IRIS, "override", **OVERRIDE, **WHY, revision=1) == {"ok": True, "revision": 2}
    assert school.ask(IRIS, "assign_change", **A, assignment="A-1", set={"grace": 5}, revision=1) == {
        "ok": True, "revision": 2,
    }  # fmt: skip
    assert school.ask(IRIS, "override", **OVERRIDE, **WHY) == {"ok": True, "revision": 3}, "none was said to be seen"


def test_what_is_withdrawn_by_an_excuse_counts_as_a_revision(school: School) -> None:
    excused = {**A, "person": BEN, "assignment": "A-1", "field": "excused", **WHY}
    assert school.code(IRIS, "except", **excused, value=True) == "ok"
    assert school.ask(IRIS, "own", **A, person=BEN)["own"]["cells"]["A-1"]["state"] == "excused"
    assert school.ask(IRIS, "override", **OVERRIDE, **WHY, revision=1) == {"ok": False, "code": "stale", "revision": 2}
    assert school.ask(IRIS, "override", **OVERRIDE, **WHY, revision=2) == {"ok": True, "revision": 3}
    cell = school.ask(IRIS, "own", **A, person=BEN)["own"]["cells"]["A-1"]
    assert (cell["points"], cell["state"] == "excused") == ("5.00", False), "the override has withdrawn the excuse"


def test_every_row_of_a_roster_tells_its_first_fault_by_the_line_where_it_begins(same_school: School) -> None:
    rows = [
        "Email;NAME;section", 'ada@x.edu;"Ada\nthe first";A1', "ADA@x.edu;Again;A9", "", "a b@x.edu;;A9", "new@x;N;A1",
        "cleo@x.edu;Cleo;", "dov@x.edu;;A1", "\u202eben@x.edu\u202c;Ben;A1", "ben@x.edu;Ben;A1", "a@b@c.d;X;A1",
    ]  # fmt: skip
    answer = same_school.ask(IRIS, "import", **A, csv="\r\n".join(rows))
    told = [(one["line"], one["code"]) for one in answer["errors"]]
    assert answer["code"] == "bad_rows"
    assert told == [
        (4, "duplicate_email"), (6, "bad_email"), (7, "bad_email"), (8, "unknown_section"), (9, "no_name"),
        (11, "duplicate_email"), (12, "bad_email"),
    ]  # fmt: skip


@pytest.mark.parametrize("confirm", [None, 0, 1, 3])
def test_a_roster_that_drops_many_wants_their_number(same_school: School, confirm: int | None) -> None:
    with same_school.unchanged():
        refused = same_school.ask(IRIS, "import", **A, csv="email,name,section\nada@x.edu,Ada,A1\n", confirm=confirm)
    assert refused == {"ok": False, "code": "confirm_leaving", "left": 2}


def test_a_dry_run_needs_no_number_and_changes_nothing_and_with_the_number_they_leave(school: School) -> None:
    csv, counts = "email,name,section\nada@x.edu,Ada,A2\n", {"new": 0, "back": 0, "moved": 1, "renamed": 0}
    done = {"ok": True, **counts, "left": 2, "unchanged": 0}
    with school.unchanged():
        assert school.ask(IRIS, "import", **A, csv=csv, dry_run=True) == done
    assert school.ask(IRIS, "import", **A, csv=csv, confirm=2) == done
    assert school.ask(IRIS, "import", **A, csv=csv)["unchanged"] == 1
    back = school.ask(IRIS, "import", **A, csv=ROSTER)
    assert [back[name] for name in ("new", "back", "moved", "left")] == [0, 3, 1, 0], "a moved Ada, and three back"


def test_staff_that_has_left_comes_back_by_a_roster_as_a_student(school: School) -> None:
    for person in ("one@x.edu", "two@x.edu"):
        assert school.code(IRIS, "member", **A, person=person, act="leave") == "ok"
    with_one = f"{ROSTER}one@x.edu,One,A1\n"
    assert school.ask(IRIS, "import", **A, csv=with_one)["back"] == 2  # and Gone
    assert school.code("one@x.edu", "grades", **A) == "not_allowed"
    assert school.code("one@x.edu", "own", **A, person="one@x.edu") == "ok"


# ---- handing in


@pytest.mark.parametrize(
    ("at", "by", "more", "told"),
    [
        ("2026-09-20T12:00", "who@x.edu", {"person": "who@x.edu"}, {"code": "unknown"}),
        ("2026-09-20T12:00", "bea@x.edu", {"person": "bea@x.edu"}, {"code": "unknown"}),
        ("2026-09-20T12:00", BEN, {"class_": "C"}, {"code": "unknown"}),
        ("2026-09-20T12:00", BEN, {"assignment": "A-9"}, {"code": "unknown"}),
        ("2026-09-20T12:00", BEN, {"exercise": "causal"}, {"code": "unknown"}),
        ("2026-09-20T12:00", BEN, {"person": ADA}, {"code": "not_allowed"}),
        ("2026-09-20T12:00", IRIS, {"person": ADA}, {"code": "not_allowed"}),
        ("2026-09-20T12:00", "gone@x.edu", {"person": "gone@x.edu", "assignment": "A-9"}, {"code": "not_member"}),
        ("2026-09-14T03:59:59.999", BEN, {}, {"code": "not_open"}),
        ("2026-09-29T04:00", BEN, {}, {"code": "closed"}),
        ("2026-10-14T04:00", ADA, {"person": ADA, "assignment": "A-2", "exercise": "causal"}, {"code": "closed"}),
        ("2026-09-20T12:00", ADA, {"person": ADA, "assignment": "A-2", "exercise": "causal"},
         {"code": "no_attempts", "used": 1}),
    ],
)  # fmt: skip
def test_a_hand_in_is_refused_for_the_first_reason_and_uses_nothing(
    same_school: School, at: str, by: str, more: dict[str, Any], told: dict[str, Any]
) -> None:
    with same_school.unchanged():
        assert same_school.ask(by, "hand_in", at=at, **_hand_in(**more)) == {"ok": False, **told}


@pytest.mark.parametrize(
    ("at", "by", "more", "told"),
    [
        ("2026-09-14T04:00", BEN, {}, {"practice": False, "days_late": 0}),
        ("2026-09-26T03:59:59.999", BEN, {}, {"practice": False, "days_late": 0}),
        ("2026-09-26T04:00", BEN, {}, {"practice": False, "days_late": 1}),
        ("2026-09-29T03:59:59.999", BEN, {}, {"practice": False, "days_late": 3}),
        ("2026-09-29T04:00", BEN, {"assignment": None}, {"practice": True}),
        ("2026-09-29T04:00", IRIS, {"person": IRIS, "assignment": "A-9"}, {"practice": True}),
        ("2026-09-20T12:00", "one@x.edu", {"person": "one@x.edu"}, {"practice": True}),
    ],
)  # fmt: skip
def test_a_hand_in_is_taken_up_to_the_last_moment_or_is_practice(
    school: School, at: str, by: str, more: dict[str, Any], told: dict[str, Any]
) -> None:
    assert school.ask(by, "hand_in", at=at, **_hand_in(**{"person": by, **more})) == {"ok": True, **told}


def test_who_joined_after_the_end_practises_until_an_extension_assigns_it(school: School) -> None:
    csv = f"{ROSTER}lea@x.edu,Lea,A2\n"
    assert school.ask(IRIS, "import", at="2026-09-26T04:00", **A, csv=csv)["new"] == 1
    mine = _hand_in("lea@x.edu")
    assert school.ask("lea@x.edu", "hand_in", at="2026-09-26T05:00", **mine)["practice"] is True
    granted = {"assignment": "A-1", "field": "due", "value": "2026-09-27T23:59", **WHY}
    school.ask(IRIS, "except", **A, person="lea@x.edu", **granted)
    assert school.ask("lea@x.edu", "hand_in", **{**mine, "id": "new2"})["practice"] is False


def test_an_attempt_is_set_aside_until_the_cutoff_and_an_extension_opens_it_again(school: School) -> None:
    aside = {"person": ADA, "id": "h1"}
    assert school.code(ADA, "aside", at="2026-09-29T03:59:59.999", **aside) == "ok"
    assert school.code(ADA, "aside", at="2026-09-29T04:00", **aside, undo=True) == "closed"
    due = {"field": "due", "value": "2026-09-29T23:59", **WHY}
    school.ask(IRIS, "except", **A, person=ADA, assignment="A-1", **due)
    assert school.code(ADA, "aside", **aside, undo=True) == "ok"
    school.ask(IRIS, "member", **A, person=ADA, act="leave")
    assert school.code(ADA, "aside", **aside) == "not_member"


# ---- regrades


def test_an_exercise_has_one_open_change_and_a_closed_one_stays_closed(school: School) -> None:
    again = {**A, "exercise": "softmax", "change": "c2", **WHY}
    assert school.code(IRIS, "regrade", **again) == "open_change"
    assert school.code(IRIS, "cancel_change", **A, change="c1") == "ok"
    for do in ("apply", "cancel_change"):
        assert school.code(IRIS, do, **A, change="c1") == "not_open_change"
    assert school.code(IRIS, "regrade", **again) == "ok"
    assert [school.code(IRIS, "apply", **A, change="c2") for _ in range(2)] == ["ok", "not_open_change"]
    assert school.ask(ADA, "own", **A, person=ADA)["own"]["cells"]["A-1"]["points"] == "4.05"


def test_a_change_is_not_applied_once_it_would_change_something_else(school: School) -> None:
    school.ask(IRIS, "override", **{**OVERRIDE, "person": ADA}, **WHY)
    with school.unchanged():
        assert school.code(IRIS, "apply", **A, change="c1") == "changed_since"
    assert school.code(IRIS, "cancel_change", **A, change="c1") == "ok"


# ---- what the audit tells of refusals


def test_the_audit_tells_refused_imports_and_stale_overrides_and_no_question(school: School) -> None:
    with school.database.read() as session:
        before = len(audit.lines(session, 2))
    school.ask(IRIS, "import", **A, csv="email,name\nx,X\n")
    school.ask(IRIS, "import", **A, csv="email,name\nx,X\n", dry_run=True)
    school.ask(IRIS, "override", **{**OVERRIDE, "person": "ben\0@x.edu"}, reason="a\0b", revision=0)
    school.ask(IRIS, "override", **OVERRIDE, reason="", revision=0)
    school.ask(ADA, "override", **OVERRIDE, **WHY, revision=0)
    school.ask(IRIS, "whatif", **A, change={"do": "member", "person": ADA, "act": "leave"})
    school.ask(IRIS, "grades", **A)
    with school.database.read() as session:
        lines = audit.lines(session, 2)[before:]
    assert [(one.do, one.ok, one.reason) for one in lines] == [("import", False, ""), ("override", False, "ab")]


def test_the_deletion_of_a_person_stands_in_the_audit_of_their_classes(school: School) -> None:
    assert school.code(ADA, "delete", person=ADA) == "ok"
    with school.database.read() as session:
        last = {id: audit.lines(session, id)[-1].do for id in (2, 3)}
    assert (last[2], last[3]) == ("delete", "assign")
    assert school.code(ADA, "own", **A, person=ADA) == "unknown"


def test_no_two_subjects_of_the_audit_run_into_each_other() -> None:
    """Names and keys may hold spaces: what was done to one person is not told beside another one."""
    whole, other = subject_of("bob", "hw"), subject_of("bob hw", "q1")

    assert not f"{other}\t".startswith(f"{whole}\t")
    assert subject_of("bob", "hw", "due").startswith(f"{whole}\t")


def test_a_file_of_many_wrong_rows_leaves_their_number_in_the_audit(school: School) -> None:
    wrong = "email,name,section\n" + "a\n" * 40_000
    assert school.code(IRIS, "import", **A, csv=wrong) == "bad_rows"
    last = school.ask(IRIS, "audit", **A)["lines"][-1]
    assert (last["ok"], last["after"]) == (False, {"code": "bad_rows", "errors": 40_000})


def test_a_file_of_more_lines_than_any_class_has_is_refused_as_a_whole(school: School) -> None:
    assert school.code(IRIS, "import", **A, csv="email,name,section\n" + "\n" * 60_000) == "bad_value"
