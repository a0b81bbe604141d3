"""The stream of one run: how a submission is getting on, up to its report, and what the report changes on the page.

A stream of our own: Gradio's costs several times the processor time for each tab that waits, and a class waits at once.
The browser connects anew by itself when the server was away, and is told where things stand.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from fastapi import APIRouter, Request
from fastapi.sse import EventSourceResponse, format_sse_event

from grader.errors import GraderFault, NotAllowed, logged_for, record
from grader.pages import run_status
from grader.pages.accounts import address_of, network_of
from grader.pages.exercise_handlers import ExerciseHandlers, Part
from grader.pages.request_limits import RequestLimiter, StreamLimiter
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
