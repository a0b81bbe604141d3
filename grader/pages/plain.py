"""Pages and pieces of pages from templates, and the answer to a request that goes no further.

Strangers' text is in them as text: every template escapes what it is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from grader.errors import DatabaseUnusable
from grader.pages.routes import PAGES
from grader.pages.wording import View, clean, number, pack, tone
from grader.service.accounts import PASSWORD_LENGTH
from grader.service.names import LONGEST, SHORTEST
from grader.store.engine import StoreUnavailable

TEMPLATES = Path(__file__).parent / "templates"
# What a field takes, said beside it before anything is refused.
LIMITS = {
    "name_least": SHORTEST,
    "name_most": LONGEST,
    "password_least": PASSWORD_LENGTH.start,
    "password_most": PASSWORD_LENGTH.stop - 1,
}
Header = Mapping[str, View]
AWAY = (
    "The service cannot reach its database at the moment. Nothing that was stored before is lost; what you have just "
    "sent was not stored. Please try again in a moment."
)
RETRY_SECONDS = "5"
STORE_FAULTS = (StoreUnavailable, DatabaseUnusable)
# Faults of the store that an event of Gradio's met in this request: Gradio answers whatever is raised with a 500.
MET: ContextVar[list[Exception] | None] = ContextVar("faults of the store", default=None)


def page(name: str, header: Header, status: int = 200, /, **shown: object) -> HTMLResponse:
    """Return the page of the template `name`; `header` is that of `lists.header_view`."""
    return HTMLResponse(render(name, header=header, **LIMITS, **shown), status)


def render(name: str, /, **shown: object) -> str:
    """Return what the template `name` makes of these values."""
    return _templates().get_template(name).render(**shown)


def piece(name: str, view: View) -> dict[str, View]:
    """Return a piece of a page, of `parts.html`, for a page that is open already and puts it in its place."""
    return {"html": str(getattr(_templates().get_template("parts.html").module, name)(view))}


@cache  # compiling a template takes 10 ms, in which nobody else is answered
def _templates() -> Environment:
    templates = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, auto_reload=False)
    templates.filters |= {
        "pieces": re.compile(r"`([^`\n]+)`").split,  # each second one is code
        "points": number,
        "tone": lambda points: tone(points, 100.0),
        "pack": pack,
        "iso": lambda seconds: datetime.fromtimestamp(seconds, UTC).isoformat(),
        "day": day,
        "clean": clean,
    }
    return templates


def day(moment: float) -> str:
    """Return the date of a moment, as `3 Nov 2026`."""
    return f"{datetime.fromtimestamp(moment, UTC):%-d %b %Y}"


class Refusal(Exception):
    """The HTTP status and the sentence that are sent back in place of an answer."""

    def __init__(self, status: int, text: str, *, as_json: bool = False) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.as_json = as_json

    def answer(self, headers: Headers) -> Response:
        """Return what is sent back, at no cost to the store: a page with a way on, where a person looks for one."""
        # There may be more to come, so this connection cannot be used again.
        closing = {"Connection": "close"}
        if self.status in (429, 503):
            closing["Retry-After"] = RETRY_SECONDS
        if self.as_json:
            return JSONResponse({"error": self.text}, self.status, closing)
        titles = {404: "Not found", 503: "Please try again"}
        if self.status in titles and "text/html" in headers.get("accept", ""):
            links: View = [{"text": one.title, "href": one.path} for one in PAGES]
            header: Header = {"title": f"{titles[self.status]} · Attention Gym", "links": links, "open": True}
            shown = render("missing.html" if self.status == 404 else "away.html", header=header, text=self.text)
            return HTMLResponse(shown, self.status, closing)
        return PlainTextResponse(self.text, self.status, closing)
