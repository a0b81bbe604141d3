"""Takes what is being typed from the browser, without Gradio: it comes every few seconds, and once as a page closes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from grader.errors import NotAllowed
from grader.pages.identity import Identity


def build_drafts(identity: Identity) -> APIRouter:
    """Return the route of drafts."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route("/draft", DraftHandler(identity).keep, methods=["POST"])
    return router


@dataclass(frozen=True, slots=True)
class DraftHandler:
    """Stores a member's draft; a guest's or visitor's stays in the browser."""

    identity: Identity

    async def keep(self, request: Request) -> Response:
        """Store the body as the draft for the exercise `ex`, made from the one saved at `base`.

        The answer is `saved`, the new base; or, with status 409, that and the `source` that was stored elsewhere since.
        """
        source = (await request.body()).decode(errors="replace")
        return await asyncio.to_thread(self._answer, request, source)

    def _answer(self, request: Request, source: str) -> Response:
        user = self.identity.user(request)
        if user is None:
            return JSONResponse({"error": "Sign in to keep drafts."}, 401)
        try:
            exercise, base = request.query_params.get("ex", ""), _seconds(request.query_params.get("base", ""))
            kept = self.identity.service.drafts.keep(user, exercise, source, base)
        except NotAllowed as refusal:
            return JSONResponse({"error": str(refusal)}, 422)
        if kept.source != source.encode(errors="replace").decode():
            return JSONResponse({"saved": kept.saved, "source": kept.source}, 409)
        return JSONResponse({"saved": kept.saved})


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
