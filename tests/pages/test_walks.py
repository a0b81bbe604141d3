"""Walks through the whole site at three sizes, in both colours: a guest who becomes a student, and an instructor.

At each stop the page fits into the window, has one heading of the first level and a title of its own, and shows nothing
that only programmers can read.
"""

import itertools
import re

import pytest
from playwright.sync_api import Page, expect

from grader.store.records import Role
from tests.pages.conftest import CODE, PASSWORD
from tests.pages.test_journeys import EXERCISE, LATE_MASK, SOLUTION, ready, write

SIZES = [(1280, 900, "light"), (1366, 768, "dark"), (390, 844, "light")]
NUMBERS = itertools.count(1)
RAW = re.compile(r"undefined|\[object|NaN|null,|small/base|Traceback")


def stop(page: Page, titles: set[str], title: str) -> None:
    """Look at a page as it stands: it fits, it is named, and its words are meant for people."""
    expect(page).to_have_title(re.compile(title))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{page.url} is wider than the window"
    assert page.locator("h1:visible").count() == 1
    found = RAW.search(page.inner_text("body"))
    assert found is None, f"{page.url} shows {found and found[0]}"
    assert page.title() not in titles
    titles.add(page.title())


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_a_guest_tries_is_graded_registers_and_compares(open_page, width, height, scheme):
    """From the first page to a right answer, by one mistake, without losing anything on the way."""
    titles: set[str] = set()
    page = open_page("/", viewport={"width": width, "height": height}, color_scheme=scheme)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    stop(page, titles, "Attention Gym")

    page.goto(EXERCISE)
    ready(page)
    stop(page, titles, "Causal attention")
    write(page, LATE_MASK)
    page.get_by_role("button", name="Try", exact=True).click()
    expect(page.get_by_role("region", name="Try", exact=True)).to_contain_text("32 of 40 numbers differ")
    page.get_by_role("button", name="Run checks").click()
    expect(page.get_by_role("heading", name="Your mask starts one position too late")).to_be_visible()
    expect(page.get_by_role("region", name="Try", exact=True)).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    name = f"Walker {next(NUMBERS)} at {width}"
    page.get_by_role("link", name="Keep my work").click()
    expect(page).to_have_title(re.compile("Register"))
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Class code").fill(CODE)
    page.get_by_role("button", name="Register").click()
    ready(page)
    expect(page.locator("#header")).to_contain_text(name)
    write(page, SOLUTION)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    expect(page.get_by_role("heading", name="Compare with yours")).to_be_visible()

    page.get_by_role("tab", name="My attempts").click()
    expect(page.locator("#attempts")).to_contain_text("Your mask starts one position too late")
    page.get_by_role("link", name="Compare with the previous one").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("attempt 1 and attempt 2")
    expect(page.get_by_text("gone", exact=True)).to_be_visible()
    stop(page, titles, "attempt|Compare")

    page.goto("/work")
    expect(page.locator("main, body").first).to_contain_text("Causal attention")
    stop(page, titles, "My work")
    page.goto("/account")
    page.get_by_label("Not at all").check()
    page.get_by_role("button", name="Save the choice").click()
    expect(page.get_by_text("Your choice is saved")).to_be_visible()
    stop(page, titles, "account|Account|Walker")
    page.goto("/leaderboard")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".gym-you")).to_have_count(0)
    stop(page, titles, "Leaderboard")


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_the_keyboard_alone_is_enough(open_page, person, width, height, scheme):
    """From the first link to a graded answer and back into its code, without a mouse."""
    page = ready(open_page(EXERCISE, person(), viewport={"width": width, "height": height}, color_scheme=scheme))
    page.keyboard.press("Tab")
    expect(page.locator(".gym-skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#editor .cm-content")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(LATE_MASK.replace("x.shape[1], x.shape[1]", "length, length"))
    page.keyboard.press("Control+Enter")
    line = page.locator("#report").get_by_role("button", name="line 16").first
    expect(line).to_be_visible()
    line.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#editor .cm-content")).to_be_focused()
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_role("region", name="Try", exact=True)).to_contain_text("line 16")


def test_an_instructor_is_kept_apart_from_students(open_page, person):
    """The pages of the class are not shown to whoever only knows their addresses."""
    page = open_page("/teach/", person(role=Role.INSTRUCTOR))
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    stop(page, set(), "Gradebook|grade|Attention Gym")
