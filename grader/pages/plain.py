"""Pages of HTML from templates, all in one frame, and the answer to a request that goes no further."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, Template
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from grader.errors import DatabaseUnusable
from grader.pages.site import PAGES
from grader.pages.wording import View
from grader.service.names import LONGEST, SHORTEST
from grader.service.typed import PASSWORD_LENGTH
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


def page(name: str, header: Header, status: int = 200, /, **shown: object) -> HTMLResponse:
    """Return the page of the template `name`; `header` is that of `lists.header_view`."""
    return HTMLResponse(_template(name).render(header=header, **LIMITS, **shown), status)


def missing() -> str:
    """Return the page for an address that leads nowhere, to whomever: it costs no look into the store."""
    return _template("missing.html").render(header=_header("Not found"))


def away(text: str) -> str:
    """Return the page that says why nothing can be shown, without a look into the store."""
    return _template("away.html").render(header=_header("Please try again"), text=text)


def _header(title: str) -> Header:
    links: View = [{"text": one.title, "href": one.path} for one in PAGES]
    return {"title": f"{title} · Attention Gym", "links": links, "open": True}


@cache  # compiling it takes 10 ms, in which nobody else is answered
def _template(name: str) -> Template:
    return Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True).get_template(name)


AWAY = (
    "The service cannot reach its database at the moment. Nothing that was stored before is lost; what you have just "
    "sent was not stored. Please try again in a moment."
)
RETRY_SECONDS = "5"
STORE_FAULTS = (StoreUnavailable, DatabaseUnusable)
# Faults of the store that an event of Gradio's met in this request: Gradio answers whatever is raised with a 500.
MET: ContextVar[list[Exception] | None] = ContextVar("faults of the store", default=None)


class Refusal(Exception):
    """The HTTP status and the sentence that are sent back in place of an answer."""

    def __init__(self, status: int, text: str, *, as_json: bool = False) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.as_json = as_json

    def answer(self, headers: Headers) -> Response:
        """Return what is sent back: a page with a way on where a person looks for one that is not there."""
        # There may be more to come, so this connection cannot be used again.
        closing = {"Connection": "close"}
        if self.status in (429, 503):
            closing["Retry-After"] = RETRY_SECONDS
        if self.as_json:
            return JSONResponse({"error": self.text}, self.status, closing)
        if "text/html" in headers.get("accept", ""):
            if self.status == 404:
                return HTMLResponse(missing(), self.status, closing)
            if self.status == 503:
                return HTMLResponse(away(self.text), self.status, closing)
        return PlainTextResponse(self.text, self.status, closing)
