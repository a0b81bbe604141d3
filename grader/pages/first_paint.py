"""What a page shows before any script has run: an exercise's statement and starter, all exercises, or that it comes.

Gradio takes seconds to start on a slow phone. Until it has, this stands in its place, in the same positions, so that
nothing moves when the scripts take over (`gym.ready`). Statement, hints and the introduction on the front page are sent
here only, and are taken over.
"""

from __future__ import annotations

from functools import cached_property
from html import escape

from starlette.datastructures import Headers
from starlette.types import Scope

from grader.exercise.catalog import Catalog, Exercise
from grader.pages import catalogue, front_page, statement
from grader.pages.requests import asked_of
from grader.pages.site import EXERCISE, EXERCISES, LISTS, PAGES, Page

TEACH = "/teach/"  # whatever is shown there
COMING = "The editor is loading. You can type here already."
NO_HINTS = "<p>This exercise has no hints.</p>"


class FirstPaint:
    """Writes the beginning of a page's body."""

    def __init__(self, catalog: Catalog, cookie: str) -> None:
        """Know the exercises, and the cookie of whoever has begun."""
        self._catalog, self._cookie = catalog, f"{cookie}="
        self._written: dict[tuple[str, str], bytes] = {}

    def of(self, scope: Scope) -> bytes:
        """Return what the page at an address begins with; nothing where it is none of the students' pages."""
        if scope["path"] in self._lists:
            return self._lists[scope["path"]][self._cookie in Headers(scope=scope).get("cookie", "")]
        if scope["path"] == TEACH:
            return self._teach
        if scope["path"] != "/exercise":
            return b""
        asked = asked_of(scope.get("query_string", b""), EXERCISE).get("ex", "")
        exercise = self._catalog.get(asked) or next(iter(self._catalog.values()))
        key = exercise.id, catalogue.notice(self._catalog, asked)
        if key not in self._written:
            self._written[key] = self._written_for(exercise, key[1]).encode()
        return self._written[key]

    def _written_for(self, exercise: Exercise, notice: str) -> str:
        name = escape(catalogue.numbered(self._catalog, exercise.id))
        facts = escape(catalogue.facts(exercise))
        needs = '<p class="gym-needs">&nbsp;</p>' if exercise.spec.needs else ""
        said = f'<p class="gym-notice">{notice} <a href="/">All exercises</a></p>' if notice else ""
        return f"""<div id="gym-first">{header()}
<div class="gym-title">{said}<div><h1>{name}</h1><p class="gym-sub">{facts}</p>{needs}</div></div>
<div class="gym-first-desk"><main class="gym-first-left"><div class="gym-first-tabs">Statement</div>
<div class="gym-text" id="gym-statement">{statement.to_html(exercise.statement)}</div></main>
{editor(exercise.starter)}</div>
<div class="gym-text" id="gym-hints" hidden>{hints(exercise.hints)}</div></div>"""

    @cached_property
    def _lists(self) -> dict[str, dict[bool, bytes]]:
        return {page.path: self._written_both(page) for page in LISTS}

    @cached_property
    def _teach(self) -> bytes:
        return coming("header", header(), '<p class="gym-sub">This page is loading.</p>').encode()

    def _written_both(self, page: Page) -> dict[bool, bytes]:
        return {known: self._written_list(page, known).encode() for known in (False, True)}

    def _written_list(self, page: Page, known: bool) -> str:
        title = f'<h1>{page.title}</h1><p class="gym-sub">This page is loading.</p>'
        body = title if known or page is not EXERCISES else ""
        if page is EXERCISES:
            body += front_page.introduction(self._catalog, hidden=known) + front_page.shelves(self._catalog)
        return coming(page.body, header(page.path), body)


def coming(until: str, head: str, body: str) -> str:
    """Return what stands in a page's place until its part `until` is drawn."""
    return f'<div id="gym-first" data-until="{until}">{head}<main class="gym-page">{body}</main></div>'


def header(here: str = "") -> str:
    """Return the header with the link to the page at `here` marked, without what depends on who is asking."""
    marked = {True: ' aria-current="page"', False: ""}
    links = "".join(f'<a href="{page.path}"{marked[page.path == here]}>{page.title}</a>' for page in PAGES)
    brand = '<a href="/" class="gym-brand">Attention Gym</a>'
    return f'<header class="gym-header">{brand}<nav aria-label="Pages">{links}</nav></header>'


def editor(starter: str) -> str:
    """Return what can be typed into until the editor has come, which takes over what was typed."""
    rows = starter.count("\n") + 1
    plain = 'spellcheck="false" autocapitalize="off" autocomplete="off"'
    field = f'<textarea aria-label="Your code" rows="{rows}" {plain}>'
    bar = f'<p class="gym-code-bar" role="status"><span>{COMING}</span></p>'
    return f'<div class="gym-first-code">{bar}{field}{escape(starter)}</textarea></div>'


def hints(texts: tuple[str, ...]) -> str:
    """Return hints, each folded away on its own."""
    return "".join(statement.folded(f"Hint {place}", text) for place, text in enumerate(texts, 1)) or NO_HINTS
