"""The requests of the exercise page that do not go through Gradio: the stream of a run, drafts, and tries.

A stream of our own: Gradio's costs several times the processor time for each tab that waits, and a class waits at once.
The browser connects anew by itself when the server was away, and is told where things stand.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from grader.errors import GraderFault, NotAllowed, logged_for, record
from grader.jobs.tryouts import TryoutRequest
from grader.pages import run_status
from grader.pages.accounts import address_of, network_of
from grader.pages.exercise_handlers import ExerciseHandlers, Part
from grader.pages.identity import Identity
from grader.pages.plain import Refusal
from grader.pages.request_limits import RequestLimiter, StreamLimiter
from grader.pages.requests import parse
from grader.pages.wording import pack
from grader.service import Service
from grader.store.records import SubmissionId, User, Watch

LOG = logging.getLogger(__name__)
HEADERS = {"X-Accel-Buffering": "no"}  # a proxy in front passes each line on as it comes


def build_runs(handlers: ExerciseHandlers) -> APIRouter:
    """Return the route of the stream."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route("/runs/{submission}", Runs(handlers).follow, methods=["GET"])
    return router


@dataclass(frozen=True, slots=True)
class Runs:
    """Lets people follow their own submissions."""

    handlers: ExerciseHandlers
    seats: StreamLimiter = field(default_factory=StreamLimiter)
    turns: RequestLimiter = field(default_factory=RequestLimiter)

    @property
    def service(self) -> Service:
        """The service behind the page."""
        return self.handlers.service

    async def follow(self, request: Request, submission: str) -> EventSourceResponse:
        """Send each part of the page under its name whenever it changes, and `end` after the last."""
        return EventSourceResponse(self._lines(request, SubmissionId(submission)), headers=HEADERS)

    async def _lines(self, request: Request, id: SubmissionId) -> AsyncIterator[bytes]:
        try:
            async for name, view in self._parts(request, id):
                yield format_sse_event(event=name, data_str=pack(view))
            yield format_sse_event(event="end", data_str="")
        except GraderFault as fault:  # without an end, so that the browser asks again in a moment
            with logged_for(id):
                record(LOG, "a stream broke off", fault)

    async def _parts(self, request: Request, id: SubmissionId) -> AsyncIterator[Part]:
        try:
            # The request's own turn ended as its answer began.
            async with self.turns.turn(network_of(address_of(request))):
                begun = await asyncio.to_thread(self._begun, request, id)
            if begun is None:
                yield "panel", run_status.guest_view()
                return
            user, watching = begun
            with self.seats.taken(user.id):
                async for part in self._told(user, watching):
                    yield part
        except NotAllowed as refusal:
            yield "panel", run_status.refused_view(str(refusal))

    def _begun(self, request: Request, id: SubmissionId) -> tuple[User, AsyncIterator[Watch]] | None:
        user = self.handlers.identity.user(request)
        return (user, self.service.watch(user, id)) if user else None

    async def _told(self, user: User, watching: AsyncIterator[Watch]) -> AsyncIterator[Part]:
        async for watch in watching:
            exercise = self.service.catalog.get(watch.exercise)
            yield "panel", run_status.watch_view(watch, exercise.spec.limits if exercise else None)
            if watch.state.final:  # twice where a cause is searched for: before, and after
                for part in await asyncio.to_thread(self._ending, user, watch):
                    yield part

    def _ending(self, user: User, watch: Watch) -> list[Part]:
        best = self.service.best(user)
        report = self.handlers.report(watch.report, watch.nth, watch.exercise, best)
        return [("report", report), *self.handlers.changed(user, watch.exercise, best)]


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
