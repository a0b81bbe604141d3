"""Try: a guest, a member and a phone, over HTTP and in the browser, on the real sandbox."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.pages.test_journeys import EXERCISE, LATE_MASK, SOLUTION, ready, write

RIGHT = """def softmax(x, dim=-1):
    shares = (x - x.amax(dim, keepdim=True)).exp()
    return shares / shares.sum(dim, keepdim=True)
"""


def ask(client, exercise="softmax", **body):
    """Return the answer to a tryout."""
    return client.post(f"/try?ex={exercise}", content=json.dumps(body), headers={"Content-Type": "text/plain"})


def test_a_guest_tries_without_an_account(visitor):
    """The sandbox runs it; no cookie is set, and nothing is stored."""
    with visitor() as guest:
        answer = ask(guest, source=RIGHT, typed={"x": "[[1, 1], [0, 0]]"})
    view = answer.json()

    assert view["right"] is True
    assert view["outputs"][0]["yours"]["cells"] == ["0.5"] * 4
    assert answer.cookies == {}


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import os\n\ndef softmax(x, dim=-1):\n    os._exit(3)\n", "ended its process"),
        ("def softmax(x, dim=-1):\n    while True:\n        pass\n", "stopped after 4 seconds"),
        ("def softmax(x, dim=-1):\n    return open('/etc/passwd').read()\n", "Operation not permitted"),
        ("import torch\nsoftmax = torch.softmax\n", "softmax"),
        ("def softmax(x, dim=-1)\n    return x\n", "SyntaxError"),
        ("", "your file is empty"),
    ],
)
def test_what_code_does_is_told_and_harms_nobody(visitor, source, told):
    """The same walls as for a grading, with less time."""
    with visitor() as guest:
        view = ask(guest, source=source).json()
        assert told in (view.get("message") or view.get("error"))
        assert ask(guest, source=RIGHT).json()["right"] is True


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        '{"source": 1}',
        '{"source": "x", "more": 1}',
        '{"source": "x", "seed": -1}',
        '{"source": "x", "typed": {"x": 1}}',
    ],
)
def test_what_the_page_does_not_send_is_refused(visitor, body):
    """Other fields, other types, and no JSON at all."""
    with visitor() as guest:
        answer = guest.post("/try?ex=softmax", content=body, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 400


def test_another_site_cannot_use_a_visitor(visitor):
    """Nor can a form, whose content type is another one."""
    with visitor() as guest:
        evil = {"Origin": "https://evil.example", "Content-Type": "text/plain"}
        assert guest.post("/try?ex=softmax", content=json.dumps({"source": RIGHT}), headers=evil).status_code == 403
        assert guest.post("/try?ex=softmax", data={"source": RIGHT}).status_code == 415
        assert guest.get("/try?ex=softmax").status_code == 405


@pytest.mark.parametrize("viewport", [(1280, 900), (390, 844)])
def test_try_shows_input_output_and_what_was_expected(open_page, viewport):
    """Shift+Enter in the editor; wrong cells are marked, typed numbers are used, and no attempt is made."""
    page = ready(open_page(EXERCISE, viewport={"width": viewport[0], "height": viewport[1]}))
    write(page, LATE_MASK.replace("        return self", "        print('seen', tuple(x.shape))\n        return self"))
    page.keyboard.press("Shift+Enter")
    card = page.get_by_role("region", name="Try", exact=True)

    expect(card).to_contain_text("32 of 40 numbers differ")
    expect(card.locator("td.gym-out")).to_have_count(32)
    expect(card.locator("pre")).to_have_text("seen (2, 5, 3)\n")
    card.get_by_role("button", name="x: type other values").click()
    card.get_by_role("textbox", name="x: type other values").fill("[[[1, 0, 0]]]")
    page.keyboard.press("Shift+Enter")
    expect(card).to_contain_text("As expected on this example")
    card.get_by_role("textbox").fill("[[[1, 0]")
    page.keyboard.press("Shift+Enter")
    expect(card).to_contain_text("x: a bracket is not closed")
    card.get_by_role("button", name="Undo my values").click()
    expect(card).to_contain_text("32 of 40 numbers differ")
    _draw(page, card)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("tab", name="My attempts").click()
    expect(page.locator("#attempts")).to_contain_text("Sign in to keep your attempts")


def _draw(page, card):
    """Set the cells of an input by keys, by a click and by a drag; all of it is sent, and is there afterwards."""
    card.get_by_role("button", name="x: draw values").click()
    cells = card.get_by_role("grid", name="x batch 0: draw values").get_by_role("gridcell")
    expect(cells.first).to_be_focused()
    page.keyboard.type("-1.5")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    card.get_by_role("group", name="x: value to draw").get_by_role("button", name="2", exact=True).click()
    cells.nth(2).click()
    cells.nth(6).hover()
    page.mouse.down()
    cells.nth(7).hover()
    cells.nth(8).hover()
    page.mouse.up()
    expect(card.locator("output")).to_have_text("x batch 0, row 2, column 2: 2")
    cells.nth(8).press("ArrowUp")
    with page.expect_request("**/try?ex=*") as sent:
        page.keyboard.press("Shift+Enter")
    drawn = json.loads(json.loads(sent.value.post_data)["typed"]["x"])

    assert (drawn[0][0], drawn[0][2]) == ([-1.5, 1, 2], [2, 2, 2])
    expect(cells.nth(5)).to_be_focused()
    expect(cells.first).to_have_text("-1.5")


def test_another_example_and_other_numbers_are_tried(open_page):
    """From the list of examples, and by a button; the right answer is right on all of them."""
    page = ready(open_page(EXERCISE))
    write(page, SOLUTION)
    page.get_by_role("button", name="Try", exact=True).click()
    card = page.get_by_role("region", name="Try", exact=True)
    expect(card).to_contain_text("As expected on this example")
    before = card.locator("td").first.text_content()
    card.get_by_role("button", name="Other numbers").click()
    expect(card.locator("td").first).not_to_have_text(before)
    card.get_by_role("combobox", name="Example").select_option(label="a batch of one, a single token")
    expect(card).to_contain_text("batch 1 \u00d7 time 1 \u00d7 d_out 4")


def test_the_line_of_an_error_is_marked(open_page):
    """And its number leads there, as in a report."""
    page = ready(open_page(EXERCISE))
    write(page, SOLUTION.replace("x.shape[1], x.shape[1]", "length, length"))
    page.keyboard.press("Shift+Enter")
    card = page.get_by_role("region", name="Try", exact=True)

    expect(card).to_contain_text(re.compile("NameError: name 'length' is not defined.*line 16"))
    expect(page.locator("#editor .gym-marked-line")).to_have_text(re.compile("future = "))


def test_what_was_said_of_earlier_code_does_not_stay(open_page, person):
    """A refusal goes with the next edit; the result of a try says that it is about the code before."""
    page = ready(open_page(EXERCISE, person()))
    page.get_by_role("button", name="Run checks").click()
    panel = page.locator("#panel")
    expect(panel).to_contain_text("This is still the starter")
    write(page, SOLUTION)
    expect(panel).not_to_contain_text("This is still the starter")
    page.keyboard.press("Shift+Enter")
    card = page.get_by_role("region", name="Try", exact=True)
    expect(card).to_contain_text("As expected on this example")
    expect(page.locator(".gym-try-old")).to_have_count(0)
    page.keyboard.type("# ")
    expect(page.locator(".gym-try-old")).to_have_count(1)
