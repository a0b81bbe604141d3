"""What somebody hears who listens to the page, and what the panel says of code that was changed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from grader.exercise.catalog import Catalog
from grader.judge.report import Dimension, PartialReport, Status, Verdict
from grader.judge.sheet import draw_up
from grader.pages.catalogue import facts
from grader.pages.render import report_view
from grader.pages.run_status import opened_view, watch_view
from grader.pages.wording import count
from grader.store.records import State, Watch
from tests.pages.conftest import Site
from tests.pages.samples import accepted_report, check, ended_report, failed_report
from tests.pages.test_journeys import EXERCISE, LATE_MASK, SOLUTION, ready, write
from tests.pages.test_loading_files import load

MASKING = frozenset({Dimension.MASKING})
SHOWN = (check("a", Dimension.SHAPES, Verdict.PASSED), check("b", Dimension.SHAPES, Verdict.FAILED))
LISTEN = """() => {
    window.heard = [];
    const hear = (changes) => {
        for (const place of new Set(changes.map(({target: at}) => (at.nodeType === 1 ? at : at.parentElement)))) {
            const live = place?.closest("[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]");
            if (live?.textContent) window.heard.push(live.textContent);
        }
    };
    new MutationObserver(hear).observe(document.body, {childList: true, subtree: true, characterData: true});
}"""


def test_a_verdict_is_heard_once_and_no_tick_is(open_page, person):
    """The score and the number of failed checks; nothing of the progress, and nothing again with the cause."""
    page = ready(open_page(EXERCISE, person()))
    write(page, LATE_MASK)
    page.evaluate(LISTEN)
    page.get_by_role("button", name="Run checks").click()
    expect(page.get_by_role("heading", name="Your mask starts one position too late")).to_be_visible()
    page.wait_for_function("window.heard.some((text) => text.startsWith('Not accepted yet'))")
    heard = page.evaluate("window.heard")
    score = page.locator(".gym-dial strong").inner_text()
    verdicts = [text for text in heard if text != "Sending your code"]

    assert len(verdicts) == 1
    assert verdicts[0].startswith(f"Not accepted yet: {score} of 100 points. ")
    assert " checks failed" in verdicts[0]


def test_what_is_heard_says_score_and_failed_checks():
    """Skipped checks are told apart; what cost no attempt says so; a run under way says nothing."""
    skipped = check("small: mask", Dimension.MASKING, Verdict.SKIPPED)
    wrong = replace(failed_report(), checks=(*failed_report().checks, skipped))
    said = [
        watch_view(Watch(State.DONE, report=report))["said"]
        for report in (accepted_report(), wrong, ended_report(Status.TIMEOUT, ""), ended_report(Status.REJECTED, "no"))
    ]

    assert said == [
        "Accepted: 100 of 100 points. 0 of 1 check failed.",
        "Not accepted yet: 66.67 of 100 points. 1 of 4 checks failed, 1 skipped.",
        "Your code ran out of time: 0 of 100 points.",
        "Your code could not be run. No attempt was used.",
    ]
    assert [watch_view(Watch(State.RUNNING, step="s", done=at, total=9))["said"] for at in (1, 2)] == ["", ""]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (None, "Handed in. Your class shows the result later."),
        (PartialReport(MASKING), "Handed in. Your class shows the result later."),
        (PartialReport(MASKING, SHOWN), "Done: 1 of 2 checks passed; your score is shown later"),
        (PartialReport(MASKING, SHOWN[:1]), "Done: 1 of 1 check passed; your score is shown later"),
        (PartialReport(MASKING, status=Status.REJECTED, reason="no"), "Your code could not be run"),
    ],
)
def test_of_a_result_that_is_hidden_the_visible_checks_are_told(part, said):
    """No score; what is hidden is not counted."""
    assert watch_view(Watch(State.SEALED, part=part))["said"] == said


def test_a_report_says_when_it_is_about_other_code(open_page, person, site: Site):
    """After each way in which the editor or the report gets something else, the report says so exactly if it does."""
    who = person()
    page = ready(open_page(EXERCISE, who))
    said = page.locator("#report .gym-edited")

    def another_attempt(number: int) -> None:
        page.get_by_role("tab", name="My attempts").click()
        page.get_by_role("button", name=f"Attempt {number}").click()
        page.get_by_role("button", name="Open this attempt").click()

    def checked(text: str, heading: str) -> None:
        write(page, text)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("heading", name=heading)).to_be_visible()

    def reloaded() -> None:
        page.evaluate("gym.save()")
        ready(page.reload() and page)

    def reset() -> None:
        page.get_by_role("button", name="Reset to starter").click()
        page.get_by_role("dialog").get_by_role("button", name="Reset to starter").click()

    def loaded() -> None:
        load(page, "mine.py", b"loaded = 1\n")

    def changed_elsewhere() -> None:
        page.evaluate("gym.save()")
        key = next(key for key in page.evaluate("Object.keys(localStorage)") if key.endswith("causal_attention"))
        other = page.context.new_page()
        other.goto("/sign-in")
        other.evaluate("([key, line]) => localStorage.setItem(key, line)", [key, '{"text": "y = 3", "base": 0}'])
        page.locator("#editor").get_by_role("button", name="Use that version").click()

    ways = {
        "a run": (lambda: checked(LATE_MASK, "Your mask starts one position too late"), 1, False),
        "an edit": (lambda: write(page, SOLUTION), 1, True),
        "a try": (lambda: page.keyboard.press("Shift+Enter"), 1, True),
        "a reload with a draft": (reloaded, 1, True),
        "the same code again": (lambda: write(page, LATE_MASK + "\n\n"), 1, False),
        "the starter": (reset, 1, True),
        "a file": (loaded, 1, True),
        "another tab": (changed_elsewhere, 1, True),
        "another run": (lambda: checked(SOLUTION, "Accepted"), 2, False),
        "an earlier attempt": (lambda: another_attempt(1), 1, False),
        "a reload with the code of an earlier one": (reloaded, 2, True),
    }
    for way, (act, number, is_other) in ways.items():
        act()
        expect(page.locator("#report .gym-verdict"), way).to_contain_text(f"Attempt {number} ")
        expect(said, way).to_be_visible(visible=is_other)
        expect(said, way).to_have_text(re.compile(f"This report is about attempt {number}. The code in the editor is"))
    page.goto(f"{EXERCISE}&attempt={site.service.attempts(who.user)[1].id}")
    expect(ready(page).locator(".gym-verdict")).to_contain_text("Attempt 1 ")
    expect(said).to_be_hidden()


def test_a_report_asks_nobody_to_press_what_they_have_pressed(open_page, person):
    """While the new code is being checked, the old report says so; code that is edited meanwhile has to be sent."""
    page = ready(open_page(EXERCISE, person()))
    said = page.locator("#report .gym-edited")
    write(page, LATE_MASK)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#report .gym-verdict")).to_be_visible()
    write(page, "import time\n\ntime.sleep(60)\n")
    expect(said).to_contain_text("press Run checks")
    page.keyboard.press("Control+Enter")
    expect(said).to_have_text("This report is about attempt 1. The code in the editor is being checked.")
    write(page, SOLUTION)
    expect(said).to_contain_text("press Run checks")
    page.get_by_role("button", name="Cancel").click()


def test_code_that_was_not_counted_has_no_number():
    """Neither in the panel nor where the editor holds other code."""
    view = report_view(ended_report(Status.REJECTED, "no"))

    assert "attempt" not in f"{opened_view(0)['text']} {view['edited']}"


def test_progress_counts_calls_and_says_so():
    """An exercise has a number of checks, and a run another number of calls: nobody takes one for the other."""
    view = watch_view(Watch(State.RUNNING, step="s", done=3, total=32))

    assert view["detail"] == "3 of 32 calls of your code done"


@pytest.mark.parametrize("exercise", Catalog.load())
def test_a_run_says_how_long_it_may_take(exercise: str):
    """Before the first call has ended, too; by the limits of the exercise."""
    limits = Catalog.load()[exercise].spec.limits
    details = [watch_view(Watch(State.RUNNING, total=total), limits)["detail"] for total in (0, 9)]

    assert [f"{limits.cpu_seconds:g} s of processor time" in detail for detail in details] == [True, True]
    assert [f"{limits.wall_seconds:g} s in all" in detail for detail in details] == [True, True]
    assert [f"{3 * limits.wall_seconds:g} s on a busy machine" in detail for detail in details] == [True, True]


@pytest.mark.parametrize("exercise", ["softmax", "causal_attention", "compare_variants"])
def test_the_title_counts_the_checks_of_the_report(exercise: str):
    """What the title line announces is what the verdict counts."""
    known = Catalog.load()[exercise]
    items = [item for item in draw_up(known, 0).items if item.points]

    assert f" · {count(len(items), 'check')} · " in facts(known)
