"""A request that goes no further."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from grader.pages.plain import missing


class Refusal(Exception):
    """The HTTP status and the sentence that are sent back in place of an answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text

    def answer(self, headers: Headers) -> Response:
        """Return what is sent back: a page with a way on where a person looks for one that is not there."""
        # There may be more to come, so this connection cannot be used again.
        closing = {"Connection": "close"}
        if self.status == 404 and "text/html" in headers.get("accept", ""):
            return HTMLResponse(missing(), self.status, closing)
        return PlainTextResponse(self.text, self.status, closing)
