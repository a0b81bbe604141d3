"""Journeys through the pages in a real browser, on the real sandbox, store and exercises."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from grader.store.records import Role
from tests.pages.conftest import CODE, PASSWORD

EXERCISE = "/exercise?ex=causal_attention"
ROOT = Path(__file__).parents[2]
EXERCISES, REFERENCES = ROOT / "exercises", ROOT / "reference"
SLOW = "import time\n\ntime.sleep(6)\n"
SOLUTION = """import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
        future = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), diagonal=1)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        return self.dropout(weights) @ v
"""
LATE_MASK = SOLUTION.replace("diagonal=1", "diagonal=2")


def ready(page: Page) -> Page:
    """Wait until the editor holds the exercise's code."""
    expect(page.locator("#editor")).to_have_attribute("data-ready", "yes")
    return page


def write(page: Page, source: str) -> None:
    """Replace what is in the editor as a paste would."""
    page.locator("#editor .cm-content").focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


def source(page: Page) -> str:
    """Return what is in the editor."""
    return page.evaluate("gym.source()")


def status(page: Page):
    """Return the run panel."""
    return page.get_by_role("group", name="Run", exact=True)


def running(open_page, person) -> Page:
    """Return the page of somebody whose code takes long, just after the click."""
    page = ready(open_page(EXERCISE, person()))
    write(page, SLOW)
    page.get_by_role("button", name="Run checks").click()
    return page


def test_a_right_solution_is_accepted(open_page, person, site):
    """Code goes in, one click, 100 of 100 comes out; the exercise is ticked and the student ranked."""
    who = person()
    page = ready(open_page(EXERCISE, who))
    write(page, SOLUTION)
    page.get_by_role("button", name="Run checks").click()

    expect(status(page)).to_contain_text(re.compile(r"Done: all \d+ checks passed"))
    expect(page.get_by_role("img", name="100 of 100 points")).to_be_visible()
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    expect(page.get_by_role("img", name="solved")).to_be_visible()
    page.get_by_role("tab", name="Leaderboard").click()
    (own,) = site.service.boards.of(who.user)
    expect(page.locator(".gym-you")).to_contain_text(re.compile(f"{own.pseudonym}.*you"))
    expect(page.locator("#board")).not_to_contain_text(who.user.name)


# Whether all of the first such element is within the window.
IN_VIEW = """selector => {
    const box = document.querySelector(selector)?.getBoundingClientRect();
    return box && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (1366, 768), (390, 844)])
def test_a_result_stands_in_view_after_a_run(width, height, open_page, person):
    """Nobody has to scroll for the score and the mistake; a wide window shows the picture and the statement, too."""
    page = ready(open_page(EXERCISE, person(), viewport={"width": width, "height": height}))
    write(page, LATE_MASK)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Your mask starts one position too late")).to_be_visible()

    for part in (".gym-dial", ".gym-cause", *([".gym-lead-card canvas"] if width > 1000 else [])):
        page.wait_for_function(IN_VIEW, arg=part)
    if width > 1000:
        assert page.evaluate("document.getElementById('left').getBoundingClientRect().top") >= 0


def test_a_row_of_my_work_opens_that_attempt(open_page, person):
    """Its code and its report are shown; code that was typed since is replaced only if one says so."""
    page = ready(open_page(EXERCISE, person()))
    write(page, LATE_MASK)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Your mask starts one position too late")).to_be_visible()
    write(page, SOLUTION)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Accepted", exact=True)).to_be_visible()
    page.goto("/work")
    expect(page.get_by_role("link", name=re.compile("attempt 2"))).to_contain_text("full marks")
    expect(page.get_by_role("link", name=re.compile("attempt 1"))).to_contain_text("one position too late")
    page.get_by_role("link", name=re.compile("attempt 1")).click()
    page.get_by_role("button", name="Keep it as it is").click()
    expect(page.get_by_role("heading", name="Not accepted yet")).to_be_visible()
    assert source(page) == SOLUTION
    page.reload()
    page.get_by_role("button", name="Open the attempt").click()
    page.wait_for_function("gym.source().includes('diagonal=2')")

    assert source(page) == LATE_MASK


def test_a_second_click_during_a_run_sends_nothing(open_page, person):
    """Run checks waits for the end of the run, by click and by key, and keeps its focus."""
    page = running(open_page, person)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Run checks").click(force=True)
    page.get_by_role("button", name="Run checks").press("Enter")
    assert sent == []
    page.get_by_role("button", name="Cancel").click()
    expect(status(page)).to_contain_text("Cancelled.")


def test_another_tab_shows_the_submission_that_is_in_its_way(open_page, person):
    """Its progress, and Cancel; the code that was not taken is told of above itself until it is sent."""
    page = ready(open_page(EXERCISE, person()))
    other = page.context.new_page()
    ready(other.goto(EXERCISE) and other)
    write(page, SLOW)
    page.get_by_role("button", name="Run checks").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    write(other, SOLUTION)
    other.get_by_role("button", name="Run checks").click()
    expect(other.locator(".gym-code-note")).to_contain_text("This code was not sent")
    other.get_by_role("button", name="Cancel").click()
    for tab in (page, other):
        expect(status(tab)).to_contain_text("Cancelled.")
    other.get_by_role("button", name="Run checks").click()

    expect(other.get_by_role("heading", name="Accepted")).to_be_visible()
    expect(other.locator(".gym-code-note")).to_be_empty()


def test_heads_and_differences_can_be_looked_at(open_page, person, site):
    """Each head has a button, the difference to what is expected too, and keys read the cell of what is shown."""
    who = person()
    wrong = (EXERCISES / "multi_head_attention" / "examples" / "wrong_added_mask.py").read_text(encoding="utf-8")
    page = ready(open_page("/exercise?ex=multi_head_attention", who))
    page.evaluate("() => { const make = gym.parts.report; gym.parts.report = (...all) => make(...(last = all)); }")
    write(page, wrong)
    page.keyboard.press("Control+Enter")
    figure = page.locator("figure.gym-map").first
    figure.get_by_role("button", name="head 1").click()
    figure.get_by_role("button", name="Difference").click()
    figure.get_by_role("img").press("ArrowRight")

    expect(figure.get_by_role("button", name="head 1")).to_have_attribute("aria-pressed", "true")
    expect(figure.get_by_role("button", name="Yours")).to_have_attribute("aria-pressed", "false")
    expect(figure.locator("output")).to_contain_text(re.compile(r"row 0, column 0: yours \d\.\d+, expected 1\.000"))

    # As when the cause comes later than the verdict.
    page.evaluate("gym.redraw(last[2], () => gym.parts.report(...last))")
    page.keyboard.press("ArrowRight")
    expect(figure.get_by_role("button", name="head 1")).to_have_attribute("aria-pressed", "true")
    expect(figure.locator("output")).to_contain_text("row 0, column 1")


def test_a_curve_is_read_by_keys(open_page, person):
    """Left and right go from point to point, and each line says its number."""
    page = ready(open_page("/exercise?ex=gradient_descent", person()))
    write(page, (REFERENCES / "gradient_descent.py").read_text(encoding="utf-8"))
    page.keyboard.press("Control+Enter")
    figure = page.locator("figure.gym-curve")
    expect(figure.locator("canvas")).to_be_visible()
    figure.get_by_role("img").press("ArrowRight")
    figure.get_by_role("img").press("ArrowRight")

    expect(figure.locator("output")).to_contain_text(re.compile(r"point 1: yours (\S+), expected \1"))


def test_an_address_without_an_exercise_is_told(open_page):
    """The first exercise is shown, with a sentence that says so and the way to all others."""
    page = ready(open_page("/exercise?ex=nonsense"))
    expect(page.locator("#title").get_by_text("There is no such exercise; this is the first one.")).to_be_visible()
    page.locator("#title").get_by_role("link", name="All exercises").click()

    page.wait_for_url("**/")


@pytest.mark.parametrize("end", ["Enter", "Tab"])
def test_the_picker_is_stepped_through_by_keys(end, open_page):
    """An arrow chooses without leaving the page; Enter leads there, and so does going on."""
    page = ready(open_page("/exercise?ex=softmax"))
    picker = page.get_by_label("Go to")
    picker.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(picker).to_be_focused()
    chosen = picker.evaluate("(select) => select.value")
    assert page.url.endswith("/exercise?ex=softmax")
    assert chosen != "/exercise?ex=softmax"
    page.keyboard.press(end)

    page.wait_for_url(f"**{chosen}")


def test_on_a_phone_one_track_is_open(open_page):
    """The other tracks are folded, and open by a touch."""
    page = open_page("/", viewport={"width": 390, "height": 844})
    expect(page.get_by_role("link", name="1. Softmax", exact=True).first).to_be_visible()
    labs = page.locator("details.gym-track").last
    expect(labs.get_by_role("link").first).to_be_hidden()
    labs.locator("summary").click()

    expect(labs.get_by_role("link").first).to_be_visible()


def test_a_visitor_runs_checks_and_keeps_the_work_on_registering(open_page, site, person):
    """Without an account the checks run; after registering, code, report and attempt are there under the new name."""
    page = ready(open_page(EXERCISE))
    write(page, SOLUTION)
    page.get_by_role("button", name="Run checks").click()
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    page.reload()
    page.get_by_role("link", name="Keep my work").click()
    page.get_by_label("Name").fill("Guest No More")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Register").click()

    ready(page)
    assert source(page) == SOLUTION
    expect(page.locator(".gym-header")).to_contain_text("Guest No More")
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    teacher = person(role=Role.INSTRUCTOR).user
    assert "Guest No More" not in [line.name for line in site.service.leaderboard("causal_attention", teacher)]
    page.goto("/work")
    page.get_by_role("link", name="Join a class").click()
    page.get_by_label("Class code").fill(CODE)
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("link", name="Causal attention")).to_be_visible()
    assert "Guest No More" in [line.name for line in site.service.leaderboard("causal_attention", teacher)]


def test_a_run_is_watched_again_after_a_reload_and_can_be_cancelled(open_page, person):
    """Reloading the page while a submission runs shows it running; Cancel ends it."""
    page = running(open_page, person)
    busy = re.compile("In line|Starting|Checking")
    expect(status(page)).to_contain_text(busy)
    page.reload()
    expect(status(page)).to_contain_text(busy)
    page.get_by_role("button", name="Cancel").click()

    expect(status(page)).to_contain_text("Cancelled. Nothing was counted.")
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()


HOSTILE = "<img src=x onerror=alert(1)>${alert(2)}"


def test_the_choice_of_dark_outlives_the_page(open_page):
    """Once switched, every page is dark, whatever the system says."""
    page = open_page("/", color_scheme="light")
    page.get_by_role("button", name="Switch between light and dark").click()
    page.goto("/sign-in")

    assert page.evaluate("document.body.classList.contains('dark')")


def test_a_rejected_file_costs_nothing_and_says_why(open_page, person):
    """The reason and its price stand where the score would be."""
    page = ready(open_page(EXERCISE, person()))
    write(page, "def f(:\n")
    page.get_by_role("button", name="Run checks").click()

    expect(page.get_by_label("Result")).to_contain_text("No attempt was used.")
    expect(page.locator("#report")).to_contain_text("SyntaxError")
    expect(page.get_by_role("img", name="of 100 points")).to_have_count(0)


@pytest.mark.parametrize("path", ["/", "/sign-in"])
def test_every_page_says_what_submissions_run_in(path, open_page, site):
    """The footer names the box and its tier, and so also where somebody has accepted one wall."""
    foot = open_page(path).get_by_role("contentinfo")
    expect(foot).to_contain_text(f"Submissions run in a {site.service.box_name}.")
    expect(foot).to_contain_text("Tier A has every layer of protection, B two kinds, C one.")


def test_the_editor_is_worked_with_by_keys_and_buttons(open_page):
    """Enter indents and dedents, Tab fills up to four, Escape lets Tab leave; the starter comes back if one says so."""
    page = ready(open_page(EXERCISE))
    starter = source(page)
    page.locator("#editor .cm-content").focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Run checks")).to_be_focused()
    write(page, "")
    page.keyboard.type("def f(x):\nif x:\nreturn 1\nx")
    page.keyboard.press("Tab")
    page.keyboard.type("y\n")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("z")
    typed = "def f(x):\n    if x:\n        return 1\n    x   y\nz"
    assert source(page) == typed
    page.get_by_role("button", name="Reset to starter").click()
    page.get_by_role("button", name="Keep it as it is").click()
    assert source(page) == typed
    page.get_by_role("button", name="Reset to starter").click()
    page.get_by_role("dialog").get_by_role("button", name="Reset to starter").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert source(page) == starter
    # The editor holds a notebook as it was sent, so the second line of a cell is another one there.
    drawn = page.evaluate("gym.rich('see cell 3, line 2, and line 14').map((one) => one.outerHTML ?? one)")
    assert drawn == ["see cell 3, line 2, and ", '<button type="button" class="gym-link">line 14</button>']


def test_a_wrong_solution_is_told_its_mistake_again_after_a_reload(open_page, person):
    """Ctrl+Enter runs; the diagnosis and the red cells of the map say what is wrong; the checks below are folded."""
    page = ready(open_page(EXERCISE, person()))
    write(page, LATE_MASK)
    page.keyboard.press("Control+Enter")
    mistake = page.get_by_role("heading", name="Your mask starts one position too late")
    expect(mistake).to_be_visible()
    expect(page.get_by_role("heading", name="Not accepted yet")).to_be_visible()
    expect(page.locator("details.gym-group:not([open])").first).to_contain_text("failed")
    matrix = page.get_by_role("img", name=re.compile("Arrow keys read the cells")).first
    matrix.focus()
    matrix.press("ArrowRight")
    matrix.press("ArrowRight")
    read = page.locator(".gym-map output").first
    expect(read).to_contain_text(re.compile(r"row 0, column 1: yours .* expected 0\.000 ✕"))
    page.reload()
    expect(mistake).to_be_visible()
    expect(status(page)).to_contain_text("Below is attempt 1 again.")
    page.goto("/leaderboard")
    page.go_back()

    expect(mistake).to_be_visible()
