"""What somebody waits for after *Run checks*, in a real Chromium: `python -m benchmarks click`.

The time goes from the click to the score that is drawn, and to the cause that is drawn below it. Each round is a new
student's first attempt on a page that is loaded, with a right answer and then with a wrong one.
"""

from __future__ import annotations

import statistics
import tempfile
from itertools import islice
from pathlib import Path

import typer
from playwright.sync_api import Browser, expect, sync_playwright

from benchmarks.storm_site import Site, served
from docs.screenshots.__main__ import chromium
from grader.exercise.catalog import ROOT

EXERCISE = "causal_attention"
RIGHT, WRONG = "right_plain.py", "wrong_diagonal_two.py"
SCORE, CAUSE = "#report [aria-label$=' of 100 points']", "#report .gym-cause"
_WARM_UP = 2
_PATIENCE = 60_000  # milliseconds
# Clicks, and gives the milliseconds until each of the selectors finds something, looked for after each change.
_CLICK = """selectors => new Promise((done) => {
  const found = {}, begin = performance.now();
  const look = () => {
    for (const one of selectors)
      if (!(one in found) && document.querySelector(one)) found[one] = performance.now() - begin;
    if (selectors.some((one) => !(one in found))) return;
    watcher.disconnect();
    done(selectors.map((one) => found[one]));
  };
  const watcher = new MutationObserver(look);
  watcher.observe(document.body, { subtree: true, childList: true, attributes: true });
  [...document.querySelectorAll("button")].find((one) => one.textContent.includes("Run checks")).click();
})"""


def click(rounds: int = 20) -> None:
    """Print the median and the longest wait for a right answer's verdict, a wrong one's, and its cause."""
    waits: dict[str, list[float]] = {"right: verdict": [], "wrong: verdict": [], "wrong: cause": []}
    with (
        tempfile.TemporaryDirectory(prefix="click-", ignore_cleanup_errors=True) as folder,
        served(Path(folder), 2 * (_WARM_UP + rounds)) as site,
        sync_playwright() as playwright,
    ):
        browser, tokens = chromium(playwright), iter(site.tokens)
        for number, pair in enumerate(zip(*[islice(tokens, 2 * (_WARM_UP + rounds))] * 2, strict=True)):
            right = _waits(site, browser, pair[0], RIGHT, [SCORE])
            wrong = _waits(site, browser, pair[1], WRONG, [SCORE, CAUSE])
            if number >= _WARM_UP:
                for name, seconds in zip(waits, [*right, *wrong], strict=True):
                    waits[name].append(seconds)
        browser.close()
    typer.echo(f"{EXERCISE}, {rounds} rounds, from the click in Chromium to what is drawn")
    for name, taken in waits.items():
        typer.echo(f"{name:<16} median {statistics.median(taken):.2f} s, longest {max(taken):.2f} s")


def _waits(site: Site, browser: Browser, token: str, answer: str, selectors: list[str]) -> list[float]:
    """Return the seconds until each of the selectors is on the page of a student who hands in that example."""
    url = f"http://127.0.0.1:{site.port}"
    context = browser.new_context(base_url=url, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "attention_gym", "value": token, "url": url}])
    page = context.new_page()
    page.set_default_timeout(_PATIENCE)
    page.goto(f"/exercise?ex={EXERCISE}")
    expect(page.locator("#editor")).to_have_attribute("data-ready", "yes", timeout=_PATIENCE)
    page.locator("#editor .cm-content").focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text((ROOT / "exercises" / EXERCISE / "examples" / answer).read_text(encoding="utf-8"))
    taken: list[float] = page.evaluate(_CLICK, selectors)
    context.close()
    return [one / 1000 for one in taken]
