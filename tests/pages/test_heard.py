"""What somebody hears who listens to the page, and what the panel says of code that was changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from grader.exercise.catalog import Catalog
from grader.judge.report import Dimension, Status, Verdict
from grader.judge.sheet import draw_up
from grader.pages.catalogue import facts
from grader.pages.run_status import opened_view, watch_view
from grader.pages.wording import count
from grader.store.records import State, Watch
from tests.pages.samples import accepted_report, check, ended_report, failed_report
from tests.pages.test_journeys import EXERCISE, LATE_MASK, ready, status, write

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


def test_the_panel_names_an_attempt_only_while_the_editor_holds_it(open_page, person):
    """After an edit, and after a reload with a draft, the report is about other code; undone, it is the attempt."""
    page = ready(open_page(EXERCISE, person()))
    write(page, LATE_MASK)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Your mask starts one position too late")).to_be_visible()
    page.reload()
    expect(status(page)).to_contain_text("This is attempt 1 again.")
    ready(page).locator("#editor .cm-content").press("Control+End")
    page.keyboard.type("# changed")
    expect(status(page)).to_contain_text("The report below is about attempt 1. The code above differs from it")
    page.wait_for_function("Object.values(localStorage).some((one) => one.includes('# changed'))")
    page.reload()
    expect(ready(page).locator(".gym-dial")).to_be_visible()
    expect(status(page)).to_contain_text("The report below is about attempt 1. The code above differs from it")
    write(page, LATE_MASK)

    expect(status(page)).to_contain_text("This is attempt 1 again.")


def test_code_that_was_not_counted_has_no_number():
    """Neither as it is nor edited."""
    view = opened_view(0)

    assert "attempt" not in f"{view['text']} {view['edited']}"


def test_progress_counts_calls_and_says_so():
    """An exercise has a number of checks, and a run another number of calls: nobody takes one for the other."""
    view = watch_view(Watch(State.RUNNING, step="s", done=3, total=32))

    assert view["detail"] == "3 of 32 calls of your code done"


@pytest.mark.parametrize("exercise", ["softmax", "causal_attention", "compare_variants"])
def test_the_title_counts_the_checks_of_the_report(exercise: str):
    """What the title line announces is what the verdict counts."""
    known = Catalog.load()[exercise]
    items = [item for item in draw_up(known, 0).items if item.points]

    assert f" · {count(len(items), 'check')} · " in facts(known)
