"""The editor: what it is built from, the lines it marks, what it completes, and the drafts it keeps."""

import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from PIL import Image
from playwright.sync_api import Page, Route, expect
from torch import nn
from torch.nn import functional

from grader.exercise.catalog import Catalog
from grader.pages.answers import ASSETS
from tests.pages.conftest import NAMES, PASSWORD, Site
from tests.pages.test_journeys import EXERCISE, LATE_MASK, ready, source, write

FOLDER = ASSETS.parent / "editor"
OTHER = "in another tab"


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_built_files_are_what_the_build_gives(tmp_path: Path) -> None:
    """`make editor` gives, from the locked packages, the bytes of assets/codemirror.js and assets/highlight.js."""
    copy = shutil.copytree(FOLDER, tmp_path / "editor", ignore=shutil.ignore_patterns("node_modules"))
    for command in ("ci", "run build"):
        subprocess.run(["npm", *command.split()], cwd=copy, check=True, capture_output=True)

    built = {path.name: path.read_bytes() for path in (tmp_path / "assets").iterdir()}
    assert built == {name: (ASSETS / name).read_bytes() for name in ("codemirror.js", "highlight.js")}


def test_only_names_that_torch_has_are_completed() -> None:
    """Each completion can be typed and run."""
    owners = {"torch": torch, "nn": nn, "functional": functional, "tensor": torch.Tensor}
    names = json.loads((FOLDER / "names.json").read_text(encoding="utf-8"))

    assert names.keys() == owners.keys()
    assert [name for kind, offered in names.items() for name in offered if not hasattr(owners[kind], name)] == []


def test_the_line_with_the_mistake_is_marked_until_it_is_edited(open_page, person) -> None:
    """After the report the wrong line has a colour and a message; changing it takes both away."""
    page = ready(open_page(EXERCISE, person()))
    write(page, LATE_MASK)
    page.keyboard.press("Control+Enter")
    marked = page.locator("#editor .gym-marked-line")
    expect(marked).to_contain_text("masked_fill(future")
    expect(page.locator(".gym-cause")).to_contain_text("Your results become wrong at line 17, or already at line 16.")
    page.locator("#editor .cm-lint-marker").hover()
    expect(page.locator(".cm-tooltip")).to_contain_text("Your mask starts one position too late")
    page.get_by_role("button", name="line 17").first.click()
    page.keyboard.press("End")
    page.keyboard.type(" ")

    expect(marked).to_have_count(0)


def test_lines_are_marked_only_where_they_read_as_in_the_attempt(open_page, person) -> None:
    """A report that is shown again marks nothing in code that was changed since; opening its attempt does."""
    page = ready(open_page(EXERCISE, person()))
    write(page, LATE_MASK)
    page.keyboard.press("Control+Enter")
    marked = page.locator("#editor .gym-marked-line")
    expect(marked).to_have_count(1)
    page.reload()
    expect(marked).to_have_count(1)
    write(page, "# another line above\n" + LATE_MASK)
    page.wait_for_function(
        "localStorage.length > 0 && Object.values(localStorage).some((one) => one.includes('another'))"
    )
    page.reload()
    expect(page.locator(".gym-cause")).to_contain_text("line 17")
    expect(marked).to_have_count(0)
    page.get_by_role("tab", name="My attempts").click()
    page.get_by_role("button", name="Attempt 1").click()
    page.get_by_role("button", name="Open this attempt").click()

    expect(marked).to_contain_text("masked_fill(future")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_frame_goes_around_all_corners(open_page, scheme: str) -> None:
    """What scrolls in it covered the lower two with the colour of the paper."""
    page = open_page(EXERCISE, color_scheme=scheme)
    expect(page.locator("#editor")).to_have_attribute("data-ready", "yes")
    with Image.open(io.BytesIO(page.locator("#editor").screenshot())) as picture:
        seen = picture.convert("RGB")
    wide, high, by = seen.width, seen.height, range(8)
    paper = seen.getpixel((wide // 2, high - 4))
    corners = [
        [seen.getpixel((x(n), y(n))) for n in by]
        for x in (lambda n: n, lambda n: wide - 1 - n)
        for y in (lambda n: n, lambda n: high - 1 - n)
    ]

    assert [any(pixel != paper for pixel in corner) for corner in corners] == [True] * 4


def test_names_of_torch_are_completed_and_text_is_found(open_page) -> None:
    """Typing after a dot offers what torch has; Ctrl+F searches in the code."""
    page = ready(open_page(EXERCISE))
    write(page, "import torch\nx = ")
    page.keyboard.type("torch.matm")
    page.get_by_role("option", name="matmul").click()
    assert source(page) == "import torch\nx = torch.matmul"
    page.keyboard.press("Control+f")
    page.keyboard.type("import")

    expect(page.locator("#editor .cm-searchMatch")).to_have_text("import")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_line_is_cut_off(open_page, width: int) -> None:
    """Those of every reference, and one without a blank, go on in the next row; the cursor stays within the editor."""
    page = ready(open_page(EXERCISE, viewport={"width": width, "height": 844}))
    texts = [one.reference_path.read_text(encoding="utf-8") for one in Catalog.load().values()]
    cut = """text => { gym.write(text); const place = document.querySelector(".cm-scroller");
        return place.scrollWidth > place.clientWidth; }"""
    found = [text for text in (*texts, "        value = " + "x" * 2000) if page.evaluate(cut, text)]
    write(page, "    y = " + "x + " * 200)

    assert max(len(line) for text in texts for line in text.splitlines()) > 90
    assert found == []
    expect(page.locator("#editor .cm-cursor").first).to_be_in_viewport()


KEPT = "kept = 1\n"


@pytest.mark.parametrize("before", ["nothing", "in this browser", "on the server"])
@pytest.mark.parametrize("typed", ["", "early"])
def test_one_can_type_before_the_editor_has_come(open_page, person, site: Site, *, before: str, typed: str) -> None:
    """What is typed becomes the editor's, where typing goes on; what was kept before is offered beside it."""
    who = person() if before == "on the server" else None
    if who:
        site.service.drafts.keep(who.user, "causal_attention", KEPT, 0.0)
    page = ready(open_page(EXERCISE, who))
    if before == "in this browser":
        _typed(page, KEPT)
    starter = site.service.catalog["causal_attention"].starter
    held: list[Route] = []
    page.route("**/gym/exercise.js*", lambda route: held.append(route))
    page.evaluate("setTimeout(() => location.reload())")
    first = page.locator(".gym-first-code textarea")
    expect(page.get_by_text("The editor is loading. You can type here already.")).to_be_visible()
    first.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(typed)
    wait_for_requests(page, held)
    held[0].continue_()
    ready(page)
    page.keyboard.press("Control+End")
    page.keyboard.type("+")
    kept = starter if before == "nothing" else KEPT
    note = page.locator("#editor").get_by_role("status")

    assert source(page) == (f"{starter}{typed}+" if typed else f"{kept}+")
    if typed and kept != starter:
        note.get_by_role("button", name="Use that version").click()
        assert source(page) == KEPT
    else:
        expect(note).to_be_empty()


def wait_for_requests(page: Page, held: list[Route]) -> None:
    """Wait until the page has asked for what is held back."""
    while not held:
        page.wait_for_timeout(20)


def test_a_tab_that_keeps_its_code_has_it_after_a_reload(open_page) -> None:
    """*Keep this one* stores what the tab shows; the other tab's code would come back otherwise."""
    first = ready(open_page(EXERCISE))
    second = first.context.new_page()
    second.goto(EXERCISE)
    ready(second)
    for page, text in ((first, "first = 1\n"), (second, "second = 2\n")):
        write(page, text)
        page.wait_for_function(
            "text => Object.values(localStorage).some(kept => kept.includes(text))", arg=text.strip()
        )
    first.locator("#editor").get_by_role("button", name="Keep this one").click()
    first.reload()

    assert source(ready(first)) == "first = 1\n"


def _typed(page: Page, text: str) -> None:
    """Type into a tab, and wait until the browser has stored it."""
    write(page, text)
    page.evaluate("gym.save()")


def _left(page: Page) -> list[str]:
    """Return the code in the editor of a tab, and all that is offered beside it; each is taken in turn."""
    found = [source(page)]
    take = page.locator("#editor").get_by_role("button", name="Use that version")
    page.wait_for_timeout(200)
    while take.count():
        take.click()
        found.append(source(page))
        assert len(found) < 9
    return found


# Who types, one after the other, each a new text, and which tab is opened then, or a new one.
ORDERS = (("ABA", "new"), ("ABA", "A"), ("ABA", "B"), ("ABC", "new"), ("ABC", "A"), ("ABC", "C"))


@pytest.mark.parametrize("is_member", [False, True], ids=["guest", "member"])
@pytest.mark.parametrize(("order", "again"), ORDERS)
def test_no_tab_loses_its_code_without_a_word(open_page, person, order: str, again: str, *, is_member: bool) -> None:
    """Whatever the order in which tabs are typed into and reloaded, the last text of each is shown or offered."""
    kept = open_page("/sign-in", person() if is_member else None)  # so that the context stays
    tabs = {name: kept.context.new_page() for name in set(order)}
    for page in tabs.values():
        ready(page.goto(EXERCISE) and page)
    for step, name in enumerate(order):
        _typed(tabs[name], f"{name} = {step}")
    opened = tabs.setdefault(again, kept.context.new_page())
    ready(opened.goto(EXERCISE) and opened)

    assert set(_left(opened)) == {f"{name} = {order.rindex(name)}" for name in order}


def test_a_tab_whose_code_the_server_has_taken_replaces_no_newer_one(open_page, person) -> None:
    """A draft is sent seconds after it was typed; meanwhile somebody may have chosen the code of another tab."""
    first = ready(open_page(EXERCISE, person()))
    second = first.context.new_page()
    ready(second.goto(EXERCISE) and second)
    note = second.locator("#editor").get_by_role("status")
    sent: list[Route] = []
    first.route("**/draft*", lambda route: sent.append(route))
    with first.expect_request(re.compile("/draft")) as request:
        write(first, "first = 1\n")
        first.evaluate("dispatchEvent(new Event('pagehide'))")
    expect(note).to_contain_text(OTHER)
    write(second, "second = 2\n")
    note.get_by_role("button", name="Keep this one").click()
    sent[0].continue_()
    request.value.response().finished()
    first.wait_for_timeout(500)  # what a tab stores, the others hear of a moment later

    expect(note).to_be_empty()
    assert source(ready(second.reload() and second)) == "second = 2\n"


def test_code_typed_before_signing_in_does_not_replace_the_accounts(open_page, person, site: Site) -> None:
    """It comes along, and the account's own is offered beside it until somebody chooses, also after a reload."""
    who = person()
    site.service.drafts.keep(who.user, "causal_attention", "account = 1\n", 0.0)
    page = ready(open_page(EXERCISE))
    write(page, "guest = 2\n")
    page.wait_for_function("Object.values(localStorage).some(kept => kept.includes('guest'))")
    page.context.add_cookies([{"name": "attention_gym", "value": who.token, "url": site.url}])
    for _ in range(2):
        page.goto(EXERCISE)
        assert source(ready(page)) == "guest = 2\n"
        note = page.locator("#editor").get_by_role("status")
        expect(note).to_contain_text("Your account has other code for this exercise.")
    note.get_by_role("button", name="Use that version").click()
    assert source(page) == "account = 1\n"
    page.reload()

    assert source(ready(page)) == "account = 1\n"
    expect(note).to_be_empty()


@pytest.mark.parametrize("tabs", [1, 2])
@pytest.mark.parametrize("is_visitor", [False, True], ids=["guest", "visitor"])
@pytest.mark.parametrize(("way", "own"), [("sign-in", ""), ("sign-in", "own = 1"), ("register", "")])
def test_nothing_typed_before_signing_in_is_lost_without_a_word(
    open_page, person, site: Site, way: str, own: str, *, is_visitor: bool, tabs: int
) -> None:
    """By a guest or a visitor, in one tab or two, whatever the account holds: all is shown or offered, until chosen."""
    who = person()
    if own:
        site.service.drafts.keep(who.user, "causal_attention", own, 0.0)
    page = ready(open_page(EXERCISE))
    other = ready(page.context.new_page().goto(EXERCISE) and page.context.pages[1])
    typed = {f"typed = {number}" for number in range(tabs)}
    for tab in (other, page) if is_visitor else ():
        tab.evaluate("fetch('/visit', { method: 'POST' })")
        ready(tab.reload() and tab)
    for tab, text in zip((other, page), sorted(typed), strict=False):
        _typed(tab, text)
    page.goto(f"/{way}?next={EXERCISE}")
    page.get_by_label("Name").fill(who.user.name if way == "sign-in" else f"New {next(NAMES)}")
    page.get_by_label("Password").fill(PASSWORD)
    page.locator("main").get_by_role("button").click()
    ready(page)
    page.locator("#editor .cm-content").press("Control+End")
    page.keyboard.type(" # more")  # nobody has chosen yet
    page.evaluate("gym.save()")
    changed = source(page)
    ready(page.reload() and page)
    left, before = set(_left(page)), changed.removesuffix(" # more")  # which the other tab may have stored

    assert left - {before} == {changed, *typed, own} - {before, ""}


def test_code_typed_on_one_device_is_there_on_the_next(travels, person, site: Site) -> None:
    """A draft is stored on the server; two devices that change it at once are told so."""
    who = person()
    laptop = travels(who)
    write(laptop, "laptop = 1\n")
    with laptop.expect_response("**/draft?*"):
        laptop.evaluate("dispatchEvent(new Event('pagehide'))")
    phone = travels(who)
    assert source(phone) == "laptop = 1\n"
    for page, text in ((laptop, "laptop = 2\n"), (phone, "phone = 2\n")):
        write(page, text)
        with page.expect_response("**/draft?*"):
            page.evaluate("dispatchEvent(new Event('pagehide'))")

    expect(phone.locator("#editor").get_by_role("status")).to_contain_text("on another device")
    assert source(phone) == "phone = 2\n"
    assert site.service.drafts.of(who.user, "causal_attention").source == "laptop = 2\n"
