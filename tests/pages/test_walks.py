"""Walks through the whole site at two sizes, in both colours: a guest who becomes a student, and an instructor.

At each stop the page fits into the window, has one heading of the first level and a title of its own, and shows nothing
that only programmers can read.
"""

import itertools
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from grader.store import people
from grader.store.records import Role
from grader.store.tables import INITIAL_CLASS
from tests.pages.conftest import CODE, PASSWORD, Person, Site
from tests.pages.test_journeys import EXERCISE, LATE_MASK, SOLUTION, ready, write

SIZES = [(1280, 900, "light"), (390, 844, "dark")]
NUMBERS = itertools.count(1)
RAW = re.compile(r"undefined|\[object|NaN|null,|small/base|Traceback")


def stop(page: Page, titles: set[str], title: str) -> None:
    """Look at a page as it stands: it fits, it is named, and its words are meant for people."""
    expect(page).to_have_title(re.compile(title))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{page.url} is wider than the window"
    assert page.locator("h1:visible").count() == 1
    words = page.inner_text("body")
    # A statement is written by people, and may speak of NaN.
    for statement in page.locator("#statement").all_inner_texts():
        words = words.replace(statement, "")
    found = RAW.search(words)
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
    expect(page.locator(".gym-header")).to_contain_text(name)
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


def press(control: Locator, key: str = "Enter") -> None:
    """Use a control by its key; it is in view then, and whoever has no mouse sees that it is the one."""
    control.focus()
    ring, left, right = control.evaluate(
        """(node) => {
          const style = getComputedStyle(node), box = node.getBoundingClientRect();
          const drawn = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
          return [drawn && node.matches(":focus-visible"), box.left, box.right - innerWidth];
        }"""
    )
    assert ring, f"{control} has the focus, and nothing shows it"
    assert left >= 0 >= right, f"{control} has the focus beside the window"
    control.press(key)


@pytest.fixture
def graded(person, handed_in) -> Person:
    """Return a student with a mistake and a right answer."""
    who: Person = person(f"Walked {next(NUMBERS)}")
    for source in (LATE_MASK, SOLUTION):
        handed_in(who, source)
    return who


@pytest.fixture
def code_of_the_class(site: Site):
    """Give the class code, which counts again afterwards: other tests know it."""
    yield site.service.class_code
    with site.service._database.write() as session:
        people.replace_class_code(session, INITIAL_CLASS, CODE)


def read_attempts(page: Page, who: Person, titles: set[str]) -> None:
    """From the gradebook by a track to a score, to the attempts around it, and to the list of one mistake."""
    name = who.user.name
    stop(page, titles, "^Gradebook ·")
    page.get_by_label("Track").select_option(label="Masks and dropout")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=name))
    expect(page).to_have_title(re.compile("^Gradebook: Masks and dropout ·"))
    stop(page, titles, "^Gradebook: Masks")
    press(row.get_by_role("link", name="100", exact=True))
    expect(page.locator("#attempt")).to_contain_text("Attempt 2 of 2 · full marks")
    stop(page, titles, f"^{name}: Causal attention, attempt 2")
    press(page.get_by_role("link", name="Previous attempt"))
    expect(page.get_by_label("The submitted code")).to_contain_text("diagonal=2")
    stop(page, titles, f"^{name}: Causal attention, attempt 1")
    press(page.get_by_role("link", name="Next attempt"))
    expect(page.get_by_label("The submitted code")).to_contain_text("diagonal=1")
    press(page.locator("#attempt").get_by_role("link", name=name))
    lines = page.locator(".gym-attempts li > a")
    expect(lines).to_have_count(2)
    stop(page, titles, f"^{name} ·")
    page.get_by_label("Exercise").select_option(value=f"/teach/?student={who.user.id}&ex=causal_attention")
    expect(page).to_have_title(re.compile(f"^{name}: Causal attention ·"))
    page.get_by_label("Mistake").select_option(label="Your mask starts one position too late.")
    expect(lines).to_have_count(1)
    stop(page, titles, f"^{name}: Causal attention ·")


def change_members(page: Page, name: str, titles: set[str]) -> None:
    """Draw another class code, remove somebody and take them back."""
    page.goto("/teach/class")
    before = page.locator(".gym-big-code").inner_text()
    stop(page, titles, "^Class and members")
    press(page.get_by_role("checkbox"), "Space")
    press(page.get_by_role("button", name="Draw a new code"))
    expect(page.get_by_role("status")).to_contain_text("This is the new class code.")
    expect(page.locator(".gym-big-code")).not_to_have_text(before)
    press(page.get_by_role("region", name="Members", exact=True).get_by_role("link", name=name))
    stop(page, titles, f"^{name}: role and membership")
    press(page.get_by_label(f"Yes, remove {name}"), "Space")
    press(page.get_by_role("button", name="Remove from the class"))
    expect(page.get_by_role("status")).to_have_text(f"{name} is no longer in the class.")
    press(page.get_by_role("link", name="Class and members"))
    press(page.get_by_role("region", name="Former members").get_by_role("link", name=name))
    press(page.get_by_label(f"Yes, take {name} back"), "Space")
    press(page.get_by_role("button", name="Take back"))
    expect(page.get_by_role("status")).to_have_text(f"{name} is a student of the class now.")


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_an_instructor_reads_attempts_and_changes_the_class(
    open_page, person, graded, code_of_the_class, visitor, width, height, scheme
):
    """From the gradebook to an attempt, to a mistake, to the class, and to a link that gives a new password once."""
    titles: set[str] = set()
    name = graded.user.name
    desk = person(role=Role.INSTRUCTOR)
    page = open_page("/teach/", desk, viewport={"width": width, "height": height}, color_scheme=scheme)
    expect(page.locator("#gradebook")).to_contain_text(code_of_the_class)
    read_attempts(page, graded, titles)
    change_members(page, name, titles)

    press(page.get_by_role("link", name="Submissions"))
    press(page.get_by_role("button", name="Link for a new password"))
    stop(page, titles, "Link for a new password")
    link = page.get_by_label("Link").input_value()
    with visitor() as guest:
        shown = guest.get(link)
    assert (shown.status_code, name in shown.text) == (200, True)


def test_keys_bring_a_control_into_view_as_a_whole(open_page, person, graded):
    """A browser leaves a score where it is that the edge of its table cuts off a little."""
    page = open_page("/teach/?track=Masks+and+dropout", person(role=Role.INSTRUCTOR))
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=graded.user.name))
    score = row.get_by_role("link", name="100", exact=True)
    box = score.bounding_box()
    page.set_viewport_size({"width": int(box["x"] + box["width"] - 9), "height": 900})

    press(score)
