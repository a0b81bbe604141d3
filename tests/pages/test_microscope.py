"""The microscope: in a browser it gives the reference's numbers, by keys and pointer, and moves nothing around it."""

from __future__ import annotations

import html
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect
from torch import Tensor

from grader.exercise.catalog import Catalog, Exercise
from grader.exercise.microscope import Microscope, blocks, microscope
from grader.gate.contract import texts
from grader.pages import statement
from grader.pages.statement import scope_view
from grader.store.records import Role
from tests.pages.conftest import PASSWORD, Person, wait_for
from tests.pages.test_journeys import EXERCISE, LATE_MASK, ready

SHOWN = {one.id: one for one in Catalog.load().values() if list(blocks(one.statement))}
NO_STEPS = {"causal_mask", "padding_mask"}  # their references make masks, and compute no attention
# Draws a microscope off the page and reads every cell: by mask, head and step, the matrix.
READ = """async ([view, factor]) => {
  await gym.load("microscope");
  const box = document.createElement("div"), found = {};
  const buttons = (group) => [...box.querySelectorAll(`[aria-label="${group}"] button`)];
  const press = (group, name) => buttons(group).find((one) => one.textContent === name)?.click();
  const cells = (row) => [...row.querySelectorAll("td")].map((cell) => cell.dataset.value);
  const first = (view.query || view.scores)[0], heads = (view.query || view.scores).length;
  box.append(gym.example(view));
  box.querySelector("input").value = String(factor);
  box.querySelector("input").dispatchEvent(new Event("input"));
  for (const name of ["all queries", "all rows"]) press("What is shown", name);
  for (const mask of view.mask ? ["on", "off"] : ["off"]) {
    press("Mask", mask);
    for (let head = 0; head < heads; head += 1) {
      press("Which head", String(head));
      for (const step of buttons("Step").map((one) => one.textContent)) {
        press("Step", step);
        const rows = [...box.querySelectorAll("tbody tr:has(td)")];
        const shown = first.length > 1 ? rows : rows.filter((row) => row.querySelector("th").textContent === step);
        found[`${mask} ${head} ${step}`] = shown.map(cells);
      }
    }
  }
  return found;
}"""
MINUS = "\N{MINUS SIGN}"
FACTORS = {4: 1.0, 9: 50.0, 0: 0.0}  # by place on the slider


def _step(namespace: Mapping[str, Any], name: str, count: int) -> Callable[..., Tensor] | None:
    """Return a step of the reference that takes so many arguments."""
    step = namespace.get(name)
    return step if step is not None and len(inspect.signature(step).parameters) == count else None


def right(exercise: Exercise, read: Microscope, head: int, *, factor: float, masked: bool) -> dict[str, Tensor]:
    """Return every step of one head by the steps of the reference, where it has them under the usual names."""
    steps = exercise.reference()()
    given = {name: torch.tensor(heads[head], dtype=torch.float64) for name, heads in read.heads.items()}
    score = _step(steps, "scores_of", 2) or (lambda query, key: query @ key.T)
    found = {"scores": factor * (given["scores"] if "scores" in given else score(given["query"], given["key"]))}
    last = found["scores"]
    if read.d_k:
        scale = _step(steps, "scale", 2)
        assert scale is not None
        last = found["scaled"] = scale(last, read.d_k)
    if read.rows_of_mask:
        if masked:
            last = _masked(steps, read, last)
        found["masked"] = last
    normalise = _step(steps, "softmax", 2) or _step(steps, "normalise", 1) or (lambda scores: torch.softmax(scores, -1))
    found["weights"] = normalise(last)
    if "value" in given:
        mix = _step(steps, "mix", 2)
        assert mix is not None
        found["output"] = mix(found["weights"], given["value"])
    return found


def _masked(steps: Mapping[str, Any], read: Microscope, scores: Tensor) -> Tensor:
    mask = torch.tensor(read.rows_of_mask)
    if read.mask == "causal" and (hide := _step(steps, "hide_future", 1)):
        return hide(scores)
    apply = _step(steps, "apply_mask", 2) or (lambda scores, mask: scores.masked_fill(~mask, -torch.inf))
    return apply(scores, mask)


@pytest.fixture(scope="module")
def desk(site, browser) -> Iterator[Page]:
    """Give a page whose scripts are there."""
    context = browser.new_context(base_url=site.url)
    page = context.new_page()
    page.goto(EXERCISE)
    yield ready(page)
    context.close()


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("exercise", SHOWN.values(), ids=SHOWN)
def test_a_microscope_gives_the_numbers_of_the_reference(desk: Page, exercise: Exercise, factor: int) -> None:
    """Each step of each head and query, to 1e-6, with the mask and without, with plain, large and equal scores."""
    read = microscope(next(blocks(exercise.statement)))
    seen = desk.evaluate(READ, [json.loads(json.dumps(scope_view(read))), factor])
    numbers = {
        key: torch.tensor([[float(one) for one in row] for row in rows], dtype=torch.float64)
        for key, rows in _named(seen)
    }

    compared = set()
    for head in range(len(next(iter(read.heads.values())))):
        for mask in ("on", "off") if read.mask else ("off",):
            for step, truth in right(exercise, read, head, factor=FACTORS[factor], masked=mask == "on").items():
                got = numbers[f"{mask} {head} {step}"]
                assert got.shape == truth.shape, step
                assert torch.allclose(got, truth, rtol=1e-6, atol=1e-6), step
                compared.add(f"{mask} {head} {step}")
    assert compared == numbers.keys()


def _named(seen: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what was read, with infinities as Python writes them."""
    for key, rows in seen.items():
        yield key, [[one.replace("Infinity", "inf") for one in row] for row in rows]


def test_the_steps_of_the_references_have_the_usual_names() -> None:
    """What is compared above is the reference's own arithmetic, and not torch with itself."""
    usual = ("scores_of", "scale", "hide_future", "apply_mask", "normalise", "mix", "softmax")

    assert {id for id, one in SHOWN.items() if not set(usual) & one.reference()().keys()} == NO_STEPS


def drawn(page: Page) -> Locator:
    """Scroll to the microscope of a statement and wait until it is drawn."""
    scope = page.locator("#statement .gym-scope")
    scope.scroll_into_view_if_needed()
    expect(scope.get_by_role("grid")).to_be_visible()
    return scope


def test_keys_read_each_number_with_its_sum(open_page) -> None:
    """Tab reaches one cell; arrows, Home and End move on; the step follows, and each number comes with its sum."""
    page = ready(open_page(EXERCISE))
    scope = drawn(page)
    read = scope.locator(".gym-scope-read")
    scope.get_by_role("button", name="output").focus()
    page.keyboard.press("Tab")

    assert scope.locator('td[tabindex="0"]').count() == 1
    expect(read).to_have_text("scores, query 2, key 0: 1·1 + 1·2 = 3")
    page.keyboard.press("ArrowRight")
    expect(read).to_have_text("scores, query 2, key 1: 1·2 + 1·0 = 2")
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(read).to_have_text(f"masked, query 2, key 3: query 2 may not attend to key 3, so 1.4142 becomes {MINUS}∞")
    expect(scope.get_by_role("button", name="masked")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    expect(read).to_contain_text("e^2.1213 / (e^2.1213 + e^1.4142 + e^0)")
    page.keyboard.press("ArrowDown")
    expect(read).to_contain_text("output, query 2, feature 0: 0.62·1 + 0.3057·0 + 0.0743·4 + 0·2 = 0.9173")
    expect(scope.locator('td[tabindex="0"]')).to_be_focused()


def test_the_mask_the_query_and_the_scale_of_the_scores_can_be_changed(open_page) -> None:
    """Without the mask every key has weight; multiplied by 100 the softmax saturates; by 0 all weights are equal."""
    page = ready(open_page(EXERCISE))
    scope = drawn(page)
    weights = scope.get_by_role("row", name="weights").get_by_role("gridcell")
    scope.get_by_role("button", name="weights").click()
    slider = scope.get_by_role("slider")

    assert weights.nth(3).inner_text() == "0"
    scope.get_by_role("group", name="Mask").get_by_role("button", name="off").click()
    assert float(weights.nth(3).get_attribute("data-value") or 0) > 0.1
    slider.focus()
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "100")
    assert weights.first.inner_text() == "1"
    expect(scope.locator(".gym-scope-say")).to_contain_text(f"w(1 {MINUS} w) = 0")
    page.keyboard.press("Home")
    assert weights.all_inner_texts() == ["0.25"] * 4
    scope.get_by_role("group", name="Which query").get_by_role("button", name="0").click()
    expect(scope.get_by_role("grid")).to_have_attribute("aria-label", "query 0, step by step")
    expect(scope.get_by_role("group", name="Which query").get_by_role("button", name="0")).to_be_focused()


@pytest.mark.parametrize("width", [1280, 1366, 390])
@pytest.mark.parametrize("exercise", ["attention_sinks", "multi_head_attention_causal", "softmax"])
def test_a_microscope_has_its_height_before_it_is_drawn(open_page, exercise: str, width: int) -> None:
    """Whatever is chosen in it, nothing around it moves, and it is no wider than the page."""
    page = ready(open_page(f"/exercise?ex={exercise}", viewport={"width": width, "height": 844}))
    scope = page.locator("#statement .gym-scope")
    heights = {scope.evaluate("node => node.offsetHeight")}
    drawn(page)
    for shown in scope.get_by_role("group", name="What is shown").get_by_role("button").all():
        shown.click()
        for step in scope.get_by_role("group", name="Step", exact=True).get_by_role("button").all():
            step.click()
            scope.get_by_role("gridcell").last.click()
            heights.add(scope.evaluate("node => node.offsetHeight"))

    assert len(heights) == 1
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_script_comes_only_to_whoever_reads_so_far(open_page) -> None:
    """Opening the page asks for nothing; scrolling to the microscope asks once."""
    asked: list[str] = []
    page = ready(open_page(EXERCISE, viewport={"width": 390, "height": 844}))
    page.on("request", lambda request: asked.append(request.url))
    loaded = page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    drawn(page)

    assert [url for url in loaded if "microscope" in url] == []
    assert len([url for url in asked if "microscope.js" in url]) == 1


def test_a_block_that_cannot_be_read_is_code_and_the_gate_says_so(tmp_path) -> None:
    """A reader sees the numbers; the author is told what is wrong with them."""
    wrong = "```microscope\nscores = [[1, 2], [3]]\n```\n"
    exercise = Exercise("softmax", Catalog.load()["softmax"].spec, tmp_path, Catalog.load()["softmax"].reference_path)
    (tmp_path / "statement.md").write_text(wrong, encoding="utf-8")
    (tmp_path / "mistakes.py").write_text("", encoding="utf-8")

    assert "<code" in statement.to_html(wrong)
    assert "gym-scope" not in statement.to_html(wrong)
    assert any("the rows of `scores` differ in length" in said for said in texts(exercise))


def test_the_numbers_of_a_block_reach_the_page_as_they_are() -> None:
    """As one attribute, with a row of height for each row of the larger table."""
    page = statement.to_html('```microscope\nscores = [[0.1, 2]]\nvalue = [[3], [4]]\nmask = "causal"\n```\n')
    view = json.loads(html.unescape(page.partition('data-scope="')[2].partition('"')[0]))

    assert view == {
        "scores": [[[0.1, 2.0]]], "value": [[[3.0], [4.0]]], "d_k": None,
        "mask": [[True, False]], "mask_on": True, "show": 0,
    }  # fmt: skip
    assert "--rows: 6" in page


@pytest.fixture(scope="module")
def graded(site) -> Person:
    """Return somebody whose mask comes too late."""
    user = site.service.add_user("Somebody late", PASSWORD, Role.STUDENT)
    submission = site.service.submit(user, "causal_attention", LATE_MASK)
    wait_for(lambda: (found := site.service.submission(user, submission)).report is not None and found.report.complete)
    return Person(user, site.service.sign_in(user.name, PASSWORD, "127.0.0.1"))


def staged(page: Page) -> Locator:
    """Wait until the steps of the last report are drawn."""
    stages = page.locator(".gym-stages")
    expect(stages.get_by_role("grid").first).to_be_visible()
    return stages


def test_a_report_steps_through_the_case_where_it_begins_to_differ(open_page, graded) -> None:
    """It opens at the first step that differs, with its line; yours is beside expected, each with its sum."""
    page = ready(open_page(EXERCISE, graded))
    stages = staged(page)
    read = stages.locator(".gym-scope-read")
    steps = stages.get_by_role("group", name="Step", exact=True).get_by_role("button")

    marks = [text.split(" ")[0] for text in steps.all_inner_texts()]
    assert marks == ["✓"] * 5 + ["✕"] + ["↳"] * 2
    expect(stages.get_by_role("button", name="masked")).to_have_attribute("aria-pressed", "true")
    expect(stages.locator(".gym-scope-say")).to_contain_text("first step that differs, at line 17")
    expect(stages.get_by_role("button", name="line 17")).to_be_visible()
    expect(read).to_contain_text(f"Expected: {MINUS}∞")
    stages.get_by_role("button", name="weights").click()
    texts = read.locator("span").all_inner_texts()
    assert texts[1].count("e^") > texts[2].count("e^") > 1
    assert (
        stages.locator("td.gym-off").count()
        == stages.get_by_role("grid", name="Yours").locator("td.gym-off").count()
        > 1
    )


def test_keys_read_both_sides_of_a_report_at_once(open_page, graded) -> None:
    """Arrows move the cell in both tables; the focus stays on the side where it was."""
    page = ready(open_page(EXERCISE, graded))
    stages = staged(page)
    stages.get_by_role("button", name="scores").click()
    stages.get_by_role("grid", name="Expected").locator('td[tabindex="0"]').focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")

    expect(stages.locator(".gym-scope-read")).to_contain_text("row 1, column 1")
    expect(stages.get_by_role("grid", name="Expected").locator('td[tabindex="0"]')).to_be_focused()
    assert stages.locator('td[aria-selected="true"]').count() == 2


@pytest.mark.parametrize("width", [1280, 390])
def test_the_steps_of_a_report_have_one_height(open_page, graded, width: int) -> None:
    """Whichever is chosen, nothing below moves, and the page is no wider than the window."""
    page = ready(open_page(EXERCISE, graded, viewport={"width": width, "height": 844}))
    stages, heights = staged(page), set()
    for step in stages.get_by_role("group", name="Step", exact=True).get_by_role("button").all():
        step.click()
        heights.add(stages.evaluate("node => node.offsetHeight"))

    assert len(heights) == 1
    assert page.evaluate("document.documentElement.scrollWidth") == width
