"""Each event, asked by people in every role: who may, who may not, and who is not even told that there is anything."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from grader.service.classes.events import EVENTS
from tests.service.classes.school import ASSIGNMENT, School

ROLES = {
    "guest": "who@x.edu",
    "of no class": "nobody@x.edu",  # deleted from theirs below
    "student": "ada@x.edu",
    "student of the other class": "bea@x.edu",
    "assistant of another section": "two@x.edu",
    "assistant of this section": "one@x.edu",
    "instructor": "iris@x.edu",
    "instructor of the other class": "bo@x.edu",
    "student who has left": "gone@x.edu",
    "administrator": "admin",
}
WHY = {"reason": "ill"}
TO_ADA = {"person": "ada@x.edu", "assignment": "A-1"}
# What is asked, each time about class A, its assignment A-1, and Ada, who is the student and in section A1.
ASKED: dict[str, dict[str, Any]] = {
    "class": {"class_": "C", "name": "C", "zone": "UTC", "bank": 0, "sections": []},
    "class_change": {"set": {"bank": 5}},
    "staff": {"person": "new@x.edu", "name": "New", "role": "instructor"},
    "import": {"csv": "email,name,section\nnew@x.edu,New,A1\n", "confirm": 3},
    "member": {"person": "ada@x.edu", "section": "A2"},
    "assign": {"assignment": "A-9", **ASSIGNMENT},
    "assign_change": {"assignment": "A-1", "set": {"grace": 5}},
    "except": {**TO_ADA, "field": "attempts", "value": 1, **WHY},
    "except_all": {"csv": "person,assignment,what,value,reason\nada@x.edu,A-1,attempts,1,ill\n"},
    "override": {**TO_ADA, "points": 5, **WHY},
    "hand_in": {**TO_ADA, "exercise": "softmax", "id": "new", "score": 80},
    "aside": {"person": "ada@x.edu", "id": "h1"},
    "version": {"exercise": "softmax", "version": "3"},
    "regrade": {"exercise": "causal", "change": "c2", **WHY},
    "apply": {"change": "c1"},
    "cancel_change": {"change": "c1"},
    "change": {"change": "c1"},
    "notices_read": {"person": "ada@x.edu", "ids": [1]},
    "changes": {},
    "mistakes": {},
    "results": {"person": "ada@x.edu", "change": "c0", "attempt": "h2"},
    "publish": {"assignment": "A-1"},
    "release": TO_ADA,
    "delete": {"person": "ada@x.edu"},
    "whatif": {"change": {"do": "member", "person": "ada@x.edu", "act": "leave"}},
    "grades": {},
    "own": {"person": "ada@x.edu"},
    "agenda": {"person": "ada@x.edu"},
    "deadline": TO_ADA,
    "board": {"assignment": "A-1", "exercise": "softmax"},
    "copy": {"to": "C", "weeks": 52},
    "assign_all": {"assignments": [{"assignment": "A-9", **ASSIGNMENT}]},
    "export": {"format": "csv"},
    "audit": {},
    "classes": {},
    "roster": {"csv": "email,name,section\nnew@x.edu,New,A1\n"},
    "desk": {},
    "cell": TO_ADA,
    "comment": {**TO_ADA, "text": "Well done"},
    "look": {"person": "ada@x.edu"},
}
WITHOUT_CLASS = ("aside", "version", "delete", "classes")
_NO, _UNKNOWN, _LEFT = "not_allowed", "unknown", "not_member"
# By role, in the order of ROLES.
OF_INSTRUCTORS = (_UNKNOWN, _UNKNOWN, _NO, _UNKNOWN, _NO, _NO, "ok", _UNKNOWN, _LEFT, "ok")
OF_ADMINISTRATORS = (_UNKNOWN, _NO, _NO, _NO, _NO, _NO, _NO, _NO, _NO, "ok")
OF_ADA = (_UNKNOWN, _UNKNOWN, "ok", _UNKNOWN, _NO, _NO, _NO, _UNKNOWN, _LEFT, "ok")
OF_OWNERS = (_UNKNOWN, _UNKNOWN, "ok", _NO, _NO, _NO, _NO, _NO, _UNKNOWN, "ok")
ABOUT_ADA = (_UNKNOWN, _UNKNOWN, "ok", _UNKNOWN, _UNKNOWN, "ok", "ok", _UNKNOWN, _LEFT, "ok")
OF_HER_STAFF = (_UNKNOWN, _UNKNOWN, _NO, _UNKNOWN, _UNKNOWN, "ok", "ok", _UNKNOWN, _LEFT, "ok")
OF_STAFF = (_UNKNOWN, _UNKNOWN, _NO, _UNKNOWN, "ok", "ok", "ok", _UNKNOWN, _LEFT, "ok")
OUTCOMES = {
    **dict.fromkeys(EVENTS, OF_INSTRUCTORS),
    "class": OF_ADMINISTRATORS,
    "version": OF_ADMINISTRATORS,
    "classes": OF_ADMINISTRATORS,
    "hand_in": OF_ADA,
    "notices_read": OF_ADA,
    "aside": OF_OWNERS,
    "delete": OF_OWNERS,
    "grades": OF_STAFF,
    "mistakes": OF_STAFF,
    "desk": OF_STAFF,
    "cell": OF_HER_STAFF,
    "comment": OF_HER_STAFF,
    "look": OF_HER_STAFF,
    "own": ABOUT_ADA,
    "agenda": ABOUT_ADA,
    "results": ABOUT_ADA,
    "deadline": ABOUT_ADA,
    "board": (_UNKNOWN, _UNKNOWN, "ok", _UNKNOWN, "ok", "ok", "ok", _UNKNOWN, _LEFT, "ok"),
}
FOREIGN = {"class_": "C", "person": "who@x.edu", "assignment": "A-0", "id": "h0", "change": "c9", "exercise": "none"}


@pytest.fixture
def asked(school: School) -> School:
    """Give a school in which somebody has an account and belongs to no class."""
    with school.database.write() as session:
        session.execute(text("DELETE FROM memberships WHERE user_id = (SELECT id FROM users WHERE name = 'Nobody')"))
    return school


@pytest.mark.parametrize("do", EVENTS)
def test_each_role_is_answered_by_its_rights_before_anything_else(asked: School, do: str) -> None:
    fields = ASKED[do] if do in WITHOUT_CLASS else {"class_": "A", **ASKED[do]}
    who = sorted(ROLES.items(), key=lambda one: OUTCOMES[do][list(ROLES).index(one[0])] == "ok")
    codes = {}
    for role, by in who:  # those who may not first: what is done once may be refused the second time
        expected = OUTCOMES[do][list(ROLES).index(role)]
        if expected != "ok":
            with asked.unchanged():
                codes[role] = asked.code(by, do, **fields)
            wrong = {
                name: value if name in ("class_", "person", "assignment") else [None] for name, value in fields.items()
            }
            assert asked.code(by, do, **wrong) == expected, f"{role}: the right is looked at before the values"
    assert codes == {role: code for role, code in zip(ROLES, OUTCOMES[do], strict=True) if code != "ok"}


@pytest.mark.parametrize(
    ("do", "role"),
    [(do, role) for do in EVENTS for role, told in zip(ROLES, OUTCOMES[do], strict=True) if told == "ok"],
)
def test_whoever_may_ask_is_answered(school: School, do: str, role: str) -> None:
    fields = ASKED[do] if do in WITHOUT_CLASS else {"class_": "A", **ASKED[do]}
    assert school.code(ROLES[role], do, **fields) == "ok"


@pytest.mark.parametrize("role", ["student of the other class", "instructor of the other class"])
def test_what_is_foreign_is_answered_exactly_as_what_there_is_not(same_school: School, role: str) -> None:
    for do, fields in ASKED.items():
        for foreign in FOREIGN if do not in (*WITHOUT_CLASS, "class") else ():
            here = {"class_": "A", **fields}
            if foreign in here:
                there = {**here, foreign: FOREIGN[foreign]}
                assert same_school.ask(ROLES[role], do, **here) == same_school.ask(ROLES[role], do, **there), do


def test_an_instructor_reaches_nothing_of_another_class_by_way_of_their_own(same_school: School) -> None:
    for do, fields in ASKED.items():
        for name in ("person", "assignment", "change"):
            if (
                do in WITHOUT_CLASS
                or do in ("class", "staff", "import", "assign", "hand_in", "notices_read", "regrade", "whatif")
                or name not in fields
            ):
                continue
            own = {"person": "bea@x.edu", "assignment": "B-1"}
            here = {"class_": "B", **{one: own.get(one, value) for one, value in fields.items()}, name: fields[name]}
            with same_school.unchanged():
                foreign = same_school.ask("bo@x.edu", do, **here)
            unknown = same_school.ask("bo@x.edu", do, **{**here, name: FOREIGN[name]})
            assert foreign == unknown == {"ok": False, "code": "unknown"}, (do, name)


def test_an_assistant_sees_the_people_of_their_sections_and_no_figures(same_school: School) -> None:
    seen = {by: same_school.ask(f"{by}@x.edu", "grades", class_="A") for by in ("one", "two", "iris")}
    assert {by: [each["person"] for each in one["people"]] for by, one in seen.items()} == {
        "one": ["ada@x.edu", "ben@x.edu"],
        "two": ["cleo@x.edu"],
        "iris": ["ada@x.edu", "ben@x.edu", "cleo@x.edu"],
    }
    assert [by for by, one in seen.items() if "statistics" in one] == ["iris"]


def test_an_administrator_with_an_account_hands_in_for_nobody_under_their_own_name(school: School) -> None:
    with school.database.write() as session:
        session.execute(text("UPDATE users SET administrator = TRUE WHERE name = 'Bo'"))
    given = {"class_": "A", "assignment": "A-1", "exercise": "softmax", "id": "new", "score": 80}
    assert school.ask("bo@x.edu", "hand_in", person="ben@x.edu", **given)["practice"] is False
    items = school.ask("ben@x.edu", "own", class_="A", person="ben@x.edu")["own"]["cells"]["A-1"]["items"]
    assert items["softmax"]["attempt"] == "new"
