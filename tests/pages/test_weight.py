"""How much a page weighs, and what of an exercise can be read before any script has run."""

from __future__ import annotations

import gzip
from html.parser import HTMLParser

import brotli
import pytest
from playwright.sync_api import Browser, expect

from grader.exercise.catalog import Catalog
from grader.pages import statement
from grader.pages.answers import ASSETS
from grader.pages.routes import FILES, PAGES
from tests.pages.conftest import Site
from tests.pages.test_journeys import EXERCISE, ready

MOST_BYTES, MOST_REQUESTS, MOST_SHIFT = 600_000, 40, 0.1
DECODERS = {"br": brotli.decompress, "gzip": gzip.decompress, "": bytes}
SHIFTS = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


class _Formulas(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)


@pytest.mark.parametrize("path", ["/gym/gym.js", "/gym/exercise.js", "/exercise?ex=softmax", "/theme.css", "/config"])
def test_a_compressed_answer_is_the_plain_one(visitor, path):
    """Brotli where the browser takes it, gzip where it takes only that, the same bytes after unpacking."""
    bodies, sizes = {}, {}
    for coding, decode in DECODERS.items():
        headers = {"Accept-Encoding": coding or "identity"}
        with visitor() as client, client.stream("GET", path, headers=headers) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.headers.get("content-encoding", "") == coding
        assert int(answer.headers["content-length"]) == len(raw)
        bodies[coding], sizes[coding] = decode(raw), len(raw)
    nonces = {body.partition(b'nonce="')[2][:22] for body in bodies.values()} - {b""}
    for nonce in nonces:
        bodies = {coding: body.replace(nonce, b"") for coding, body in bodies.items()}

    assert len(set(bodies.values())) == 1
    assert sizes["br"] < sizes["gzip"] < sizes[""]


def test_what_refuses_a_coding_is_answered_plainly(visitor):
    """`q=0` is a no, and whoever names no coding gets none."""
    with visitor() as client:
        for offered in ("br;q=0, gzip;q=0", "identity", "zstd"):
            answer = client.get("/gym/gym.js", headers={"Accept-Encoding": offered})
            assert "content-encoding" not in answer.headers, offered


def test_our_files_are_kept_for_good_and_pages_never(visitor):
    """The address of a file changes with its content, so a browser need not ask again."""
    with visitor() as client:
        page = client.get("/exercise?ex=softmax")
        address = page.text.partition('src="/gym/gym.js')[2].partition('"')[0]
        script = client.get(f"/gym/gym.js{address}")

    assert "immutable" in script.headers["cache-control"]
    assert page.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ["exercise.js", "reader.js"])
def test_a_script_announces_its_parts_once_it_has_all_of_them(name):
    """What waits for the script looks for its part once, when the script says that there is more."""
    script = "".join((ASSETS / part).read_text(encoding="utf-8") for part in FILES[name])

    assert script.count('dispatchEvent(new Event("gym:more"))') == 1
    assert script.rindex("gym.parts.") < script.index('dispatchEvent(new Event("gym:more"))')


@pytest.mark.parametrize("asked", ["scaled_dot_product_attention", "no_such_exercise", "<script>"])
def test_an_exercise_is_read_without_any_script(site: Site, browser: Browser, asked: str):
    """Heading, statement and starter are in the page itself; what the address asks for is never part of it."""
    catalog = Catalog.load()
    known = catalog.get(asked) or next(iter(catalog.values()))
    context = browser.new_context(base_url=site.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/exercise?ex={asked}")

    expect(page.get_by_role("heading", level=1)).to_contain_text(known.title)
    expect(page.get_by_role("heading", name="What to build")).to_be_visible()
    expect(page.locator(".gym-first-code")).to_contain_text(known.starter.splitlines()[0])
    expect(page.get_by_text("There is no such exercise")).to_have_count(0 if asked in catalog else 1)
    context.close()


def test_the_front_page_is_read_without_any_script(site: Site, browser: Browser):
    """What this is, and a link to every exercise: on a slow phone the scripts take seconds, and the page was empty."""
    catalog = Catalog.load()
    context = browser.new_context(base_url=site.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")

    expect(page.get_by_role("heading", level=1)).to_have_text("Understand attention by writing it")
    expect(page.get_by_text("No account is needed.")).to_be_visible()
    for exercise in catalog.values():
        link = page.locator(f'.gym-card-link[href="/exercise?ex={exercise.id}"]')
        expect(link).to_contain_text(exercise.title)
    context.close()


def test_a_list_is_read_without_any_script(visitor, person):
    """With its header and who is asking, and a title of its own."""
    who = person()
    with visitor(who) as client:
        for listed in PAGES:
            text = client.get(listed.path).text
            assert [page.title for page in PAGES if f">{page.title}</a>" not in text] == []
            assert who.user.name in text
            assert f"<title>{listed.title} · Attention Gym</title>" in text


def test_a_page_is_light_and_nothing_in_it_jumps(site: Site, browser: Browser):
    """On a phone with an empty cache, up to the editor: bytes on the wire, requests, and how far things move."""
    context = browser.new_context(base_url=site.url, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.add_init_script(SHIFTS)
    done = []
    page.on("requestfinished", lambda request: done.append(request))
    page.goto(EXERCISE)
    ready(page)
    page.wait_for_load_state("networkidle")
    sizes = [one.sizes() for one in done if one.url.startswith(site.url)]

    assert sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes) < MOST_BYTES
    assert len(sizes) <= MOST_REQUESTS
    assert page.evaluate("window.shift") < MOST_SHIFT
    context.close()


@pytest.mark.parametrize("exercise", Catalog.load())
def test_a_statement_says_why_and_its_formulas_become_mathml(exercise: str):
    """First why, last two questions with folded answers; no dollar sign and no backslash is left outside of code."""
    known = Catalog.load()[exercise]
    for text in (known.statement, *known.hints):
        html = statement.to_html(text)
        reader = _Formulas()
        reader.feed(html)
        outside = "".join(
            part.partition("</code>")[2] if place else part for place, part in enumerate(html.split("<code"))
        )
        assert reader.tags.count("math") == html.count("</math>")
        assert "$" not in outside
        assert "\\" not in outside
        assert "merror" not in html
    html = statement.to_html(known.statement)
    assert html.count("<pre") == html.count('<pre tabindex="0">')
    headings = [part.partition("</h2>")[0] for part in html.split("<h2>")[1:]]
    assert (headings[:2], headings[-1]) == (["Why", "What to build"], "To think about")
    assert 'href="https://' in html.rpartition("<em>Source")[2]
    answers = 2 + known.statement.count("## Try this")
    assert html.count("<details><summary>Answer</summary>") == html.count("</details>") == answers


def test_a_formula_breaks_between_its_statements_only():
    """At wide gaps outside of brackets and environments; a comma never begins a line."""
    html = statement.to_html(
        r"$$a = \left(b \quad c\right), \qquad d = \begin{cases} 1 & \quad 2 \end{cases}$$ and $e$, $f$"
    )

    assert html.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">') == 2
    assert html.count("</math>") == 4
    assert html.count('<span class="gym-keep">') == html.count("</math></span>,</span>") == 1


def test_markup_in_markdown_is_text():
    """An exercise of a pack brings no markup along, in text or in formulas."""
    html = statement.to_html("<script>alert(1)</script> $<img src=x onerror=alert(1)>$ [a](javascript:alert(1))")

    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
