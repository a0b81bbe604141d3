"""Addresses with values that name nothing: a sentence that says so, never a fault, never what another address shows."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from grader.pages.requests import NOTHING, asked_of
from grader.pages.routes import EXERCISE
from grader.store.records import Role
from tests.pages.test_journeys import ready

WRONG = ("abc", "-1", "0", "9" * 30, "", "1e3", "%00", "\u0663", "x" * 300, "1&{}=2")
NO_EXERCISE = ("-1", "x" * 300, "%00", "softmax&ex=causal_mask", "<b>")


def test_a_student_that_is_none_is_nobody(visitor, person):
    """Neither the gradebook nor another student's list nor that of the class is shown in the place of one."""
    with visitor(person(role=Role.INSTRUCTOR)) as client:
        for wrong in WRONG:
            text = client.get(f"/teach/?student={wrong.format('student')}").text
            assert "<h1>Not found</h1>" in text, wrong
            assert "There is no such student." in text, wrong


MISSING = {
    "submission=": "There is no such submission",
    "submission=-1": "There is no such submission",
    "submission=a&submission=b": "There is no such submission",
    "student=abc&best=yes&ex=softmax": "There is no such student.",
    "ex=nothing": "There is no such exercise.",
    "flag=nonsense": "There is no such list.",
    "track=nonsense": "There is no such track; these are all of them.",
    "student=0&track=x": "There is no such student.",
}


def test_what_an_instructor_asks_for_and_is_not_there_is_told(visitor, person):
    """A sentence for each kind of thing, with a way back."""
    with visitor(person(role=Role.INSTRUCTOR)) as client:
        for query, words in MISSING.items():
            assert words in client.get(f"/teach/?{query}").text, query


@pytest.mark.parametrize("path", ["/teach/member?person={}", "/teach/reset"])
def test_forms_about_a_person_who_is_none_are_refused(visitor, person, path: str):
    """By every kind of wrong value, and whatever else is sent."""
    with visitor(person(role=Role.INSTRUCTOR)) as client:
        for wrong in ("abc", "-1", "", "9" * 30, "\u0663", "1&person=2"):
            page = client.get(path.format(wrong)) if "{}" in path else client.post(path, data={"student": wrong})
            assert page.status_code in (400, 403, 404), (wrong, page.status_code)


def test_an_exercise_that_is_none_is_told(open_page, visitor):
    """On its page and on the leaderboard; of two that are named none is chosen in silence."""
    page = open_page(f"/exercise?ex={NO_EXERCISE[0]}")
    expect(ready(page).get_by_text("There is no such exercise; this is the first one.")).to_be_visible()
    with visitor() as guest:
        for wrong in NO_EXERCISE:
            assert "There is no such exercise; this is the first one." in guest.get(f"/exercise?ex={wrong}").text
            board = guest.get(f"/leaderboard?ex={wrong}").text
            assert "There is no such exercise; this is the board of all of them." in board, wrong


def test_an_attempt_that_is_none_is_told(visitor, person, site):
    """Another's, or none: one's own latest is not passed off as it, and nothing is compared."""
    who, other = person(), person()
    foreign = site.service.submit(other.user, "softmax", "x = 1")
    with visitor(who) as client:
        for wrong in ("-1", "x" * 300, foreign):
            event = client.post(
                f"/gradio_api/run/open?ex=softmax&attempt={wrong}", json={"data": [], "session_hash": "abc"}
            )
            assert "There is no such attempt of yours at this exercise" in event.text, wrong
            compared = client.get(f"/compare?attempt={wrong}").text
            assert "<h1>Compare two attempts</h1>" in compared, wrong
            assert "There is no such submission" in compared, wrong


def test_a_value_that_is_there_twice_names_nothing():
    """Nor does one that is too long or cannot be printed; the same one twice is that one, and others are left out."""
    assert asked_of(b"ex=a&ex=a&other=1", EXERCISE) == {"ex": "a"}
    for raw in (b"ex=a&ex=b", b"ex=" + b"x" * 101, b"ex=%00", b"ex=a&ex="):
        assert asked_of(raw, EXERCISE) == {"ex": NOTHING}
