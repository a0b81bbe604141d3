"""Signing in, registering and signing out over HTTP."""

import re

import pytest

from grader.pages.accounts import local
from tests.pages.conftest import CODE, PASSWORD


def test_registering_signs_in_and_leads_on(visitor):
    """After registering, the browser has a session and is where it wanted to be."""
    form = {"name": "Grace H", "password": PASSWORD, "class_code": CODE, "next": "/work"}
    with visitor() as guest:
        answer = guest.post("/register", data=form)

    assert (answer.status_code, answer.headers["location"]) == (303, "/work")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("attention_gym=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie


def test_a_wrong_password_is_said_beside_the_form(visitor, person):
    """The form comes back with the reason and the name, and without a session."""
    who = person()
    with visitor() as guest:
        answer = guest.post("/sign-in", data={"name": who.user.name, "password": "wrong password"})

    assert answer.status_code == 403
    assert "The name or the password is wrong." in answer.text
    assert f'value="{who.user.name}"' in answer.text
    assert "set-cookie" not in answer.headers


def test_a_wrong_class_code_is_refused(visitor):
    """Nobody registers without the code."""
    with visitor() as guest:
        answer = guest.post("/register", data={"name": "Eve", "password": PASSWORD, "class_code": "guess"})

    assert answer.status_code == 403
    assert "class code is wrong" in answer.text
    assert re.search('<input name="class_code" value="guess"[^>]* autofocus>', answer.text)
    assert answer.text.count("autofocus") == 1


def test_a_name_that_is_taken_has_the_focus(visitor, person):
    """It is what the error is about."""
    form = {"name": person().user.name, "password": PASSWORD, "class_code": CODE}
    with visitor() as guest:
        answer = guest.post("/register", data=form)

    assert answer.status_code == 403
    assert re.search('<input name="name"[^>]* autofocus>', answer.text)
    assert answer.text.count("autofocus") == 1


@pytest.mark.parametrize("path", ["/register", "/join"])
def test_a_phone_leaves_a_class_code_as_it_is_typed(path, visitor):
    """Neither capitals nor corrections."""
    with visitor() as guest:
        field = re.search('<input name="class_code"[^>]*>', guest.get(path).text)

    assert field
    assert all(mark in field[0] for mark in ('autocapitalize="off"', 'autocorrect="off"', 'spellcheck="false"'))


def test_the_way_on_keeps_the_exercise():
    """An address of ours stays as it is."""
    assert local("/exercise?ex=causal_attention") == "/exercise?ex=causal_attention"


@pytest.mark.parametrize("path", ["/sign-in", "/register", "/join", "/reset", "/account"])
def test_a_form_that_is_sent_empty_is_answered_by_a_page(path, visitor, person):
    """A field that is left out is an empty one; the answer was a line of JSON."""
    with visitor(person() if path in ("/join", "/account") else None) as browser:
        answer = browser.post(path, content=b"", headers={"Content-Type": "application/x-www-form-urlencoded"})

    assert answer.headers["content-type"].startswith("text/html")
    assert answer.status_code in (303, 403, 422)
