"""The students' site: exercises, one exercise, leaderboards, my work; four pages of one Gradio application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import gradio as gr
from gradio.components.navbar import Navbar

from grader.errors import NotAllowed
from grader.pages import catalogue, comparison, lists
from grader.pages.exercise import lay_out_exercise
from grader.pages.exercise_handlers import ExerciseHandlers
from grader.pages.identity import Identity
from grader.pages.parts import on, part
from grader.pages.site import COMPARE, EXERCISES, LEADERBOARD, LISTS, WORK, Page
from grader.pages.wording import View, pack
from grader.store.records import SubmissionId, User

GUEST_WORK = "Sign in to see what you have handed in."


def build_student(handlers: ExerciseHandlers) -> gr.Blocks:
    """Return the site for students and guests."""
    shelves = ListHandlers(handlers.identity)
    front, *others = LISTS
    with gr.Blocks(title="Attention Gym", analytics_enabled=False, fill_width=True) as blocks:
        _lay_out(blocks, front, shelves)
    with blocks.route("Exercise", "exercise"):
        _navigation()
        lay_out_exercise(blocks, handlers)
    for page in others:
        with blocks.route(page.title, page.path.removeprefix("/")):
            _lay_out(blocks, page, shelves)
    return cast("gr.Blocks", blocks)


def _lay_out(blocks: gr.Blocks, page: Page, shelves: ListHandlers) -> None:
    _navigation()
    show = getattr(shelves, page.event)
    on(blocks.load, show, None, [part("header"), part(page.body)], name=page.event)


def _navigation() -> None:
    Navbar(visible=False)  # the header is ours


@dataclass(frozen=True, slots=True)
class ListHandlers:
    """What the pages of lists show; each method is the event of a page, and returns a header and a body."""

    identity: Identity

    def exercises(self, request: gr.Request) -> tuple[str, str]:
        """Return the front page."""
        user = self.identity.user(request)
        best = self.identity.service.best(user) if user else {}
        again = self.identity.service.trail.practice(user) if user else []
        header = lists.header_view(user, EXERCISES.title, here=EXERCISES.path)
        return pack(header), pack(catalogue.exercises_view(self.identity.service.catalog, best, again))

    def board(self, request: gr.Request) -> tuple[str, str]:
        """Return the leaderboard that the address names, the overall one if it names none."""
        user, service = self.identity.user(request), self.identity.service
        asked = request.query_params.get("ex", "")
        chosen = asked if asked in service.catalog else None
        board = lists.board_view(service.leaderboard(chosen, user), user.id if user else None, overall=chosen is None)
        body = {
            **board,
            "wide": True,
            "title": service.catalog[chosen].title if chosen else LEADERBOARD.title,
            "choices": catalogue.board_choices(service.catalog, chosen),
        }
        if asked and chosen is None:
            body["notice"] = "There is no such exercise; this is the board of all of them."
        if not board["rows"]:
            body["text"] = "Nobody is here yet. The first accepted submission takes the top line."
        title = f"{body['title']}: leaderboard" if chosen else LEADERBOARD.title
        return pack(lists.header_view(user, title, here=LEADERBOARD.path)), pack(body)

    def work(self, request: gr.Request) -> tuple[str, str]:
        """Return everything that whoever asks has handed in."""
        user, service = self.identity.user(request), self.identity.service
        body: View
        if user is None:
            body = lists.guest_list(WORK.title, WORK.path, GUEST_WORK)
        else:
            body = lists.work_view(user, service.attempts(user), service.catalog)
        return pack(lists.header_view(user, WORK.title, here=WORK.path)), pack(body)

    def compare(self, request: gr.Request) -> tuple[str, str]:
        """Return the two attempts that the address names side by side."""
        user, asked = self.identity.user(request), request.query_params
        header = pack(lists.header_view(user, COMPARE.title, here=WORK.path))
        if user is None:
            link = {"href": f"/sign-in?next={WORK.path}", "text": "Sign in"}
            return header, pack(comparison.refusal_view(GUEST_WORK, link))
        return header, pack(self._pair(user, asked.get("attempt", ""), asked.get("before", "")))

    def _pair(self, user: User, id: str, other: str) -> View:
        service = self.identity.service
        try:
            pair = service.trail.pair(user, SubmissionId(id), SubmissionId(other) if other else None)
        except NotAllowed as refusal:
            return comparison.refusal_view(str(refusal), {"href": WORK.path, "text": WORK.title})
        return comparison.comparison_view(pair, service.catalog, user.id)
