"""The stream of a run: what it says to whom, and what the page makes of it."""

import json
import re

import pytest
from playwright.sync_api import expect

from grader.exercise.catalog import ROOT
from tests.pages.test_journeys import EXERCISE, LATE_MASK, SOLUTION, ready, status, write

RIGHT = (ROOT / "reference" / "softmax.py").read_text(encoding="utf-8")
WRONG = RIGHT.replace("return x - x.amax(dim=dim, keepdim=True)", "return x - x.max()")


def parts(answer):
    """Return the name and the line of each part that a stream has sent."""
    events = [event.partition("\ndata:") for event in answer.text.strip().split("\n\n")]
    return [(name.removeprefix("event: "), line.strip()) for name, _, line in events]


@pytest.fixture
def followed(site, visitor, person):
    """Give a function that hands something in and follows it to its end."""

    def follow(source):
        who = person()
        with visitor(who) as client:
            return client.get(f"/runs/{site.service.submit(who.user, 'softmax', source)}")

    return follow


def test_a_stream_ends_with_the_report_and_what_it_changes(followed):
    """The panel comes again and again, then the report, the title, the attempts and the board, then the end."""
    answer = followed(RIGHT)
    told = parts(answer)
    names = [name for name, _ in told]

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert set(names[:-5]) == {"panel"}
    assert names[-5:] == ["report", "title", "attempts", "board", "end"]
    assert json.loads(told[-6][1])["phase"] == "passed"
    assert json.loads(told[-5][1])["score"] == "100"


def test_a_wrong_answer_is_told_its_points_before_their_cause(followed):
    """The report comes twice: its points at once, and the mistake as soon as it is known."""
    reports = [json.loads(line) for name, line in parts(followed(WRONG)) if name == "report"]
    verdict, whole = reports

    assert verdict["score"] == whole["score"] != "100"
    assert (verdict["groups"], verdict["maps"]) == (whole["groups"], whole["maps"])
    assert [one["title"] for one in verdict["causes"]][-1] == "Looking for the cause"
    (cause,) = whole["causes"]
    assert cause["title"].startswith("You subtract the largest score of the whole tensor")


def test_a_run_that_is_over_is_told_at_once(site, visitor, person):
    """Whoever comes late, or once more after the connection broke, gets the end."""
    who = person()
    id = site.service.submit(who.user, "softmax", RIGHT)
    with visitor(who) as client:
        first, again = (parts(client.get(f"/runs/{id}")) for _ in range(2))

    assert again == first[-6:]


def test_guests_and_strangers_are_told_in_a_sentence(site, visitor, person):
    """A guest is asked to sign in; somebody else learns nothing; both streams end."""
    id = site.service.submit(person().user, "softmax", "x = 1")
    with visitor() as guest, visitor(person()) as other:
        asked, refused = parts(guest.get(f"/runs/{id}")), parts(other.get(f"/runs/{id}"))

    assert [name for name, _ in asked] == [name for name, _ in refused] == ["panel", "end"]
    assert "Sign in" in asked[0][1]
    assert "There is no such submission among yours." in refused[0][1]


def test_pressing_the_button_shows_at_once(open_page, person):
    """The panel says that the code is on its way before the server has said anything."""
    page = ready(open_page(EXERCISE, person()))
    page.route(re.compile("/gradio_api/run/"), lambda route: None)  # never answered
    write(page, SOLUTION)
    page.get_by_role("button", name="Run checks").click()

    expect(status(page)).to_contain_text("Sending your code")
    expect(page.get_by_role("button", name="Run checks")).to_be_enabled()


def test_lists_in_tabs_that_were_never_opened_are_up_to_date(open_page, person):
    """Gradio draws a tab when it is opened first; it shows the attempt that was made meanwhile."""
    page = ready(open_page(EXERCISE, person()))
    verdicts = {"Not accepted yet": LATE_MASK, "Accepted": SOLUTION}
    for number, (verdict, source) in enumerate(verdicts.items(), 1):
        write(page, source)
        page.get_by_role("button", name="Run checks").click()
        expect(page.get_by_role("heading", name=verdict, exact=True)).to_be_visible()
        page.get_by_role("tab", name="My attempts").click()

        expect(page.get_by_role("button", name=re.compile(r"Attempt \d"))).to_have_count(number)


def test_a_page_does_not_move_under_a_pointer_that_presses(open_page, person):
    """A verdict is brought into view, but not while a click is being made elsewhere: it would be lost."""
    page = ready(open_page(EXERCISE, person(), viewport={"width": 1280, "height": 560}))
    write(page, LATE_MASK)
    page.get_by_role("button", name="Run checks").click()
    page.get_by_role("tab", name="My attempts").hover()
    page.mouse.down()
    expect(page.get_by_role("heading", name="Not accepted yet", exact=True)).to_be_visible()
    page.wait_for_timeout(300)  # longer than a page waits before it moves
    page.mouse.up()

    expect(page.get_by_role("button", name="Attempt 1")).to_be_visible()


def test_a_stream_that_breaks_is_taken_up_again(site, browser, person):
    """The browser connects anew by itself, and the page goes on where things stand."""
    context = browser.new_context(base_url=site.url, reduced_motion="reduce")
    context.add_cookies([{"name": "attention_gym", "value": person().token, "url": site.url}])
    page = context.new_page()
    page.goto(EXERCISE)
    ready(page)
    page.route(re.compile("/runs/"), lambda route: route.abort(), times=1)
    write(page, SOLUTION)
    page.get_by_role("button", name="Run checks").click()

    expect(status(page)).to_contain_text(re.compile(r"Done: all \d+ checks passed"))
    context.close()
