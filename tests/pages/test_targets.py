"""What is tapped on a phone: 24 pixels in both directions (WCAG 2.2, 2.5.8), and 44 for what matters most."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from grader.pages.routes import COMPARE, PAGES
from grader.store.records import Role
from tests.pages.test_journeys import LATE_MASK, SOLUTION, ready, write

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
LEAST, MAIN = 24, 44  # CSS pixels
# A box with its label counts as one; a link in a sentence is as high as its line; a card is tapped by what covers it.
SMALL = """(least) => {
    const tapped = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=tab], td[tabindex]";
    const sizeOf = (node) => {
        const label = node.matches("input[type=checkbox], input[type=radio]") && node.closest("label");
        const { width, height, right } = (label || node).getBoundingClientRect();
        const over = getComputedStyle(node, "::after");
        const covers = over.position === "absolute" && over.content !== "none";
        return right < 0 ? [0, 0] : covers ? [parseFloat(over.width), parseFloat(over.height)] : [width, height];
    };
    const inSentence = (node) => node.matches("a, button.gym-link")
        && getComputedStyle(node).display.startsWith("inline")
        && [...node.parentElement.childNodes].some((one) => one.nodeType === 3 && /\\p{L}/u.test(one.textContent));
    const small = (node) => {
        const [width, height] = sizeOf(node);
        return width * height > 0 && Math.min(width, height) < least - 0.01;
    };
    return [...document.querySelectorAll(tapped)].filter((node) => node.checkVisibility({ visibilityProperty: true }))
        .filter((node) => !node.closest(".cm-editor") && small(node) && !inSentence(node))
        .map((node) => `${node.outerHTML.slice(0, 90)} ${sizeOf(node)}`);
}"""
GUEST = (*(page.path for page in PAGES), COMPARE, "/sign-in", "/register")
STUDENT = ("/account", "/join")
TEACHER = ("/teach/", "/teach/?list=all&ex=softmax", "/teach/?flag=any", "/teach/class")


def small(page: Page) -> list[str]:
    """Return what is too small on a page with all that is folded open."""
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    return page.evaluate(SMALL, LEAST)


@pytest.mark.parametrize(("role", "paths"), [(None, GUEST), (Role.STUDENT, STUDENT), (Role.INSTRUCTOR, TEACHER)])
def test_everything_on_a_page_can_be_tapped(open_page, person, role, paths):
    """Links, buttons, fields and boxes of every page but an exercise's."""
    page = open_page(paths[0], person(role=role) if role else None, **PHONE)
    for path in paths:
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()

        assert small(page) == [], path


def test_everything_on_the_page_of_an_exercise_can_be_tapped(open_page, person):
    """The statement with its example, values to try, lists, and a report with all of its pictures."""
    page = ready(open_page("/exercise?ex=scaled_dot_product_attention", person(), **PHONE))
    page.locator("#statement .gym-scope").scroll_into_view_if_needed()
    expect(page.locator("#statement .gym-scope").get_by_role("grid")).to_be_visible()
    page.evaluate("gym.write('def scaled_dot_product_attention(q, k, v, mask=None):\\n    return v, k')")
    page.get_by_role("button", name="Try", exact=True).click()
    card = page.get_by_role("region", name="Try", exact=True)
    card.get_by_role("button", name="type other values").first.click()
    card.get_by_role("button", name="draw values").first.click()
    assert small(page) == []
    page.goto("/exercise?ex=causal_attention")
    for code, heading in ((LATE_MASK, "Your mask starts one position too late"), (SOLUTION, "Accepted")):
        write(ready(page), code)
        page.get_by_role("button", name="Run checks").click()
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        assert small(page) == [], heading
    for tab in ("Hints", "My attempts", "Leaderboard"):
        page.get_by_role("tab", name=tab).click()
        assert small(page) == [], tab


def test_everything_about_a_student_can_be_tapped(open_page, person, site):
    """The list, the attempt with its code and report, and what can be changed about the member."""
    who = person()
    site.service.submit(who.user, "softmax", "def softmax(x, dim=-1):\n    return x\n")
    page = open_page("/teach/", person(role=Role.INSTRUCTOR), **PHONE)
    for path in (f"/teach/member?person={who.user.id}", f"/teach/?student={who.user.id}", "/teach/"):
        page.goto(path)
        expect(page.get_by_text(who.user.name).first).to_be_visible()
        assert small(page) == [], path
    page.goto(f"/teach/?student={who.user.id}")
    page.get_by_role("link", name="Softmax").click()
    expect(page.get_by_label("The submitted code")).to_be_visible()

    assert small(page) == []


def test_main_actions_are_large(open_page):
    """To begin, to run and try, to sign in and register, and the bar at the bottom."""
    page = open_page("/", **PHONE)
    actions = {
        "/": [page.get_by_role("link", name="Start with"), page.get_by_role("navigation").get_by_role("link").first],
        "/exercise?ex=softmax": [
            page.get_by_role("button", name="Run checks"),
            page.get_by_role("button", name="Try", exact=True),
            page.get_by_role("tab", name="Hints"),
            page.get_by_role("navigation", name="Parts of this page").get_by_role("button", name="Result"),
        ],
        "/sign-in": [page.get_by_role("button", name="Sign in"), page.get_by_label("Password")],
        "/register": [page.get_by_role("button", name="Register"), page.get_by_label("Name")],
    }
    for path, targets in actions.items():
        page.goto(path)
        for target in targets:
            expect(target).to_be_visible()
            box = target.bounding_box()
            assert min(box["width"], box["height"]) >= MAIN, (path, box)


@pytest.mark.parametrize("width", [320, 390, 768, 844, 1024, 1280])
def test_tabs_and_a_long_name_fit(open_page, person, width: int):
    """A phone on its side showed half of the last tab, and a name was cut without a sign of it."""
    who = person(f"Christopher-Alexander Montgomery {width}")
    page = ready(open_page("/exercise?ex=softmax", who, viewport={"width": width, "height": 390}))
    tabs = page.get_by_role("tablist")
    name = page.locator(".gym-name")

    assert tabs.evaluate("(node) => node.lastChild.getBoundingClientRect().right <= node.getBoundingClientRect().right")
    assert name.evaluate("(node) => [getComputedStyle(node).display, getComputedStyle(node).textOverflow]") == [
        "block",
        "ellipsis",
    ]
