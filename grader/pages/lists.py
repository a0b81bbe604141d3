"""The students' pages that show a list: exercises, leaderboards, my work, two attempts; and the header of every page.

What a page shows is made by pure functions from values to values, and drawn by a template.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response

from grader.exercise.catalog import Catalog
from grader.judge.report import Status
from grader.pages import catalogue, plain
from grader.pages.catalogue import FULL, address
from grader.pages.identity import Identity, shown_name
from grader.pages.routes import ASSIGNMENTS, COMPARE, EXERCISES, LEADERBOARD, PAGES, WORK
from grader.pages.wording import View, clean, number, tone
from grader.store.records import Attempt, Role, Standing, State, SubmissionId, User, UserId
from grader.store.standings import FREE

_ENDS = {
    Status.REJECTED: "could not be run",
    Status.UNGRADABLE: "could not be graded",
    Status.TIMEOUT: "ran out of time",
    Status.MEMORY: "ran out of memory",
    Status.CRASHED: "crashed",
}
CLASSES = "/classes"
GUEST_WORK = "Sign in to see what you have handed in."
_ON_THE_WAY = {
    State.QUEUED: "in line",
    State.RUNNING: "being checked",
    State.CANCELLED: "cancelled",
    State.SEALED: "handed in",
}


def header_view(
    user: User | None, title: str, *, here: str = "", next: str = "", skip: bool = False
) -> dict[str, View]:
    """Return the header of a page.

    Args:
        user: who is signed in.
        title: the page's, for the browser's tab.
        here: the path of the link that is marked.
        next: where to go on after signing in; the front page if left out.
        skip: whether to offer the way past everything to the editor.
    """
    links = [(page.title, page.path) for page in PAGES]
    if user is not None and user.studies:
        links.append((ASSIGNMENTS.title, ASSIGNMENTS.path))
    role = None if user is None else user.role
    if role is Role.INSTRUCTOR:
        links.append(("Gradebook", "/teach/"))
    if role in (Role.ASSISTANT, Role.INSTRUCTOR) or here == CLASSES:
        links.append(("Classes", CLASSES))
    return {
        "title": f"{title} · Attention Gym",
        "user": shown_name(user) if user else "",
        "visitor": user is not None and user.visitor,
        "links": [{"text": text, "href": href, "here": href == here} for text, href in links],
        "next": next,
        "skip": skip,
    }


def board_view(standings: Sequence[Standing], you: UserId | None, *, overall: bool = False) -> dict[str, View]:
    """Return a leaderboard; the reader's own line is marked."""
    columns = [{"name": "Rank", "kind": "number"}, {"name": "Name"}, {"name": "Score", "kind": "score"}]
    columns += [{"name": "Solved", "kind": "number"}] if overall else []
    columns += [{"name": "Attempts", "kind": "number"}]
    if overall:
        columns[2]["kind"] = "number"
    return {
        "label": "Leaderboard",
        "columns": columns,
        "rows": [_standing(standing, you, overall=overall) for standing in standings],
        "text": "Ranked by score, then fewer attempts, then the earlier date.",
    }


def _standing(standing: Standing, you: UserId | None, *, overall: bool) -> View:
    score: list[View] = [round(standing.score, 2), standing.solved] if overall else [standing.score]
    name = clean(standing.name, 64)
    return {"cells": [standing.rank, name, *score, standing.attempts], "you": standing.user == you}


def attempts_view(attempts: Sequence[Attempt]) -> View:
    """Return a person's attempts at one exercise; a click opens one."""
    compared = comparisons(attempts)
    rows = [{**line(attempt, called(attempt.nth)), "compare": compared.get(attempt.id)} for attempt in attempts]
    return {"rows": rows, "text": "No attempts yet. Each run of the checks is kept here with its code."}


def work_view(user: User, attempts: Sequence[Attempt], catalog: Catalog) -> View:
    """Return everything a person has handed in, newest first; a click leads to the exercise."""
    joins = user.role is Role.LEARNER and not user.visitor
    text = "No submissions yet. Choose an exercise and press Run checks."
    compared = comparisons(attempts)
    rows = [{**work_line(attempt, catalog), "compare": compared.get(attempt.id)} for attempt in attempts]
    join = {"href": "/join", "text": "Join a class"} if joins else None
    return {"wide": True, "title": "My work", "rows": rows, "text": text, "join": join}


def work_line(attempt: Attempt, catalog: Catalog) -> dict[str, View]:
    """Return an attempt as a line that leads to its exercise."""
    text = f"{called(attempt.nth).lower()} · {outcome(attempt)}"
    href = f"{address(attempt.exercise)}&attempt={quote(attempt.id, safe='')}"
    return {**line(attempt, _title(attempt, catalog)), "text": text, "href": href}


def pair_address(id: SubmissionId, other: SubmissionId | None = None) -> str:
    """Return where an attempt is compared with another one, or else with the one before it."""
    with_other = f"&before={quote(other, safe='')}" if other else ""
    return f"{COMPARE}?attempt={quote(id, safe='')}{with_other}"


def comparisons(attempts: Sequence[Attempt]) -> dict[SubmissionId, str]:
    """Return where each of the attempts, newest first, is compared with the one before it, where there is one."""
    found: dict[SubmissionId, str] = {}
    later: dict[str, SubmissionId] = {}  # by exercise
    for attempt in attempts:
        if attempt.status is not None:
            if attempt.exercise in later:
                found[later[attempt.exercise]] = pair_address(later[attempt.exercise])
            later[attempt.exercise] = attempt.id
    return found


def question(number: int) -> str:
    """Return what to ask before an attempt takes the place of other code."""
    return f"Replace the code in the editor with {called(number).lower() if number else 'this code'}?"


def called(number: int) -> str:
    """Return what an attempt is called, 0 for one that was not counted."""
    return f"Attempt {number}" if number else "Not counted"


def guest_list(title: str, path: str, text: str) -> View:
    """Return a list for somebody who is not signed in: it says what signing in would show."""
    href = f"/sign-in?next={quote(path, safe='')}"
    return {"wide": bool(title), "title": title, "rows": [], "text": text, "link": {"href": href, "text": "Sign in"}}


def _title(attempt: Attempt, catalog: Catalog) -> str:
    known = catalog.get(attempt.exercise)
    return known.title if known else clean(attempt.exercise, 64)


def line(attempt: Attempt, title: str) -> dict[str, View]:
    """Return an attempt as a line of a list."""
    score = attempt.score if attempt.state is State.DONE and attempt.status not in FREE else None
    return {
        "id": attempt.id,
        "title": title,
        "text": outcome(attempt),
        "created": attempt.created,
        "score": "\u2013" if score is None else number(score),
        "tone": "none" if score is None else tone(score, 100.0),
        "question": question(attempt.nth),
    }


def outcome(attempt: Attempt) -> str:
    """Return what became of an attempt in a few words: its mistake above all."""
    if attempt.state in _ON_THE_WAY:
        return _ON_THE_WAY[attempt.state]
    if attempt.state is State.BROKEN or attempt.status is None:
        return "grader error"
    if attempt.status is Status.GRADED:
        return "full marks" if (attempt.score or 0.0) >= FULL else _cause(attempt)
    return _ENDS[attempt.status]


def _cause(attempt: Attempt) -> str:
    """Return the mistake of an attempt as the headline of its report has it, or else where it begins."""
    titles = [clean(title, 200) for title in attempt.mistakes]
    if len(titles) > 1:
        return f"two mistakes: {'; '.join(title.removesuffix('.') for title in titles)}"
    return "".join(titles) or clean(attempt.begins, 200) or "not accepted yet"


def address_asked(request: Request) -> str:
    """Return the address of a page with its query, for whoever comes back to it after signing in."""
    return f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path


@dataclass(frozen=True, slots=True)
class ListPages:
    """The handlers; threads run them, since each asks the store."""

    identity: Identity

    def router(self) -> APIRouter:
        """Return the routes of the pages."""
        router = APIRouter(include_in_schema=False)
        for path, show in (
            (EXERCISES.path, self.exercises), (LEADERBOARD.path, self.board), (WORK.path, self.work),
        ):  # fmt: skip
            router.add_api_route(path, show, methods=["GET"])
        return router

    def exercises(self, request: Request) -> Response:
        """Show the front page."""
        user, service = self.identity.user(request), self.identity.service
        best = service.best(user) if user else {}
        view = catalogue.exercises_view(service.catalog, best, service.trail.practice(user) if user else [])
        header = header_view(user, EXERCISES.title, here=EXERCISES.path, next=EXERCISES.path)
        return plain.page("exercises.html", header, view=view)

    def board(self, request: Request, ex: str = "") -> Response:
        """Show the leaderboard of an exercise, or the overall one, in one of the reader's classes."""
        user, service = self.identity.user(request), self.identity.service
        chosen, key = ex if ex in service.catalog else None, request.query_params.get("class", "")
        standings, seen = service.leaderboard(chosen, user, key=key), service.boards.classes(user)
        shown = next((one for one in seen if one.key == key), seen[0])
        view = {
            **board_view(standings, user.id if user else None, overall=chosen is None),
            "classes": [
                {"text": one.name, "href": catalogue.board_address(chosen, one.key), "here": one == shown}
                for one in seen
            ],
            "wide": True,
            "title": service.catalog[chosen].title if chosen else LEADERBOARD.title,
            "choices": catalogue.board_choices(service.catalog, chosen, shown.key if len(seen) > 1 else ""),
        }
        if ex and chosen is None:
            view["notice"] = "There is no such exercise; this is the board of all of them."
        if not view["rows"]:
            view["text"] = "Nobody is here yet. The first accepted submission takes the top line."
        title = f"{view['title']}: leaderboard" if chosen else LEADERBOARD.title
        header = header_view(user, title, here=LEADERBOARD.path, next=address_asked(request))
        return plain.page("board.html", header, view=view)

    def work(self, request: Request) -> Response:
        """Show everything that whoever asks has handed in."""
        user, service = self.identity.user(request), self.identity.service
        view: View
        if user is None:
            view = guest_list(WORK.title, WORK.path, GUEST_WORK)
        else:
            view = work_view(user, service.attempts(user), service.catalog)
        return plain.page("attempts.html", header_view(user, WORK.title, here=WORK.path, next=WORK.path), view=view)
