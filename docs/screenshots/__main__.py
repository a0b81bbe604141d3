"""Take the pictures of the docs from the running application: `python -m docs.screenshots`.

The real command serves a new, empty database. A class registers and hands in through the pages, and a headless
Chromium takes the pictures. So the pictures show what the pages look like now; take them again after a change to them.
"""

from __future__ import annotations

import io
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from grader.examples import read_examples
from grader.exercise.catalog import ROOT
from grader.settings import PREFIX

FOLDER = Path(__file__).parent
# The shell is the same Chromium without windows of its own: a page costs half the processor time.
BROWSERS = ("chromium-headless-shell", "chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
DESKTOP, PHONE = (1280, 900), (390, 844)  # CSS pixels: width, height
PADDING, ROW = 4, 21  # CSS pixels above the first line in the editor, and of each line
COLOURS = 256  # of a picture; the pages have few, and files with a palette are a third as large
START_SECONDS = 120
PATIENCE = 120_000  # milliseconds for whatever a page is to show
# No example: in those of this mistake, its line goes on in the next row of the editor.
SHOWN = """\
import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        time = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
        future = torch.ones(time, time, dtype=torch.bool).triu(diagonal=2)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        return self.dropout(weights) @ v
"""
# Who hands in what: an exercise and the name of one of its examples; "" for the first right one.
Work = Sequence[tuple[str, str]]
STUDENT: tuple[str, Work] = ("Ada Lovelace", [("softmax", ""), ("simple_attention", ""), ("causal_mask", "")])
OTHERS: dict[str, Work] = {
    "Grace Hopper": [("softmax", "wrong_max_over_other_axis"), ("softmax", ""), ("causal_attention", "wrong_fill_20")],
    "Emmy Noether": [("softmax", ""), ("causal_attention", "wrong_dropout_twice"), ("causal_attention", "")],
    "Alan Turing": [("simple_attention", "wrong_scaled"), ("causal_attention", "wrong_diagonal_two")],
}


@dataclass(frozen=True, slots=True)
class Site:
    """A served class: where it is, the code to register with, and an instructor's name and password."""

    url: str
    class_code: str
    instructor: str
    password: str


def chromium(playwright: Playwright) -> Browser:
    """Start the machine's Chromium, or the one that Playwright brings."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    return playwright.chromium.launch(executable_path=path, args=list(FLAGS))


@contextmanager
def served() -> Iterator[Site]:
    """Serve a new class as `attention-gym serve` does, with one instructor."""
    site = Site(f"http://127.0.0.1:{_free_port()}", secrets.token_urlsafe(12), "Instructor", secrets.token_urlsafe(12))
    with tempfile.TemporaryDirectory() as folder:
        ours = {"DATA": folder, "PORT": site.url.rpartition(":")[2], "CLASS_CODE": site.class_code}
        environment = {**os.environ, **{PREFIX + name: value for name, value in ours.items()}}
        command = [sys.executable, "-m", "grader"]
        server = subprocess.Popen([*command, "serve"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        try:
            _await(site, server)
            adding = [*command, "user", "add", site.instructor, "--instructor", "--password-stdin"]
            subprocess.run(adding, cwd=ROOT, env=environment, check=True, input=site.password.encode())
            yield site
        finally:
            server.terminate()
            server.wait(60)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _await(site: Site, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < end:
        try:
            with urlopen(f"{site.url}/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the pages were not there after {START_SECONDS} seconds, exit status {server.poll()}")


@contextmanager
def visited(browser: Browser, site: Site, size: tuple[int, int]) -> Iterator[Page]:
    """Open a window of that size, with nobody signed in."""
    width, height = size
    context = browser.new_context(
        base_url=site.url, viewport={"width": width, "height": height}, reduced_motion="reduce", color_scheme="light"
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    yield page
    context.close()


def register(page: Page, site: Site, name: str) -> None:
    """Make a student's account, whose session the window then has."""
    page.goto("/register")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(secrets.token_urlsafe(12))
    page.get_by_label("Class code").fill(site.class_code)
    page.get_by_role("button", name="Register").click()
    expect(page.locator(".gym-header")).to_contain_text(name)


def hand_in(page: Page, exercise: str, source: str) -> None:
    """Open an exercise, put code into the editor, and wait for its report."""
    page.goto(f"/exercise?ex={exercise}")
    expect(page.locator("#editor")).to_have_attribute("data-ready", "yes")
    page.locator("#editor .cm-content").focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("group", name="Run", exact=True).filter(has_text="Done:")).to_be_visible()
    expect(page.locator("#report").get_by_text("Your best so far")).to_be_visible()


def _source(exercise: str, name: str) -> str:
    """Return the text of an example without the lines that say its verdict."""
    path = next(
        example.path
        for example in read_examples(ROOT / "exercises" / exercise)
        if example.path.suffix == ".py" and (example.path.stem == name if name else example.loses is None)
    )
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(("# verdict", "# diagnosis")))


def take(page: Page, path: Path) -> None:
    """Store what the window shows, with a palette of its own."""
    page.evaluate("document.fonts.ready.then(() => true)")
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)


def scroll_to(page: Page, selector: str, above: int) -> None:
    """Scroll so that the first such element is `above` pixels below the window's upper edge."""
    page.locator(selector).first.evaluate(
        "(node, above) => window.scrollBy({top: node.getBoundingClientRect().top - above, behavior: 'instant'})", above
    )


def take_student(browser: Browser, site: Site, folder: Path, work: Work) -> None:
    """Take the pictures of one student's pages, after so much work, in both sizes."""
    with visited(browser, site, DESKTOP) as page:
        register(page, site, STUDENT[0])
        for exercise, example in work:
            hand_in(page, exercise, _source(exercise, example))
        hand_in(page, "causal_attention", SHOWN)
        expect(page.locator(".gym-cause")).to_contain_text("Your results become wrong at")  # found after the points
        # No row is cut at an upper edge, of the window or of the editor.
        scroll_to(page, "#result", 420)
        page.locator("#editor .cm-scroller").evaluate(
            "(node, [above, row]) => { node.scrollTop -= (node.scrollTop - above) % row; }", [PADDING, ROW]
        )
        take(page, folder / "exercise.png")
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        scroll_to(page, "#result", 60)
        take(page, folder / "exercise-phone.png")
        scroll_to(page, "figure", 60)
        take(page, folder / "figures-phone.png")
        page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
        page.goto("/")
        expect(page.locator(".gym-track").first).to_be_visible()
        take(page, folder / "exercises.png")


def take_instructor(browser: Browser, site: Site, folder: Path) -> None:
    """Take the picture of the gradebook."""
    with visited(browser, site, DESKTOP) as page:
        page.goto("/sign-in?next=/teach/")
        page.get_by_label("Name").fill(site.instructor)
        page.get_by_label("Password").fill(site.password)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Gradebook")).to_be_visible()
        take(page, folder / "gradebook.png")


def hand_in_the_rest(browser: Browser, site: Site) -> None:
    """Let the other students of the class hand in their work."""
    for name, work in OTHERS.items():
        with visited(browser, site, DESKTOP) as page:
            register(page, site, name)
            for exercise, example in work:
                hand_in(page, exercise, _source(exercise, example))


def main() -> None:
    """Take all pictures."""
    with served() as site, sync_playwright() as playwright:
        browser = chromium(playwright)
        take_student(browser, site, FOLDER, STUDENT[1])
        hand_in_the_rest(browser, site)
        take_instructor(browser, site, FOLDER)
        browser.close()
    for path in sorted(FOLDER.glob("*.png")):
        print(f"wrote {path.relative_to(ROOT)}, {path.stat().st_size >> 10} KiB")


if __name__ == "__main__":
    main()
