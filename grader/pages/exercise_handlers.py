"""What happens on the exercise page: each method answers one event with the parts of the page that change.

Whatever arrives was typed by the browser's owner: the exercise, the submission's id and the code are checked here and
again by the service, and who is asking is read from the cookie only.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from grader.errors import GraderFault, NotAllowed, logged_for, record
from grader.exercise.catalog import Catalog, Exercise
from grader.judge.report import Report
from grader.pages import catalogue, lists, plain, run_status
from grader.pages.assignments import goal_view
from grader.pages.identity import Identity
from grader.pages.render import part_view, report_view, solutions_view
from grader.pages.routes import ATTEMPT
from grader.pages.wording import View, pack
from grader.service import Service
from grader.store.records import Draft, Submission, SubmissionId, User
from grader.store.submissions import STILL_OPEN

LOG = logging.getLogger(__name__)
GUEST_ATTEMPTS = "Sign in to keep your attempts."
Parts = tuple[Any, ...]  # what Gradio takes: one value per output
Part = tuple[str, View]  # the name of a part of the page, and what it is to show


@dataclass(frozen=True, slots=True)
class ExerciseHandlers:
    """The event handlers; Gradio runs them in threads."""

    identity: Identity

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
            header, title, editor_state, exercise, submission, attempts, board, panel, report
        """
        user = self.identity.user(request)
        named = request.query_params.get("ex", "")
        exercise = self._exercise(named)
        unfinished = self.service.unfinished(user, exercise.id) if user else None
        best = self.service.best(user) if user else {}
        kept = self.service.drafts.of(user, exercise.id) if user else None
        asked = request.query_params.get("attempt", "")
        latest, shown = self._latest_and_shown(user, exercise, asked)
        header = lists.header_view(user, exercise.title, here="/", next=_address(request), skip=True)
        notice = catalogue.notice(self.catalog, named) or catalogue.attempt_notice(asked, shown.id if shown else "")
        return (
            pack({**plain.piece("header", header), "title": header["title"]}),
            pack(self._title(user, exercise, best, notice=notice)),
            pack(_editor_state(user, exercise, kept, latest, shown if shown and shown.id == asked else None)),
            exercise.id,
            unfinished or _still_searched(shown),
            *map(pack, self._records(user, exercise)),
            *map(pack, self._opened(shown, best) if shown else (run_status.idle_view(), report_view(None))),
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
            return "", pack(run_status.guest_view())
        if not isinstance(exercise, str) or not isinstance(source, str) or not isinstance(device, str):
            return "", pack(run_status.refused_view("That is not code."))
        try:
            address = request.client.host if request.client else ""
            return self.service.submit(user, exercise, source, device, address=address), ""  # what is not drawn
        except NotAllowed as refusal:
            return self._not_taken(user, exercise, str(refusal))
        except GraderFault as fault:
            return "", pack(run_status.not_taken_view(record(LOG, "a submission could not be taken", fault)))

    def _not_taken(self, user: User, exercise: str, why: str) -> Parts:
        """Return what follows a refusal: where another tab's submission is in the way, this one shows it as well."""
        other = self.service.unfinished(user, exercise) if why == STILL_OPEN else None
        if other:
            return other, pack(run_status.other_view())
        # The tab goes on following what it sent itself, if that still runs.
        return gr.skip(), pack(run_status.refused_view(why))

    def cancel(self, submission: object, request: gr.Request) -> None:
        """Take the submission back; whoever watches it sees that.

        Raises:
            gr.Error: it could not be cancelled, by a fault of ours; its text is shown.
        """
        user = self.identity.user(request)
        if user is not None and isinstance(submission, str) and submission:
            with logged_for(submission):
                self._quietly_cancel(user, SubmissionId(submission))

    def changed(self, user: User, exercise: str, best: Mapping[str, float]) -> list[Part]:
        """Return what a new verdict changes: title, attempts, board; `best` holds their best scores by exercise."""
        known = self._exercise(exercise)
        attempts, board = self._records(user, known)
        return [("title", self._title(user, known, best)), ("attempts", attempts), ("board", board)]

    def restore(self, attempt: object, request: gr.Request) -> Parts:
        """Open an earlier attempt: its code into the editor, its report below.

        Returns:
            editor_state, panel, report
        """
        user = self.identity.user(request)
        if user is None or not isinstance(attempt, str):
            return gr.skip(), pack(run_status.guest_view()), gr.skip()
        try:
            found = self.service.submission(user, SubmissionId(attempt))
        except NotAllowed as refusal:
            return gr.skip(), pack(run_status.refused_view(str(refusal))), gr.skip()
        panel, report = self._opened(found, self.service.best(user))
        return pack({"restore": found.source}), pack(panel), pack(report)

    def report(self, report: Report | None, number: int, exercise: str, best: Mapping[str, float]) -> View:
        """Return a report as its owner sees it, whose best scores are `best`."""
        solutions = solutions_view(self.catalog, self._exercise(exercise), best)
        return report_view(report, number_of_attempt=number, best=best.get(exercise), solutions=solutions)

    def _opened(self, shown: Submission, best: Mapping[str, float]) -> tuple[View, View]:
        """Return the panel and the report of an attempt that is shown again; one on its way is followed instead."""
        if shown.part is not None:
            return run_status.opened_view(shown.nth), part_view(shown.part, number_of_attempt=shown.nth)
        if shown.report is None:
            return run_status.idle_view(), report_view(None)
        return run_status.opened_view(shown.nth), self.report(shown.report, shown.nth, shown.exercise, best)

    def _title(self, user: User | None, exercise: Exercise, best: Mapping[str, float], *, notice: str = "") -> View:
        """Return the title line, with the assignment to which a hand-in goes now."""
        goal = self.service.classes.goal_of(user, exercise.id) if user is not None and user.member else None
        view = catalogue.title_view(self.catalog, exercise, best, notice=notice)
        told = goal_view(goal[0], goal[1]["text"], goal[1]["attempts_left"]) if goal is not None else None
        return plain.piece("title", {**view, "goal": told})

    def _quietly_cancel(self, user: User, id: SubmissionId) -> None:
        try:
            self.service.cancel(user, id)
        except NotAllowed:
            return  # somebody else's; there is nothing to show
        except GraderFault as fault:
            incident = record(LOG, "a submission could not be cancelled", fault)
            raise gr.Error(f"{run_status.NOT_CANCELLED} ({incident})", print_exception=False) from fault

    def _exercise(self, name: object) -> Exercise:
        found = self.catalog.get(name) if isinstance(name, str) else None
        return found or next(iter(self.catalog.values()))

    def _records(self, user: User | None, exercise: Exercise) -> tuple[View, View]:
        board = lists.board_view(self.service.leaderboard(exercise.id, user), user.id if user else None)
        attempts: View
        if user is None:
            attempts = lists.guest_list("", catalogue.address(exercise.id), GUEST_ATTEMPTS)
        else:
            attempts = lists.attempts_view(self.service.attempts(user, exercise.id))
        return plain.piece("attempts", attempts), plain.piece("board", board)

    def _latest_and_shown(
        self, user: User | None, exercise: Exercise, asked: str
    ) -> tuple[Submission | None, Submission | None]:
        """Return their latest attempt at an exercise, and the one to show: that which is asked for, or the latest."""
        attempts = self.service.attempts(user, exercise.id) if user else []
        if user is None or not attempts:
            return None, None
        latest = self.service.submission(user, attempts[0].id)
        wanted = next((attempt.id for attempt in attempts if attempt.id == asked), latest.id)
        return latest, latest if wanted == latest.id else self.service.submission(user, wanted)


def _address(request: gr.Request) -> str:
    query = urlencode({name: value for name, value in request.query_params.items() if name in ATTEMPT})
    return f"/exercise?{query}" if query else "/exercise"


def _still_searched(shown: Submission | None) -> str:
    """Return the id of an attempt whose cause is still being searched for; it is followed to the end of that."""
    return shown.id if shown is not None and shown.report is not None and not shown.report.complete else ""


def _editor_state(
    user: User | None, exercise: Exercise, kept: Draft | None, latest: Submission | None, asked: Submission | None
) -> View:
    """Return what the editor starts with; names of drafts cannot clash, as an exercise's holds no slash.

    What visitors type lies where guests' does: whoever signs in finds it, whatever the server has forgotten.
    """
    named = user is not None and not user.visitor
    return {
        "exercise": exercise.id,
        "member": user is not None,
        "kept": {"source": kept.source, "saved": kept.saved} if kept else None,
        "draft": f"gym/draft/{user.id if user and named else 'guest'}/{exercise.id}",
        "guest": f"gym/draft/guest/{exercise.id}" if named else None,
        "starter": exercise.starter,
        "latest": latest.source if latest else "",
        "asked": asked.source if asked else None,
        "question": lists.question(asked.nth) if asked else "",
    }
