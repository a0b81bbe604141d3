"""The stream of one run: how a submission is getting on, up to its report, and what the report changes on the page.

A stream of our own: Gradio's costs several times the processor time for each tab that waits, and a class waits at once.
The browser connects anew by itself when the server was away, and is told where things stand.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from grader.errors import NotAllowed
from grader.pages import panel
from grader.pages.crowd import Seats
from grader.pages.desk import Desk, Part
from grader.pages.render import report_view
from grader.pages.wording import pack
from grader.service import Service
from grader.store.records import SubmissionId, User, Watch

HEADERS = {"X-Accel-Buffering": "no"}  # a proxy in front passes each line on as it comes


def build_runs(desk: Desk) -> APIRouter:
    """Return the route of the stream."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route("/runs/{submission}", Runs(desk).follow, methods=["GET"])
    return router


@dataclass(frozen=True, slots=True)
class Runs:
    """Lets people follow their own submissions."""

    desk: Desk
    seats: Seats = field(default_factory=Seats)

    @property
    def service(self) -> Service:
        """The service behind the page."""
        return self.desk.service

    async def follow(self, request: Request, submission: str) -> StreamingResponse:
        """Send each part of the page under its name whenever it changes, and `end` after the last."""
        lines = self._lines(request, SubmissionId(submission))
        return StreamingResponse(lines, media_type="text/event-stream", headers=HEADERS)

    async def _lines(self, request: Request, id: SubmissionId) -> AsyncIterator[str]:
        user = await asyncio.to_thread(self.desk.identity.user, request)
        async for name, view in self._parts(user, id):
            yield f"event: {name}\ndata: {pack(view)}\n\n"
        yield "event: end\ndata:\n\n"

    async def _parts(self, user: User | None, id: SubmissionId) -> AsyncIterator[Part]:
        if user is None:
            yield "panel", panel.guest_view()
            return
        try:
            with self.seats.taken(user.id):
                async for watch in await asyncio.to_thread(self.service.watch, user, id):
                    yield "panel", panel.watch_view(watch)
        except NotAllowed as refusal:
            yield "panel", panel.refused_view(str(refusal))
            return
        for part in await asyncio.to_thread(self._ending, user, id, watch):
            yield part

    def _ending(self, user: User, id: SubmissionId, watch: Watch) -> list[Part]:
        found = self.service.submission(user, id)
        best = self.service.best(user)
        report = report_view(watch.report, number_of_attempt=found.number, best=best.get(found.exercise))
        return [("report", report), *self.desk.changed(user, found.exercise, best)]
