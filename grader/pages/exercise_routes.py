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
from grader.pages.plain import Refusal
from grader.pages.render import part_view
from grader.pages.request_limits import AtOnce, RequestLimiter, watched_runs
from grader.pages.requests import parse
from grader.pages.wording import pack
from grader.service import Service
from grader.store.records import SubmissionId, User, Watch

LOG = logging.getLogger(__name__)
HEADERS = {"X-Accel-Buffering": "no"}  # a proxy in front passes each line on as it comes
PATIENCE_SECONDS = 25.0  # a few may be before it, and each may take seconds
TOO_LONG = "This took too long; others may be trying their code as well. Please try again in a moment."
SORRY = "This could not be tried because of an error on our side. Please try again."
Short = Annotated[str, StringConstraints(max_length=100)]
Typed = Annotated[str, StringConstraints(max_length=8000)]


class _Try(BaseModel):
    """What the browser sends, as JSON."""

    model_config = ConfigDict(strict=True, extra="forbid")

    source: str
    example: Short = ""
    seed: int = Field(default=1, ge=0, lt=2**31)
    typed: dict[Short, Typed] = Field(default_factory=dict, max_length=12)


@dataclass(frozen=True, slots=True)
class ExerciseRoutes:
    """The handlers. What blocks runs in threads, of which those of one address take turns."""

    handlers: ExerciseHandlers
    seats: AtOnce = field(default_factory=watched_runs)
    following: RequestLimiter = field(default_factory=RequestLimiter)
    trying: RequestLimiter = field(default_factory=RequestLimiter)

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/runs/{submission}", self.follow, methods=["GET"])
        router.add_api_route("/draft", self.keep_draft, methods=["POST"])
        router.add_api_route("/try", self.run_try, methods=["POST"])
        return router

    @property
    def service(self) -> Service:
        """The service behind the page."""
        return self.handlers.service

    # ---- the stream of a run

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
        def begin() -> tuple[User, AsyncIterator[Watch]] | None:
            user = self.handlers.identity.user(request)
            return (user, self.service.watch(user, id)) if user else None

        try:
            # The request's own turn ended as its answer began.
            async with self.following.turn(network_of(address_of(request))):
                begun = await asyncio.to_thread(begin)
            if begun is None:
                yield "panel", run_status.guest_view()
                return
            user, watching = begun
            with self.seats(user.id):
                async for part in self._watched(user, watching):
                    yield part
        except NotAllowed as refusal:
            yield "panel", run_status.refused_view(str(refusal))

    async def _watched(self, user: User, watching: AsyncIterator[Watch]) -> AsyncIterator[Part]:
        async for watch in watching:
            exercise = self.service.catalog.get(watch.exercise)
            yield "panel", run_status.watch_view(watch, exercise.spec.limits if exercise else None)
            if watch.state.final:  # twice where a cause is searched for: before, and after
                for part in await asyncio.to_thread(self._ending, user, watch):
                    yield part

    def _ending(self, user: User, watch: Watch) -> list[Part]:
        best = self.service.best(user)
        if watch.part is not None:
            report = part_view(watch.part, number_of_attempt=watch.nth)
        else:
            report = self.handlers.report(watch.report, watch.nth, watch.exercise, best)
        return [("report", report), *self.handlers.changed(user, watch.exercise, best)]

    # ---- drafts

    async def keep_draft(self, request: Request, ex: str = "", base: str = "") -> Response:
        """Store the body as a member's draft for the exercise `ex`, made from the one saved at `base`.

        What is typed comes every few seconds, and once as a page closes; a guest's or visitor's stays in the browser.
        The answer is `saved`, the new base; or, with status 409, that and the `source` that was stored elsewhere since.
        """
        source = (await request.body()).decode(errors="replace")

        def keep() -> Response:
            user = self.handlers.identity.user(request)
            if user is None:
                return JSONResponse({"error": "Sign in to keep drafts."}, 401)
            try:
                kept = self.service.drafts.keep(user, ex, source, _seconds(base))
            except NotAllowed as refusal:
                return JSONResponse({"error": str(refusal)}, 422)
            if kept.source != source.encode(errors="replace").decode():
                return JSONResponse({"saved": kept.saved, "source": kept.source}, 409)
            return JSONResponse({"saved": kept.saved})

        return await asyncio.to_thread(keep)

    # ---- tries

    async def run_try(self, request: Request, ex: str = "") -> Response:
        """Run the answer in the body on an example of the exercise `ex`; nothing of it is stored, and nobody is asked.

        The answer is what came of it, or an `error` in words; the status is 503 where it is a fault of ours.
        """
        address = address_of(request)
        try:
            asked = _Try.model_validate(parse(await request.body()))
        except (Refusal, ValidationError):
            return _refusal("This is no request that the page makes. Reload it.", 400)

        def begin() -> Future[str]:
            wanted = TryoutRequest(ex, asked.source, asked.example, asked.seed, asked.typed)
            return self.service.tryouts.run(self.handlers.identity.user(request), address, wanted)

        try:
            async with self.trying.turn(network_of(address)):
                future = await asyncio.to_thread(begin)
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


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _refusal(text: str, status: int) -> Response:
    return JSONResponse({"error": text}, status)
