"""Our scripts, styles and fonts as pages ask for them: few files, whose addresses change with their content."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Callable
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import Response

from grader.pages.site import LISTS

ASSETS = Path(__file__).parent / "assets"
FILES = {  # the last file of `exercise.js` and of `reader.js` says that all of its parts can be drawn
    "math.woff2": ("math.woff2",),
    "gym.css": ("uPlot.min.css", "gym.css"),
    "gym.js": ("gym.js", "tabs.js", "loading.js", "tables.js", "trail.js", "report.js", "figures.js", "curves.js"),
    "exercise.js": ("codemirror.js", "draw.js", "try.js", "files.js", "editor.js"),
    "reader.js": ("highlight.js", "reader.js"),
    "charts.js": ("uPlot.iife.min.js",),  # only where a curve is drawn
    "microscope.js": ("microscope.js",),  # only where a reader comes near to one
}
_LATER = ("charts.js", "microscope.js")  # loaded by `gym.load`
_LAST = {"/exercise": "exercise.js", "/teach/": "reader.js"}  # what only one page needs
_TITLES = {page.path: f"{page.title} · Attention Gym" for page in LISTS} | {"/exercise": "Attention Gym"}
_KINDS = {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"}
_FOREVER = "public, max-age=31536000, immutable"
# Before the first paint, so that no page flashes in the wrong colours.
_COLOURS = (
    "<script>(() => { let own = null; try { own = localStorage.getItem('gym/theme'); } catch {} "
    "const dark = (own || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'; "
    "document.documentElement.classList.toggle('dark', dark); "
    "document.documentElement.style.colorScheme = dark ? 'dark' : 'light'; })();</script>"
)


class Bundles:
    """The files, read once; `box_name` gives what submissions run in, for the footer of each page."""

    def __init__(self, box_name: Callable[[], str]) -> None:
        """Read the files."""
        self._box_name = box_name
        self._bodies: dict[str, bytes] = {}
        for name, parts in FILES.items():
            body = b"\n".join((ASSETS / part).read_bytes() for part in parts)
            self._bodies[name] = body.replace(b"/gym/math.woff2", self._address("math.woff2").encode())

    def router(self) -> APIRouter:
        """Return the route of the files."""
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/gym/{name}", self._file, methods=["GET", "HEAD"])
        return router

    async def _file(self, name: str) -> Response:
        if name not in self._bodies:
            return Response("There is nothing here.", 404)
        kind = _KINDS[Path(name).suffix]
        return Response(self._bodies[name], media_type=kind, headers={"Cache-Control": _FOREVER})

    def heads(self, path: str) -> tuple[bytes, bytes]:
        """Return what to put at the beginning, and at the end, of the head of the page at `path`.

        Our scripts run before Gradio's, but for the editor's, which are larger than all of these; our styles come last.
        """
        metas = f'<meta name="gym-box" content="{html.escape(self._box_name())}">'
        metas += "".join(f'<meta name="gym-{Path(n).stem}" content="{self._address(n)}">' for n in _LATER)
        style = f'<link rel="stylesheet" href="{self._address("gym.css")}">'
        last = self._script(_LAST[path]) if path in _LAST else ""
        title = f"<title>{_TITLES[path]}</title>" if path in _TITLES else ""  # Gradio's scripts come later with theirs
        return f"{title}{_COLOURS}{self._script('gym.js')}".encode(), f"{style}{metas}{last}".encode()

    def _script(self, name: str) -> str:
        return f'<script defer src="{self._address(name)}"></script>'

    def _address(self, name: str) -> str:
        body = self._bodies.get(name, b"")
        return f"/gym/{name}?{hashlib.sha256(body).hexdigest()[:16]}" if body else f"/gym/{name}"
