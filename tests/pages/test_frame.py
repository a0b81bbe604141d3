"""What all pages have in common: their header, and rules that are said before anything is refused."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from grader.pages.routes import PAGES
from grader.store.records import Role
from grader.store.tables import INITIAL_CLASS

HEADER = """() => {
    const text = (node) => node.getAttribute("aria-label") || node.textContent.trim();
    return [...document.querySelectorAll(".gym-header :is(a, button):not(.gym-skip)")].map((node) => text(node));
}"""
PLAIN = {
    "guest": ("/", None, ["/sign-in", "/register", "/join", "/reset?token=x"]),
    "student": ("/work", Role.STUDENT, ["/account", "/join", "/sign-in", "/register"]),
    "instructor": ("/teach/", Role.INSTRUCTOR, ["/teach/class", "/teach/member?person=1", "/account", "/sign-in"]),
}
RULED = {
    "register": ("/register", None, {"Name": "2 to 40 characters", "Password": "10 to 200 characters"}),
    "account": ("/account", Role.STUDENT, {"New name": "2 to 40 characters", "New password": "10 to 200 characters"}),
}


@pytest.mark.parametrize("who", PLAIN)
def test_account_pages_have_the_header_of_the_others(open_page, person, who: str):
    """The same links, name and buttons in the same order, for guests, students and instructors."""
    drawn, role, plain = PLAIN[who]
    page = open_page(drawn, person(role=role) if role else None)
    expect(page.locator(".gym-header nav")).to_be_visible()
    wanted = page.evaluate(HEADER)
    page.set_default_timeout(20_000)
    for path in plain:
        body = page.request.get(path).text()  # a refusal with its status would count as an error of the page
        page.set_content(body.partition("<script")[0] + body.rpartition("</script>")[2])

        assert page.evaluate(HEADER) == wanted, path


def test_a_page_that_is_not_there_leads_to_all_others(visitor):
    """For whoever reads it; scripts get one sentence."""
    with visitor() as guest:
        page = guest.get("/nothing", headers={"Accept": "text/html,*/*"})
        line = guest.get("/nothing", headers={"Accept": "*/*"})

    assert (page.status_code, line.status_code, line.text) == (404, 404, "There is nothing here.")
    assert [one.title for one in PAGES if f'<a href="{one.path}">{one.title}</a>' not in page.text] == []
    assert '<a href="/" class="gym-button">All exercises</a>' in page.text
    assert "content-security-policy" in page.headers
    assert "/gym/gym.css" in page.text


def test_a_student_at_the_gradebook_is_told_whose_it_is(visitor, person):
    """Who is signed in and is led to the form again learns why."""
    with visitor(person()) as student:
        answer = student.get("/teach/", headers={"Accept": "text/html"}, follow_redirects=True)

    assert "The gradebook is for instructors" in answer.text


def described(page: Page, label: str) -> str:
    """Return the text that describes a field."""
    field = page.get_by_label(label, exact=True)
    return page.locator(f"#{field.get_attribute('aria-describedby')}").inner_text()


@pytest.mark.parametrize("form", RULED)
def test_rules_stand_beside_their_fields(open_page, person, form: str):
    """Before anything is refused, and for who listens to the page too."""
    path, role, rules = RULED[form]
    page = open_page(path, person(role=role) if role else None)
    for label, words in rules.items():
        assert words in described(page, label)
        assert page.get_by_label(label, exact=True).get_attribute("minlength") == words.split()[0]


def test_a_long_password_is_refused_and_not_cut(open_page):
    """A browser cuts what is pasted at the greatest length, and its owner would never get in with the whole of it."""
    page = open_page("/register")
    page.get_by_label("Password").fill("x" * 201)

    assert len(page.get_by_label("Password").input_value()) == 201


def test_rules_stand_beside_the_fields_that_a_link_or_an_instructor_opens(open_page, person, site):
    """A new password by a link, and another name for a member."""
    teacher, student = person(role=Role.INSTRUCTOR), person()
    page = open_page(f"/teach/member?person={student.user.id}", teacher)
    assert "2 to 40 characters" in described(page, "New name")
    token = site.service.own_account.link_for_student(teacher.user, INITIAL_CLASS, student.user.id)
    page.goto(f"/reset?token={token}")

    assert "10 to 200 characters" in described(page, "New password")
