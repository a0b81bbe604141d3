"""The account page, and links for forgotten passwords, over HTTP and in the browser."""

import html
import re

import pytest
from playwright.sync_api import expect

from grader.exercise.catalog import ROOT
from grader.store.records import Role
from tests.pages.conftest import PASSWORD, wait_for

NEW = "another good password"


def test_the_account_page_is_for_members(visitor):
    """Guests and visitors are led to the form for signing in."""
    with visitor() as guest:
        assert guest.get("/account").headers["location"] == "/sign-in?next=/account"
        guest.post("/visit")
        answer = guest.post("/account", data={"act": "delete", "password": ""})

    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/account")


def test_a_password_is_changed_in_the_form(open_page, visitor, person, site):
    """A wrong current password is told beside the form; the right one changes it, and this browser stays signed in."""
    who = person()
    with visitor(who) as client:
        refused = client.post("/account", data={"act": "password", "password": "a wrong password", "new": NEW})
    page = open_page("/", who)
    page.get_by_role("link", name=who.user.name).click()
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_label("New password").fill(NEW)
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_text("Your password is changed.")).to_be_visible()
    page.goto("/work")

    expect(page.locator(".gym-header")).to_contain_text(who.user.name)
    assert (refused.status_code, "This password is wrong." in refused.text) == (403, True)
    assert site.service.user_of(who.token) is None
    assert site.service.sign_in(who.user.name, NEW, "127.0.0.1")


CHANGES = {
    "password": {"password": PASSWORD, "new": NEW},
    "board": {"board": "name"},
    "name": {"password": PASSWORD, "name": "Somebody Else Entirely"},
    "leave": {},
    "everywhere": {},
    "delete": {"password": PASSWORD},
}


def test_each_change_of_an_account_says_that_it_is_done(visitor, person):
    """Every form of the page ends in a sentence, also those after which nobody is signed in."""
    with visitor(person()) as client:
        forms = set(re.findall(r'name="act" value="(\w+)"', client.get("/account").text))
    said = {}
    for act, fields in CHANGES.items():
        with visitor(person()) as client:
            answer = client.post("/account", data={"act": act, **fields})
        said[act] = re.findall(r'role="status">([^<]+)<', answer.text)

    assert forms == CHANGES.keys()
    assert {act: len(sentences) for act, sentences in said.items()} == dict.fromkeys(CHANGES, 1)


def test_the_account_page_says_what_will_be(visitor, person):
    """Who sees the name, and what leaving the class would do."""
    with visitor(person()) as client:
        text = client.get("/account").text

    assert "leaderboards show it only if you chose your own name there" in text
    assert "After that you are no longer on leaderboards" in text


@pytest.mark.parametrize("path", ["/teach/?student={}", "/teach/member?person={}"])
def test_an_instructor_gives_out_a_link_that_works_once(open_page, person, visitor, site, path):
    """From the student's page in the gradebook, or from the class; the student sets a password and is signed in."""
    student, teacher = person(), person(role=Role.INSTRUCTOR)
    page = open_page(path.format(student.user.id), teacher)
    page.get_by_role("button", name="Link for a new password").click()
    link = page.get_by_label("Link").input_value()
    field = page.get_by_label("Link").evaluate(
        "e => [e.scrollWidth <= e.clientWidth, e.scrollHeight <= e.clientHeight]"
    )
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the link").click()
    expect(page.get_by_role("status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    with visitor() as guest:
        form = guest.get(link)
        token = html.unescape(re.search(r'name="token" value="([^"]+)"', form.text)[1])
        short = guest.post("/reset", data={"token": token, "password": "short"})
        assert (short.status_code, "10 to 200 characters" in short.text) == (403, True)
        done = guest.post("/reset", data={"token": token, "password": NEW})
        again = guest.get(link)

    assert (copied, field) == (link, [True, True])
    assert student.user.name in form.text
    assert site.service.user_of(done.cookies["attention_gym"]) == student.user
    assert (again.status_code, "was used already" in again.text) == (403, True)


def test_only_instructors_get_links_and_only_for_students(visitor, person):
    """Nobody else by the route, no instructor for another one or for somebody unknown, and no page of another site."""
    student, teacher, other = person(), person(role=Role.INSTRUCTOR), person(role=Role.INSTRUCTOR)
    learner, evil = person(role=Role.LEARNER), {"Origin": "https://evil.example"}
    asked = [
        *((who, student, {}) for who in (None, learner, student, person())),
        *((teacher, whose, {}) for whose in (teacher, other, learner)),
        (teacher, student, evil),
    ]
    for who, whose, headers in asked:
        with visitor(who) as client:
            answer = client.post("/teach/reset", data={"student": str(whose.user.id)}, headers=headers)
        assert "/reset?token=" not in answer.text
        assert answer.status_code in (303, 401, 403, 404)
    with visitor(teacher) as client:
        member = client.get(f"/teach/member?person={other.user.id}").text
        assert "Link for a new password" not in member
        shown = client.post("/teach/reset", data={"student": str(student.user.id)}).text
    assert "/reset?token=" in shown
    assert f"For <b>{student.user.name}</b>." in shown  # so that nobody gives one student's link to another


def test_a_student_chooses_how_to_stand_on_leaderboards(open_page, person, site, visitor):
    """A pseudonym first; the choice is shown again, and the board follows it. Nonsense is refused."""
    who = person()
    source = (ROOT / "reference" / "softmax.py").read_text(encoding="utf-8")
    site.service.submit(who.user, "softmax", source)
    wait_for(lambda: site.service.best(who.user) == {"softmax": 100.0})
    board = open_page("/leaderboard?ex=softmax", who)
    (own,) = site.service.boards.of(who.user)
    expect(board.locator(".gym-you")).to_contain_text(own.pseudonym)
    expect(board.get_by_role("table")).not_to_contain_text(who.user.name)
    page = open_page("/account", who)
    expect(page.get_by_label(f"Under a pseudonym: {own.pseudonym}")).to_be_checked()
    page.get_by_label("Under your own name").check()
    page.get_by_role("button", name="Save the choice").click()
    expect(page.get_by_role("status")).to_contain_text("Your choice is saved.")
    expect(page.get_by_label("Under your own name")).to_be_checked()
    board.reload()

    expect(board.locator(".gym-you")).to_contain_text(who.user.name)
    board.set_viewport_size({"width": 390, "height": 844})
    for part in (".gym-scroll", ".gym-choices select"):
        assert board.evaluate("part => document.querySelector(part).getBoundingClientRect().right", part) <= 390, part
    with visitor(who) as client:
        assert client.post("/account", data={"act": "board", "board": "everybody"}).status_code == 403
        client.post("/account", data={"act": "board", "board": "none"})
    board.reload()
    expect(board.get_by_role("heading", level=1)).to_have_text("Softmax")
    expect(board.locator(".gym-you")).to_have_count(0)


def test_a_student_leaves_the_class(open_page, person, visitor):
    """After a tick, so not by mistake; the form is gone then."""
    who = person()
    page = open_page("/account", who)
    leave = page.get_by_role("button", name="Leave the class")
    leave.click()
    expect(leave).to_be_visible()
    page.get_by_label("I want to leave the class").check()
    leave.click()
    expect(page.get_by_role("status")).to_contain_text("You have left the class.")

    expect(leave).to_have_count(0)
    page.goto("/account")
    expect(leave).to_have_count(0)
    with visitor(who) as client:
        assert "You are in no class." in client.post("/account", data={"act": "leave"}).text


def test_a_name_is_changed_in_the_form(open_page, visitor, person, site):
    """What is refused is told beside the form; the header, the board and the export have the new name at once."""
    who, other, teacher = person("Grace Murray"), person(), person(role=Role.INSTRUCTOR)
    with visitor(who) as client:
        form = {"act": "name", "name": other.user.name, "password": PASSWORD}
        taken = client.post("/account", data=form)
        foreign = client.post(
            "/account", data={**form, "name": "Elsewhere"}, headers={"Origin": "https://evil.example"}
        )
    page = open_page("/account", who)
    form = page.locator("form").filter(has=page.get_by_role("button", name="Change the name"))
    form.get_by_label("New name").fill("Grace Brewster")
    form.get_by_label("Password").fill(PASSWORD)
    form.get_by_role("button").click()
    expect(page.get_by_role("status")).to_contain_text("Your name is changed.")
    page.goto("/work")
    expect(page.locator(".gym-header")).to_contain_text("Grace Brewster")
    with visitor(teacher) as client:
        exported = client.get("/teach/export.csv").text

    assert (taken.status_code, "taken, or looks like one" in taken.text, foreign.status_code) == (403, True, 403)
    assert "Grace Brewster" in exported
    assert "Grace Murray" not in exported
    assert site.service.user_of(who.token).id == who.user.id


def test_a_password_manager_knows_whose_password_it_is(open_page, person, site):
    """Each form with a password has the name that it belongs to; nothing fills in the new name by itself."""
    who = person()
    page = open_page("/account", who)
    for act in ("password", "name", "delete"):
        form = page.locator("form", has=page.locator(f"input[name=act][value={act}]"))
        known = form.locator("input[autocomplete=username]")
        expect(known).to_have_value(who.user.name)
        expect(known).to_be_hidden()
    expect(page.get_by_label("New name")).to_have_attribute("autocomplete", "off")
    page.goto(f"/reset?token={site.service.own_account.link_for(who.user.name)}")

    expect(page.locator("input[autocomplete=username]")).to_have_value(who.user.name)


def test_a_deleted_account_leaves_no_drafts_in_the_browser(open_page, person, visitor, site):
    """It takes the password; what was typed is gone from this browser too, and the name can be taken again."""
    who = person()
    page = open_page("/account", who)
    page.evaluate("localStorage.setItem('gym/draft/7/softmax', 'mine')")
    form = page.locator("form", has=page.get_by_role("button", name="Delete my account"))
    with visitor(who) as client:
        refused = client.post("/account", data={"act": "delete", "password": "a wrong password"})
    assert (refused.status_code, "password is wrong" in refused.text) == (403, True)
    form.get_by_label("Password").fill(PASSWORD)
    form.get_by_role("button").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your account is deleted")
    expect(page.locator(".gym-header")).to_contain_text("Sign in")

    assert page.evaluate("localStorage.getItem('gym/draft/7/softmax')") is None
    assert site.service.user_of(who.token) is None
    assert site.service.add_user(who.user.name, PASSWORD, Role.STUDENT).name == who.user.name


def test_a_visitor_who_signs_in_comes_back_to_the_page(open_page):
    """The header's links for visitors hold the address, as the guests' does."""
    page = open_page("/exercise?ex=softmax")
    page.evaluate("fetch('/visit', { method: 'POST' })")
    page.goto("/exercise?ex=causal_mask")
    back = "?next=/exercise%3Fex%3Dcausal_mask"

    expect(page.get_by_role("link", name="Sign in")).to_have_attribute("href", "/sign-in" + back)
    expect(page.get_by_role("link", name="Keep my work")).to_have_attribute("href", "/register" + back)
