"""What somebody sees after full marks, and nobody before."""

import tomllib

import pytest
from playwright.sync_api import expect

from grader.examples import read_examples
from grader.exercise.catalog import ROOT, Catalog
from grader.pages.render import solutions_view
from tests.pages.test_journeys import EXERCISE, LATE_MASK, SOLUTION, ready, write

WAYS = tomllib.loads((ROOT / "exercises" / "ways.toml").read_text(encoding="utf-8"))
CATALOG = Catalog.load()


@pytest.mark.parametrize("exercise", CATALOG)
def test_every_exercise_has_two_other_ways_that_are_right(exercise: str):
    """Each is an example with full marks, of which nothing but the code is shown."""
    right = {example.path.stem for example in read_examples(CATALOG[exercise].folder) if example.loses is None}
    shown = solutions_view(CATALOG, CATALOG[exercise], {exercise: 100.0})

    assert len(WAYS.get(exercise, ())) >= 2, f"name two right examples of {exercise} in exercises/ways.toml"
    assert WAYS[exercise].keys() <= right
    assert len(shown["ways"]) == 1 + len(WAYS[exercise])
    assert [way["title"] for way in shown["ways"] if "# verdict" in way["code"] or not way["code"].strip()] == []
    assert shown["next"]["href"] != f"/exercise?ex={exercise}"


def test_nothing_is_shown_before_full_marks():
    """Not for 99.99 points, and not for full marks on another exercise."""
    exercise = CATALOG["softmax"]

    assert solutions_view(CATALOG, exercise, {}) is None
    assert solutions_view(CATALOG, exercise, {"softmax": 99.99, "causal_mask": 100.0}) is None


def test_other_ways_appear_with_full_marks(open_page, person, site):
    """Behind a right answer stand the reference and other ways; behind a wrong one nothing of them is sent."""
    who = person()
    page = ready(open_page(EXERCISE, who))
    write(page, LATE_MASK)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Not accepted yet")).to_be_visible()
    assert "hide_future" not in page.content()
    write(page, SOLUTION)
    page.keyboard.press("Control+Enter")
    page.get_by_text("The reference, in small steps").click()

    expect(page.locator(".gym-solutions")).to_contain_text("def hide_future(scores")
    expect(page.get_by_role("link", name="Next: ")).to_be_visible()
