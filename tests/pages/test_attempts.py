"""The lists of attempts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from grader.exercise.catalog import Catalog
from grader.judge.report import Diagnosis, Dimension, Figures, Heatmap, Location, Status, Verdict
from grader.pages import comparison
from grader.pages.gradebook import Asked, addresses_in, list_view
from grader.pages.lists import attempts_view, comparisons, work_line
from grader.store.records import Attempt, ListedAttempt, Role, State, Submission, SubmissionId, User, UserId
from tests.pages.samples import HOSTILE, accepted_report, check, ended_report, failed_report
from tests.pages.test_journeys import HOSTILE as MARKUP
from tests.pages.test_journeys import LATE_MASK, SOLUTION

TO = addresses_in("")
ATTEMPT = Attempt(SubmissionId("s1"), "softmax", 3, 1.0, State.DONE, Status.GRADED, 40.0, nth=3)
LATE, SCALE = "Your mask starts one position too late", "`d_k` is not under a root"


@pytest.mark.parametrize(
    ("attempt", "text"),
    [
        (replace(ATTEMPT, mistakes=(LATE,), begins="Your results become wrong at line 3"), LATE),
        (replace(ATTEMPT, mistakes=(f"{LATE}.", SCALE)), f"two mistakes: {LATE}; {SCALE}"),
        (replace(ATTEMPT, begins="Your results become wrong at line 3"), "Your results become wrong at line 3"),
        (ATTEMPT, "not accepted yet"),
        (replace(ATTEMPT, score=100.0), "full marks"),
        (replace(ATTEMPT, status=Status.REJECTED, nth=0), "could not be run"),
        (replace(ATTEMPT, status=Status.TIMEOUT, score=0.0, begins="Line 3 never ends"), "ran out of time"),
        (replace(ATTEMPT, state=State.RUNNING, status=None, score=None), "being checked"),
    ],
)
def test_an_attempt_is_labelled_with_its_mistake(catalog: Catalog, attempt: Attempt, text: str):
    """By the headline of its report, or where it begins, or what became of it; in both lists."""
    (row,) = attempts_view([attempt])["rows"]

    assert (row["title"], row["text"]) == ("Attempt 3" if attempt.nth else "Not counted", text)
    assert work_line(attempt, catalog)["text"] == f"{row['title'].lower()} · {text}"


def test_a_label_is_cleaned():
    """What a report says may quote a name out of the code."""
    (row,) = attempts_view([replace(ATTEMPT, begins="wrong at `\u202eabc`")])["rows"]

    assert row["text"] == "wrong at `\ufffdabc`"


def test_an_attempt_is_compared_with_the_one_before_it_that_was_checked():
    """At the same exercise; nothing leads on from the first one, or from one that has no result."""
    lines = [("e", 3, None), ("e", 2, Status.GRADED), ("f", 1, Status.GRADED), ("e", 1, Status.REJECTED)]
    attempts = [
        replace(ATTEMPT, id=SubmissionId(f"{exercise}{number}"), exercise=exercise, number=number, status=status)
        for exercise, number, status in lines
    ]

    ada = User(UserId(1), "Ada", Role.STUDENT)
    found = [ListedAttempt(one, ada.id, ada.name) for one in attempts]
    listed = list_view(Asked(student=ada.id), found, Catalog([]), [], owner=ada, to=TO)["rows"]

    assert comparisons(attempts) == {"e2": "/compare?attempt=e2"}
    assert [row["compare"] for row in listed] == [None, "/compare?attempt=e2", None, None]
    assert [row["compare"] for row in attempts_view(attempts)["rows"]] == [None, "/compare?attempt=e2", None, None]


def test_changed_lines_have_their_numbers_in_both_sources():
    """What was taken away, what was put in its place, and three lines around; far ones are left out."""
    before = [f"line {number}" for number in range(1, 21)]
    after = [*before[:9], "other", "more", *before[10:]]

    (block,) = comparison.code("\n".join(before), "\r\n".join(after))["blocks"]

    assert block == [
        [" ", 7, 7, "line 7"], [" ", 8, 8, "line 8"], [" ", 9, 9, "line 9"],
        ["-", 10, None, "line 10"], ["+", None, 10, "other"], ["+", None, 11, "more"],
        [" ", 11, 12, "line 11"], [" ", 12, 13, "line 12"], [" ", 13, 14, "line 13"],
    ]  # fmt: skip
    assert comparison.code("x = 1\n", "x = 1") == {"blocks": [], "text": "The code is the same."}


def test_long_sources_are_not_compared_line_by_line():
    """Whoever hands in thousands of lines keeps nobody waiting."""
    shown = comparison.code("x\n" * (comparison.MOST_LINES + 1), "y")

    assert shown == {"blocks": [], "text": "The code has more than 1000 lines and is not compared line by line."}


def test_points_are_compared_check_by_check():
    """Those that changed, by dimension, with what they were and are; the others are counted."""
    before = replace(
        accepted_report(),
        checks=(
            check("small: mask", Dimension.MASKING, Verdict.FAILED),
            check("small: shape", Dimension.SHAPES, Verdict.PASSED),
            check("large: shape", Dimension.SHAPES, Verdict.PASSED),
        ),
    )
    after = replace(
        before,
        checks=(
            check("small: mask", Dimension.MASKING, Verdict.PASSED),
            check("small: shape", Dimension.SHAPES, Verdict.PASSED),
            check("large: shape", Dimension.SHAPES, Verdict.FAILED),
        ),
    )

    changed = comparison.points(before, after)

    assert [row["cells"] for row in changed["rows"]] == [
        ["Shapes: large: shape", "5/5", "0/5", "\u22125"], ["Masking: small: mask", "0/5", "5/5", "+5"],
    ]  # fmt: skip
    assert changed["text"] == "1 check unchanged."
    assert comparison.points(before, before)["text"] == "No points have changed (3 checks)."
    assert comparison.points(before, ended_report(Status.REJECTED, "no"))["rows"] == []


def test_mistakes_go_come_and_stay():
    """By their names; where a report names none, where its results become wrong; cleaned, as they may quote code."""
    late, scale = (Diagnosis(name, f"Title of {name}", "message", certain=True) for name in ("late", "scale"))
    one = replace(accepted_report(), diagnosis=(late, scale))
    other = replace(accepted_report(), diagnosis=(scale,))
    begins = replace(accepted_report(), location=Location("", "Wrong at \u202e", "message", 3))

    assert comparison.mistakes(one, other) == [
        {"what": "gone", "title": "Title of late"}, {"what": "still there", "title": "Title of scale"},
    ]  # fmt: skip
    assert comparison.mistakes(other, begins) == [
        {"what": "gone", "title": "Title of scale"}, {"what": "new", "title": "Wrong at \ufffd"},
    ]  # fmt: skip
    assert comparison.mistakes(None, accepted_report()) == []
    assert "\u202e" not in str(comparison.mistakes(None, failed_report(HOSTILE)))


def test_maps_stand_in_pairs_and_those_with_wrong_cells_come_first():
    """By what they show; one of which the other attempt has none stands beside nothing."""
    right, wrong = (
        Heatmap("attention", "Weights", "to", "from", ((1.0,),), ((1.0,),), cells) for cells in ((), ((0, 0),))
    )
    other = replace(right, title="Alone")
    blank = Submission(
        id=SubmissionId("s"),
        user=UserId(1),
        exercise="e",
        exercise_version="",
        raw=b"",
        seed=1,
        device="cpu",
        created=1.0,
    )
    before = replace(blank, nth=1, report=shown((other, wrong)))
    after = replace(blank, nth=2, report=shown((right,)))

    pairs = comparison.maps(before, after)

    assert [[one and one["title"] for one in pair] for pair in pairs] == [
        ["Attempt 1: Weights", "Attempt 2: Weights"], ["Attempt 1: Alone", None],
    ]  # fmt: skip
    assert pairs[0][0]["panes"][0]["wrong"] == ((0, 0),)


def shown(heatmaps):
    """Return a report with these maps."""
    return replace(accepted_report(), figures=Figures(heatmaps=heatmaps))


def test_two_attempts_are_compared_from_the_list(open_page, person, handed_in):
    """The button in the list leads to the lines, the mistake that went, and the points that came; markup stays text."""
    who = person()
    for source in (LATE_MASK, f"{SOLUTION}# {MARKUP}\n"):
        handed_in(who, source)
    page = open_page("/work", who)
    page.get_by_role("link", name="Compare with the previous one").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Causal attention: attempt 1 and attempt 2")
    lines = page.get_by_role("region", name="Lines that have changed")
    expect(lines.locator(".gym-minus")).to_contain_text("diagonal=2")
    expect(lines.locator(".gym-plus").first).to_contain_text("diagonal=1")
    expect(lines.locator(".gym-plus").last).to_contain_text(MARKUP)
    expect(page.locator(".gym-changes")).to_have_text(re.compile("^gone.*one position too late"))
    expect(page.get_by_role("img", name=re.compile("^Attempt 1: Attention weights.*11 cells wrong"))).to_be_visible()
    expect(
        page.get_by_role("img", name=re.compile("^Attempt 2: Attention weights.*Every cell is as expected"))
    ).to_be_visible()
    expect(page.get_by_role("region", name="Checks whose points have changed")).to_contain_text("Masking")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("document.querySelector('.gym-sides').getBoundingClientRect().right") <= 390
    assert page.locator("img[src=x]").count() == 0


def test_attempts_of_others_are_not_compared(person, handed_in, site, visitor):
    """Not with their ids in the address, nor beside one's own; an instructor compares those of one student."""
    ada, eve, teacher = person(), person(), person(role=Role.INSTRUCTOR)
    first, second = (handed_in(ada, f"x = {number}\n") for number in (1, 2))
    own = handed_in(eve, "x = 3\n")

    def seen(who, query):
        with visitor(who) as client:
            return client.get(f"/compare?{query}").text

    for query in (f"attempt={second}", f"attempt={own}&before={first}", f"attempt={first}&before={own}"):
        assert "There is no such submission among yours." in seen(eve, query), query
    assert "There is no such submission among yours." in seen(teacher, f"attempt={own}&before={first}")
    assert "There is no attempt before this one" in seen(eve, f"attempt={own}")
    assert "Sign in" in seen(None, f"attempt={second}")
    for who in (ada, teacher):
        compared = seen(who, f"attempt={second}")
        assert re.findall("<code>(x = .)</code>", compared) == ["x = 1", "x = 2"]
        pairs = (f"attempt={first}&before={second}", f"attempt={second}&before={first}")
        assert len({seen(who, pair).partition("<main")[2] for pair in pairs}) == 1
