"""Pages of plain HTML, which work before any script has run: all in one frame, below the header of every page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, Template

from grader.pages.site import PAGES
from grader.pages.wording import View
from grader.service.accounts import PASSWORD_LENGTH
from grader.service.names import LONGEST, SHORTEST

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
