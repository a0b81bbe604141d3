"""What happens on the exercise page: each method answers one event with the parts of the page that change.

Whatever arrives was typed by the browser's owner: the exercise, the submission's id and the code are checked here and
again by the service, and who is asking is read from the cookie only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from grader.errors import GraderFault, NotAllowed, record
from grader.exercise.catalog import Catalog, Exercise
from grader.pages import catalogue, lists, panel
from grader.pages.crowd import Seats
from grader.pages.identity import Identity
from grader.pages.render import report_view
from grader.pages.wording import View, pack
from grader.service import Service
from grader.store.records import SubmissionId, User, Watch

LOG = logging.getLogger(__name__)
GUEST_ATTEMPTS = "Sign in to keep your attempts."
Parts = tuple[Any, ...]  # what Gradio takes: one value per output


@dataclass(frozen=True, slots=True)
class Desk:
    """The event handlers; the blocking ones are run in threads by Gradio."""

    identity: Identity
    seats: Seats = field(default_factory=Seats)

    @property
    def service(self) -> Service:
        """The service behind the page."""
        return self.identity.service

    @property
    def catalog(self) -> Catalog:
        """The exercises."""
        return self.service.catalog

    def open(self, request: gr.Request) -> Parts:
        """Fill the page of the exercise that the address names.

        Returns:
            header, title, statement, hints, paper, exercise, submission, attempts, board
        """
        user = self.identity.user(request)
        exercise = self._exercise(request.query_params.get("ex", ""))
        unfinished = self.service.unfinished(user, exercise.id) if user else None
        return (
            pack(lists.header_view(user, exercise.title, here="/", skip=True)),
            self._title(user, exercise),
            exercise.statement,
            hints_text(exercise.hints),
            pack(self._paper(user, exercise)),
            exercise.id,
            unfinished or "",
            *self._records(user, exercise),
        )

    def open_with_devices(self, request: gr.Request) -> Parts:
        """Fill the page where the installation has more than one device to choose from.

        Returns:
            those of `open`, and the choice
        """
        devices = self.service.devices_for(self._exercise(request.query_params.get("ex", "")).id)
        return *self.open(request), gr.update(value=devices[0], visible=len(devices) > 1)

    def submit(self, exercise: object, source: object, request: gr.Request) -> Parts:
        """Store the code for grading on the CPU.

        Returns:
            submission, panel
        """
        return self.submit_to(exercise, source, "cpu", request)

    def submit_to(self, exercise: object, source: object, device: object, request: gr.Request) -> Parts:
        """Store the code for grading, with panels for the device that was chosen.

        Returns:
            submission, panel
        """
        user = self.identity.user(request)
        if user is None:
            return "", pack(panel.guest_view())
        if not isinstance(exercise, str) or not isinstance(source, str) or not isinstance(device, str):
            return "", pack(panel.refused_view("That is no code."))
        try:
            return self.service.submit(user, exercise, source, device), gr.skip()
        except NotAllowed as refusal:
            # One that still runs is shown on; a second tab may have sent it.
            return self.service.unfinished(user, exercise) or "", pack(panel.refused_view(str(refusal)))
        except GraderFault as fault:
            return "", pack(panel.not_taken_view(record(LOG, "a submission could not be taken", fault)))

    async def watch(self, submission: object, request: gr.Request) -> AsyncIterator[Parts]:
        """Show how the submission is getting on, up to its report.

        Yields:
            panel, report
        """
        user = await asyncio.to_thread(self.identity.user, request)
        if user is None or not isinstance(submission, str) or not submission:
            yield gr.skip(), gr.skip()
            return
        id = SubmissionId(submission)
        try:
            with self.seats.taken(user.id):
                async for watch in await asyncio.to_thread(self.service.watch, user, id):
                    yield pack(panel.watch_view(watch)), await self._report(user, id, watch)
        except NotAllowed as refusal:
            yield pack(panel.refused_view(str(refusal))), gr.skip()

    def cancel(self, submission: object, request: gr.Request) -> None:
        """Take the submission back; whoever watches it sees that.

        Raises:
            gr.Error: it could not be cancelled, by a fault of ours; its text is shown.
        """
        user = self.identity.user(request)
        if user is not None and isinstance(submission, str) and submission:
            self._quietly_cancel(user, SubmissionId(submission))

    def refresh(self, exercise: object, request: gr.Request) -> Parts:
        """Bring what a new verdict changes up to date.

        Returns:
            title, attempts, board
        """
        user = self.identity.user(request)
        known = self._exercise(exercise)
        return self._title(user, known), *self._records(user, known)

    def restore(self, request: gr.Request, event: gr.EventData) -> Parts:
        """Open an earlier attempt: its code into the editor, its report below.

        Returns:
            paper, panel, report
        """
        user = self.identity.user(request)
        id = event._data.get("id") if isinstance(event._data, dict) else None
        if user is None or not isinstance(id, str):
            return gr.skip(), pack(panel.guest_view()), gr.skip()
        try:
            found = self.service.submission(user, SubmissionId(id))
        except NotAllowed as refusal:
            return gr.skip(), pack(panel.refused_view(str(refusal))), gr.skip()
        report = report_view(found.report, number_of_attempt=found.number)
        return pack({"restore": found.source}), pack(panel.opened_view(found.number)), pack(report)

    async def _report(self, user: User, id: SubmissionId, watch: Watch) -> Any:
        if not watch.state.final:
            return gr.skip()
        if watch.report is None:
            return pack(report_view(None))
        return await asyncio.to_thread(self._final_report, user, id, watch)

    def _final_report(self, user: User, id: SubmissionId, watch: Watch) -> str:
        found = self.service.submission(user, id)
        best = self.service.best(user).get(found.exercise)
        return pack(report_view(watch.report, number_of_attempt=found.number, best=best))

    def _quietly_cancel(self, user: User, id: SubmissionId) -> None:
        try:
            self.service.cancel(user, id)
        except NotAllowed:
            return  # somebody else's; there is nothing to show
        except GraderFault as fault:
            incident = record(LOG, "a submission could not be cancelled", fault)
            raise gr.Error(f"{panel.NOT_CANCELLED} ({incident})", print_exception=False) from fault

    def _exercise(self, name: object) -> Exercise:
        found = self.catalog.get(name) if isinstance(name, str) else None
        return found or next(iter(self.catalog.values()))

    def _title(self, user: User | None, exercise: Exercise) -> str:
        best = self.service.best(user) if user else {}
        return pack(catalogue.title_view(self.catalog, exercise, best))

    def _records(self, user: User | None, exercise: Exercise) -> tuple[str, str]:
        board = lists.board_view(self.service.leaderboard(exercise.id), user.id if user else None)
        if user is None:
            attempts = lists.guest_list("", catalogue.address(exercise.id), GUEST_ATTEMPTS)
        else:
            attempts = lists.attempts_view(self.service.attempts(user, exercise.id))
        return pack(attempts), pack(board)

    def _paper(self, user: User | None, exercise: Exercise) -> View:
        """Return what the editor starts with; names of drafts cannot clash, as an exercise's holds no slash."""
        latest = self.service.attempts(user, exercise.id)[:1] if user else []
        source = self.service.submission(user, latest[0].id).source if user and latest else ""
        return {
            "draft": f"gym/draft/{user.id if user else 'guest'}/{exercise.id}",
            "guest": f"gym/draft/guest/{exercise.id}",
            "starter": exercise.starter,
            "latest": source,
        }


def hints_text(hints: tuple[str, ...]) -> str:
    """Return the hints as Markdown, each folded away on its own."""
    if not hints:
        return "There are no hints for this one."
    folded = (
        f"<details><summary>Hint {place}</summary>\n\n{hint}\n\n</details>" for place, hint in enumerate(hints, 1)
    )
    return "\n\n".join(folded)
