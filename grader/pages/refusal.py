"""A request that goes no further."""

from __future__ import annotations

from contextvars import ContextVar

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from grader.errors import DatabaseUnusable
from grader.pages.plain import away, missing
from grader.store.engine import StoreUnavailable

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
