"""Tries an answer on one example and sends back what came of it; nothing of it is stored, and nobody need be known."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from grader.errors import GraderFault, NotAllowed
from grader.jobs.tryouts import TryoutRequest
from grader.pages.accounts import address_of, network_of
from grader.pages.envelope import parse
from grader.pages.identity import Identity
from grader.pages.refusal import Refusal
from grader.pages.request_limits import RequestLimiter

LOG = logging.getLogger(__name__)
PATIENCE_SECONDS = 25.0  # a few may be before it, and each may take seconds
TOO_LONG = "This took too long; others may be trying their code as well. Please try again in a moment."
SORRY = "This could not be tried because of an error on our side. Please try again."
Short = Annotated[str, StringConstraints(max_length=100)]
Typed = Annotated[str, StringConstraints(max_length=8000)]


class _Asked(BaseModel):
    """What the browser sends, as JSON."""

    model_config = ConfigDict(strict=True, extra="forbid")

    source: str
    example: Short = ""
    seed: int = Field(default=1, ge=0, lt=2**31)
    typed: dict[Short, Typed] = Field(default_factory=dict, max_length=12)


def build_tryouts(identity: Identity) -> APIRouter:
    """Return the route of tryouts."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route("/try", TryoutHandler(identity).run, methods=["POST"])
    return router


@dataclass(frozen=True, slots=True)
class TryoutHandler:
    """Answers with what came of it, or with an `error` in words; the status is 503 where it is a fault of ours."""

    identity: Identity
    turns: RequestLimiter = field(default_factory=RequestLimiter)

    async def run(self, request: Request) -> Response:
        """Run the answer in the body on an example of the exercise `ex`."""
        try:
            asked = _Asked.model_validate(parse(await request.body()))
        except (Refusal, ValidationError):
            return _refusal("This is no request that the page makes. Reload it.", 400)
        try:
            async with self.turns.turn(network_of(address_of(request))):  # for the threads' sake
                future = await asyncio.to_thread(self._begun, request, asked)
            body = await asyncio.wait_for(asyncio.wrap_future(future), PATIENCE_SECONDS)
        except NotAllowed as refusal:
            return _refusal(str(refusal), 200)
        except TimeoutError:
            return _refusal(TOO_LONG, 503)
        except GraderFault as fault:
            if not fault.incident:  # else it is in the log already
                LOG.warning("a tryout broke: %s", fault)
            return _refusal(SORRY, 503)
        return Response(body, media_type="application/json")

    def _begun(self, request: Request, asked: _Asked) -> Future[str]:
        user = self.identity.user(request)
        address = request.client.host if request.client else ""
        exercise = request.query_params.get("ex", "")
        wanted = TryoutRequest(exercise, asked.source, asked.example, asked.seed, asked.typed)
        return self.identity.service.tryouts.run(user, address, wanted)


def _refusal(text: str, status: int) -> Response:
    return JSONResponse({"error": text}, status)
