"""A request that goes no further."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse, Response

MISSING = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not found · Attention Gym</title></head>
<body class="gym-plain-page">
<header class="gym-header"><a href="/" class="gym-brand">Attention Gym</a></header>
<main><div class="gym-form"><h1>There is nothing here.</h1><p><a href="/">All exercises</a></p></div></main>
</body>
</html>
"""


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
            return HTMLResponse(MISSING, self.status, closing)
        return PlainTextResponse(self.text, self.status, closing)
