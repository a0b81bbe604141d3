"""The closed list of Gradio's files: what the pages ask a server for in a browser, and nothing more."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor

from playwright.sync_api import expect

from grader.exercise.catalog import ROOT
from grader.pages.answers import Compressor
from grader.pages.routes import COMPARE, GRADIO_FILES, PAGES, Routes
from grader.store.records import Role
from tests.pages.test_journeys import ready, write

# Which of these are asked for depends on the browser's language.
SPARE = re.compile(r"assets/[a-z]{2}(-[A-Z]{2})?-[\w-]{8}\.js")
# The choice of a device, which only an installation with a GPU shows; tests/pages/test_devices.py looks at it.
SELDOM = {
    "assets/Example-DWDv4qx4.css",
    "assets/Example-D_3AXZ0f.js",
    "assets/Index-3o3U-0UB.js",
    "assets/Index-B0rFgO7A.js",
    "assets/Index-C1GyojFs.css",
    "assets/Index-CvOXDAXN.css",
}
EXERCISES = sorted(path.parent.name for path in (ROOT / "exercises").glob("*/exercise.toml"))
ASKED = (
    *(page.path for page in PAGES),
    COMPARE,
    "/sign-in",
    "/register",
    "/exercise?ex=softmax",
    "/teach/",
    "/teach/?flag=any",
)


def test_the_listed_files_are_what_the_pages_ask_for(open_page, person):
    """On every page, in both roles, at a run and an error, nothing is refused, and nothing is listed without need."""
    asked: set[str] = set()
    page = open_page("/", person(role=Role.INSTRUCTOR))
    page.on("request", lambda request: asked.add(request.url))
    page.reload()
    for path in ASKED:
        page.goto(path)
        page.wait_for_load_state("networkidle")
    ready(page.goto("/exercise?ex=softmax") and page)
    for tab in ("Hints", "My attempts", "Leaderboard", "Statement"):
        page.get_by_role("tab", name=tab).click()
    write(page, "def softmax(x, dim=-1):\n    return x\n")
    page.get_by_role("button", name="Run checks").click()
    expect(page.get_by_role("heading", name="Not accepted yet")).to_be_visible()
    host = page.url.split("/exercise")[0]
    paths = {url.removeprefix(host).partition("?")[0] for url in asked if url.startswith(host)}
    listed = set(GRADIO_FILES.read_text(encoding="utf-8").split())
    files = {path.lstrip("/") for path in paths}

    assert sorted(path for path in paths if Routes().find(path) is None) == []
    assert sorted(name for name in listed - files - SELDOM if not SPARE.fullmatch(name)) == []


def test_a_file_is_compressed_once_however_many_ask_for_it_at_once() -> None:
    """After a start a whole class does; each of them had it compressed anew, and nobody else had a thread meanwhile."""
    compressor = Compressor()

    async def ask() -> list[bytes]:
        return await asyncio.gather(
            *(compressor.compressed("/gym/gym.js", b"let a = 1;" * 1000, "br") for _ in range(50))
        )

    with ThreadPoolExecutor() as pool:  # the loop of a browser may run in this thread
        found = pool.submit(lambda: asyncio.run(ask())).result()
    assert len({id(one) for one in found}) == 1
