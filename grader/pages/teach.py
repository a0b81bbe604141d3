"""The instructors' site below `/teach`: gradebook, submissions, export. Nobody else gets past the mount."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import gradio as gr
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from grader.errors import NotAllowed
from grader.pages import gradebook, handed_in, lists
from grader.pages.handed_in import Asked
from grader.pages.identity import Identity
from grader.pages.parts import on, part
from grader.pages.render import report_view
from grader.pages.wording import View, pack
from grader.store.records import SubmissionId, User

PARTS = ("header", "gradebook", "attempts", "attempt", "source", "report")  # one that is not sent is not drawn
PAGES = {"/teach": "/teach/", "/teach/": "/teach/", "/teach/class": "/teach/class", "/teach/member": "/teach/class"}
Parts = Mapping[str, View]


def build_teach(identity: Identity) -> gr.Blocks:
    """Return the site for instructors."""
    with gr.Blocks(title="Attention Gym", analytics_enabled=False, fill_width=True) as blocks:
        *above, code, report = PARTS
        outputs = [part(name) for name in above]
        with gr.Column(elem_id="review"):
            outputs += [_column(code), _column(report)]
        on(blocks.load, InstructorHandlers(identity).open, None, outputs, name="open")
    return cast("gr.Blocks", blocks)


def _column(name: str) -> gr.HTML:
    with gr.Column():
        return part(name)


def build_exports(identity: Identity) -> APIRouter:
    """Return the route of the export; a file of Gradio's would be open to whoever knows its address."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route("/teach/export.csv", InstructorHandlers(identity).export, methods=["GET"])
    return router


@dataclass(frozen=True, slots=True)
class InstructorHandlers:
    """The handlers; each asks by itself whether an instructor is asking, and the service asks again."""

    identity: Identity

    def open(self, request: gr.Request) -> tuple[str, ...]:
        """Return the header and what the address names: a student, a submission, or else the gradebook.

        Raises:
            gr.Error: it is no instructor who asks.
        """
        user = self.identity.instructor(request)
        if user is None:
            raise gr.Error("This page is for instructors.", print_exception=False)
        title, body = self._body(user, request.query_params)
        shown = {**body, "header": lists.header_view(user, title, here="/teach/")}
        return tuple(pack(shown[name]) if name in shown else "" for name in PARTS)

    def export(self, request: Request) -> Response:
        """Send the gradebook as a CSV file.

        Raises:
            HTTPException: it is no instructor who asks.
        """
        user, service = self.identity.instructor(request), self.identity.service
        if user is None:
            raise HTTPException(401, "This page is for instructors.")
        exercises = list(service.catalog)
        rows = [gradebook.row_of(student, exercises) for student in service.instructor.students(user)]
        headers = {"Content-Disposition": 'attachment; filename="gradebook.csv"', "Cache-Control": "no-store"}
        text = gradebook.csv_of(exercises, rows)
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    def _body(self, user: User, query: Mapping[str, str]) -> tuple[str, Parts]:
        """Return the title of what the address names, and its parts."""
        asked, submission = Asked.of(query), query.get("submission", "")
        try:
            if asked and (missing := asked.what_is_missing(self.identity.service.catalog)):
                raise NotAllowed(missing)
            if asked and asked.student is not None and query.get("best"):
                owner = self.identity.service.instructor.student(user, asked.student)
                submission = self.identity.service.instructor.best_attempt(user, owner.id, asked.exercise)
            if "submission" in query or submission:
                return self._submission(user, SubmissionId(submission))
            if asked:
                return self._list(user, asked)
        except NotAllowed as refusal:
            return "Not found", {"attempts": handed_in.refusal_view(str(refusal))}
        track = query.get("track", "")
        title = gradebook.title_of(self.identity.service.catalog, track)
        return title, {"gradebook": self._gradebook(user, track)}

    def _gradebook(self, user: User, track: str) -> View:
        service = self.identity.service
        students, mistakes = service.instructor.students(user), service.instructor.common_mistakes(user)
        code = service.members.code(user)
        return gradebook.gradebook_view(service.catalog, students, mistakes, code=code, track=track)

    def _list(self, user: User, asked: Asked) -> tuple[str, Parts]:
        service = self.identity.service
        owner = service.instructor.student(user, asked.student) if asked.student is not None else None
        mistakes = service.instructor.common_mistakes(user) if asked.exercise else []
        found = service.instructor.listed(user, asked.wanted)
        view = handed_in.list_view(asked, found, service.catalog, mistakes, owner=owner)
        return str(view["title"]), {"attempts": view}

    def _submission(self, user: User, id: SubmissionId) -> tuple[str, Parts]:
        service = self.identity.service
        found = service.submission(user, id)
        student = service.instructor.student(user, found.user)
        head = handed_in.attempt_view(student, found, service.instructor.neighbours(user, found), service.catalog)
        report = report_view(found.report, number_of_attempt=found.nth)
        title = f"{head['title']}, {lists.called(found.nth).lower()}"
        return title, {"attempt": head, "source": handed_in.source_view(found), "report": report}


class InstructorOnly:
    """An ASGI application that lets nobody but instructors below `/teach`; browsers are led to the sign-in form.

    Gradio asks as well who somebody is, but not on all of its routes.
    """

    def __init__(self, app: ASGIApp, identity: Identity) -> None:
        """Stand before `app`."""
        self._app = app
        self._identity = identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirect, or pass the request on."""
        app, path = self._app, scope.get("path", "")  # of what is no request there is none
        below = scope["type"] == "http" and f"{path}/".startswith("/teach/")
        if below and await asyncio.to_thread(self._identity.instructor, Request(scope)) is None:
            known = PAGES.get(path) if scope["method"] == "GET" else None
            app = RedirectResponse(f"/sign-in?next={known}", status_code=303) if known else _refusal()
        elif below and path == "/teach":
            app = RedirectResponse("/teach/", status_code=307)  # the pages are mounted below it
        await app(scope, receive, send)


def _refusal() -> Response:
    return JSONResponse({"detail": "This is for instructors only."}, status_code=401)
