"""What an instructor sees and does: an attempt with its report, the class, its code and its members."""

import re

import pytest
from playwright.sync_api import expect

from grader.store.records import Role, State
from tests.pages.conftest import SECONDS, wait_for
from tests.pages.test_journeys import LATE_MASK, SOLUTION

BOX = "(node) => (({left, top, right, bottom}) => ({left, top, right, bottom}))(node.getBoundingClientRect())"


@pytest.fixture
def handed_in(site):
    """Give a function that hands something in, and returns its id once it is graded."""

    def hand_in(who, source, exercise="causal_attention"):
        id = site.service.submit(who.user, exercise, source)

        def ready():
            found = site.service.submission(who.user, id)
            return found.state is State.DONE and found.report.complete

        wait_for(ready, SECONDS)
        return id

    return hand_in


@pytest.mark.parametrize(("width", "beside"), [(1280, True), (1000, True), (999, False), (390, False)])
def test_code_stands_beside_its_report(open_page, person, handed_in, *, width, beside):
    """In two columns where there is room for them, else the code above the report; nothing is wider than the page."""
    id = handed_in(person(), LATE_MASK)
    desk = open_page(f"/teach/?submission={id}", person(role=Role.INSTRUCTOR), viewport={"width": width, "height": 844})
    expect(desk.get_by_role("heading", name="Not accepted yet")).to_be_visible()
    code, report = (desk.locator(place).evaluate(BOX) for place in (".gym-source", "#report .gym-report"))

    if beside:
        assert code["right"] < report["left"]
        assert abs(code["top"] - report["top"]) < 3
    else:
        assert code["bottom"] < report["top"]
        assert abs(code["left"] - report["left"]) < 3
    assert desk.evaluate("document.documentElement.scrollWidth") == width


def test_code_that_is_read_has_colours_and_a_note_at_the_line_of_the_mistake(open_page, person, handed_in):
    """Words of Python have their colours; the line that the report names says why, and is found from the report."""
    id = handed_in(person(), LATE_MASK)
    desk = open_page(f"/teach/?submission={id}", person(role=Role.INSTRUCTOR))
    lines = desk.get_by_label("The submitted code").get_by_role("listitem")

    expect(lines.first.locator(".tok-keyword")).to_have_text("import")
    expect(lines).to_have_count(len(LATE_MASK.splitlines()))
    noted = desk.locator(".gym-noted")
    expect(noted).to_have_count(1)
    expect(noted).to_contain_text("scores.masked_fill")
    expect(noted).to_contain_text("Your mask starts one position too late")
    desk.get_by_role("button", name="line 17").click()
    expect(desk.locator(".gym-here")).to_have_attribute("id", "line-17")


def test_an_instructor_goes_from_attempt_to_attempt(open_page, person, handed_in):
    """To the one before and the one after it, of the same student at the same exercise; the tab says which it is."""
    who, other = person("Maria Agnesi"), person()
    handed_in(who, "def softmax(x, dim=-1):\n    return x\n", "softmax")
    first = handed_in(who, LATE_MASK)
    handed_in(other, LATE_MASK)
    handed_in(who, SOLUTION)
    desk = open_page(f"/teach/?submission={first}", person(role=Role.INSTRUCTOR))
    way = desk.get_by_role("navigation", name="Attempts")
    expect(desk).to_have_title("Maria Agnesi: Causal attention, attempt 1 · Attention Gym")
    expect(desk.locator("#attempt")).to_contain_text("Attempt 1 of 2 · not accepted yet")
    expect(way.get_by_role("link")).to_have_text([re.compile("Next attempt")])
    way.get_by_role("link", name="Next attempt").click()
    expect(desk.locator("#attempt")).to_contain_text("Attempt 2 of 2 · accepted")
    expect(desk.get_by_label("The submitted code")).to_contain_text("diagonal=1")
    expect(way.get_by_role("link")).to_have_text([re.compile("Previous attempt")])
    way.get_by_role("link", name="Previous attempt").click()

    expect(desk.get_by_label("The submitted code")).to_contain_text("diagonal=2")


HOSTILE = "'''</code><img src=x onerror=alert(1)>${alert(2)}'''\n# \u202e<script>alert(3)</script>\nraise ValueError\n"


def test_hostile_code_is_shown_to_an_instructor_and_not_obeyed(open_page, person, handed_in):
    """Markup in code stays text, in colours too; what turns the line around is shown as a mark."""
    id = handed_in(person(), HOSTILE)
    desk = open_page(f"/teach/?submission={id}", person(role=Role.INSTRUCTOR))

    expect(desk.locator("#line-1 .tok-string")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(desk.locator("#line-2")).to_contain_text("\ufffd<script>alert(3)</script>")
    assert desk.locator("img[src=x]").count() == 0
