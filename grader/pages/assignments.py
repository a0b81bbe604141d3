"""My assignments: what a student is to hand in, until when, what a hand-in costs now, and where each number is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from grader.errors import NotAllowed
from grader.exercise.catalog import Catalog
from grader.judge.report import Report
from grader.pages import lists, plain
from grader.pages.accounts import Field
from grader.pages.catalogue import address
from grader.pages.identity import Identity, id_of
from grader.pages.render import report_view
from grader.pages.routes import ASSIGNMENTS, RESULTS
from grader.pages.wording import View, clean
from grader.service.classes.work import Destination
from grader.store.classes import SchoolClass
from grader.store.coursework import wall_time
from grader.store.records import User

TITLE = ASSIGNMENTS.title
NONE_YET = "Your class has no assignments yet. Whatever you hand in is practice."
NO_CLASS = "You are in no class that has assignments. Whatever you hand in is practice."
_FREE = "could not be graded, and uses up no attempt"
_STATES = {
    "graded": "graded",
    "missing": "missing",
    "blank": "to do",
    "excused": "excused",
    "not_assigned": "not for you",
    "hidden": "handed in",
}
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
_TONES = {"graded": "good", "missing": "poor", "blank": "none", "excused": "none", "not_assigned": "none"}


def wall_words(text: str) -> str:
    """Return a minute of the class's wall in words: `Fri 9 Oct 2026, 23:59`."""
    return f"{wall_time(text):%a %-d %b %Y, %H:%M}"


def class_view(one: SchoolClass, agenda: Mapping[str, Any], catalog: Catalog, now: float) -> View:
    """Return a class as its student sees it."""
    line = agenda["line"]
    bank, left = line["bank"], line["bank"]["left"]
    days = f"{left} of {bank['start']} late days left" if bank["start"] else ""
    total = f"{line['total']} of {line['possible']} points"
    return {
        "key": one.key,
        "name": clean(one.name, 80),
        "zone": one.zone,
        "facts": " · ".join(filter(None, (f"{total}, {line['percent']} %" if line["percent"] else "", days))),
        "assignments": [_assignment(each, catalog, now) for each in agenda["assignments"]],
        "text": NONE_YET,
        "notices": [
            {
                "id": each["id"],
                "at": _seconds(each["at"]),
                "lines": clean(each["text"], 4000).split("\n"),
                "results": [
                    f"{RESULTS}?{urlencode({'class': one.key, 'change': each['change'], 'attempt': attempt})}"
                    for attempt in each["attempts"]
                ],
            }
            for each in agenda["notices"]
        ],
    }


def results_view(found: Mapping[str, Any], catalog: Catalog, *, back: View) -> dict[str, View]:
    """Return an attempt's results before a regrade and by it, side by side."""
    known = catalog.get(found["exercise"])
    title = known.title if known else clean(found["exercise"], 100)
    return {
        "title": f"{title}, graded once more",
        "text": clean(found["reason"], 2000),
        "back": back,
        "before": report_view(Report.from_json(found["before"])),
        "after": report_view(Report.from_json(found["after"])),
    }


def distance(seconds: float) -> str:
    """Return how far away a moment is, in words: `in 3 days`, `2 hours ago`."""
    size = abs(seconds)
    number, unit = next((int(size // each), name) for each, name in _UNITS if size >= each or each == 1)
    text = f"{number} {unit}{'' if number == 1 else 's'}"
    return f"in {text}" if seconds >= 0 else f"{text} ago"


def goal_view(goal: Destination, text: str, left: int | None) -> View:
    """Return in one sentence where a hand-in to an exercise goes now, for the head of the exercise."""
    due = goal.book.due(goal.person, goal.assignment).wall
    attempts = "" if left is None or not goal.counts else f" · {left} attempt{'' if left == 1 else 's'} left"
    return {
        "title": clean(goal.assignment.title or goal.assignment.key, 200),
        "text": f"due {due:%a %-d %b, %H:%M} ({goal.one.zone}) · {text}{attempts}",
        "href": f"{ASSIGNMENTS.path}#{quote(goal.assignment.key, safe='')}",
    }


def _assignment(one: Mapping[str, Any], catalog: Catalog, now: float) -> View:
    cell = one["cell"]
    state = "blank" if cell["state"] == "hidden" and not one["attempts"] else cell["state"]
    is_open = one["items"] and any(item["counts"] for item in one["items"])
    points = f"{cell['points']} of {one['possible']}" if cell["points"] is not None else ""
    return {
        "key": one["key"],
        "title": clean(one["title"] or one["key"], 200),
        "state": _STATES[state],
        "tone": _TONES.get(state, "none"),
        "points": points,
        "explain": cell["explain"] if cell["state"] == "graded" or cell["override"] is not None else "",
        "due": wall_words(one["due"]),
        "distance": distance(_seconds(one["ends"]) - now),
        "last": wall_words(one["last"]) if one["last"] not in (None, one["due"]) and is_open else "",
        "exercises": [_item(item, catalog) for item in one["items"]],
        "attempts": [_attempt(each, catalog) for each in reversed(one["attempts"])],
    }


def _item(item: Mapping[str, Any], catalog: Catalog) -> View:
    known, left = catalog.get(item["exercise"]), item["attempts_left"]
    attempts = "" if left is None else f"{left} attempt{'' if left == 1 else 's'} left"
    facts = (f"{item['weight']} points", item["text"], attempts if item["counts"] else "")
    return {
        "title": known.title if known else clean(item["exercise"], 100),
        "href": address(item["exercise"]) if known else "",
        "facts": " · ".join(filter(None, facts)),
    }


def _attempt(one: Mapping[str, Any], catalog: Catalog) -> View:
    known = catalog.get(one["exercise"])
    title = known.title if known else clean(one["exercise"], 100)
    said = "set aside" if one["aside"] else "counts" if one["counts"] else _FREE if one["is_free"] else ""
    score = "" if one["score"] is None else f"{one['score']} %"
    return {
        "id": one["id"],
        "title": title,
        "href": f"{address(one['exercise'])}&attempt={quote(one['id'], safe='')}" if known else "",
        "at": _seconds(one["at"]),
        "facts": " · ".join(filter(None, (score, said, one["gain"]))),
        "aside": one["aside"],
        "may_change": one["may_change"] and (one["aside"] or one["counts"] is not False),
    }


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


@dataclass(frozen=True, slots=True)
class AssignmentPages:
    """The handlers."""

    identity: Identity

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter(include_in_schema=False)
        router.add_api_route(ASSIGNMENTS.path, self.show, methods=["GET"])
        router.add_api_route(ASSIGNMENTS.path, self.change, methods=["POST"])
        router.add_api_route(RESULTS, self.results, methods=["GET"])
        return router

    def show(self, request: Request) -> Response:
        """Show the assignments of all classes in which the asking person studies."""
        user = self.identity.user(request)
        if user is None:
            raise HTTPException(303, headers={"Location": f"/sign-in?next={ASSIGNMENTS.path}"})
        return self._page(user)

    def change(
        self, request: Request, attempt: Field = "", undo: Field = "", *, read: Field = "", school: Field = ""
    ) -> Response:
        """Let an attempt count no longer, or again; or note that a notice was read."""
        user = self.identity.user(request)
        if user is None:
            raise HTTPException(401)
        classes = self.identity.service.classes
        person = classes.person_of(user)
        try:
            if read:
                classes.do(user, "notices_read", {"class": school, "person": person, "ids": [id_of(read)]})
            else:
                classes.do(user, "aside", {"person": person, "id": attempt, "undo": undo == "yes"})
        except NotAllowed as refusal:
            return self._page(user, 403, error=str(refusal))
        return RedirectResponse(ASSIGNMENTS.path, status_code=303)

    def results(self, request: Request, change: str = "", attempt: str = "") -> Response:
        """Show an attempt's results before a regrade and by it."""
        user, classes = self.identity.user(request), self.identity.service.classes
        if user is None:
            raise HTTPException(303, headers={"Location": f"/sign-in?next={ASSIGNMENTS.path}"})
        about = {"class": request.query_params.get("class", ""), "change": change, "attempt": attempt}
        try:
            found = classes.do(user, "results", {**about, "person": classes.person_of(user)})
        except NotAllowed:
            return plain.page("missing.html", lists.header_view(user, "Not found"), 404)
        back = {"href": ASSIGNMENTS.path, "text": TITLE}
        view = results_view(found, self.identity.service.catalog, back=back)
        header = lists.header_view(user, str(view["title"]), here=ASSIGNMENTS.path)
        return plain.page("results.html", header, view=view)

    def _page(self, user: User, status: int = 200, *, error: str = "") -> Response:
        service = self.identity.service
        views = []
        for one in service.classes.studied_by(user):
            agenda = service.classes.do(user, "agenda", {"class": one.key, "person": service.classes.person_of(user)})
            if agenda["assignments"] or agenda["notices"]:
                views.append(class_view(one, agenda, service.catalog, service.classes.now()))
        header = lists.header_view(user, TITLE, here=ASSIGNMENTS.path, next=ASSIGNMENTS.path)
        return plain.page("assignments.html", header, status, classes=views, text=NO_CLASS, error=error)
