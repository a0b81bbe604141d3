"""What the page of an exercise shows before any script has run: its heading, the statement, and the starter.

Gradio takes seconds to start on a slow phone. Until it has, this stands in its place, in the same positions, so that
nothing moves when the scripts take over (`gym.ready`). Statement and hints are sent here only, and are taken over.
"""

from __future__ import annotations

from functools import cached_property
from html import escape

from starlette.types import Scope

from grader.exercise.catalog import Catalog, Exercise
from grader.pages import catalogue, prose
from grader.pages.rebuild import asked_of
from grader.pages.site import EXERCISE, PAGES

NO_HINTS = "<p>This exercise has no hints.</p>"


class FirstPaint:
    """Writes the beginning of a page's body."""

    def __init__(self, catalog: Catalog) -> None:
        """Know the exercises."""
        self._catalog = catalog
        self._written: dict[tuple[str, str], bytes] = {}

    def of(self, scope: Scope) -> bytes:
        """Return what the page at an address begins with; nothing where it is no exercise."""
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
        return f"""<div id="gym-first">{self._header}
<div class="gym-title">{said}<div><h1>{name}</h1><p class="gym-sub">{facts}</p>{needs}</div></div>
<div class="gym-first-desk"><main class="gym-first-left"><div class="gym-first-tabs">Statement</div>
<div class="gym-text" id="gym-statement">{prose.to_html(exercise.statement)}</div></main>
<pre class="gym-first-code" aria-hidden="true">{escape(exercise.starter)}</pre></div>
<div class="gym-text" id="gym-hints" hidden>{hints(exercise.hints)}</div></div>"""

    @cached_property
    def _header(self) -> str:
        links = "".join(f'<a href="{page.path}">{page.title}</a>' for page in PAGES)
        brand = '<a href="/" class="gym-brand">Attention Gym</a>'
        return f'<header class="gym-header">{brand}<nav aria-label="Pages">{links}</nav></header>'


def hints(texts: tuple[str, ...]) -> str:
    """Return hints, each folded away on its own."""
    return "".join(prose.folded(f"Hint {place}", text) for place, text in enumerate(texts, 1)) or NO_HINTS
