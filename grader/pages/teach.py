"""The instructors' site below `/teach`: gradebook, submissions, export. Nobody else gets past the mount."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import cast

import gradio as gr
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from grader.errors import NotAllowed
from grader.pages import gradebook, lists
from grader.pages.identity import Identity
from grader.pages.parts import on, part
from grader.pages.render import report_view
from grader.pages.wording import pack
from grader.store.records import SubmissionId, User, UserId

Parts = tuple[str, str, str, str]  # gradebook, list of submissions, source, report; an empty one is not drawn


def build_teach(identity: Identity) -> gr.Blocks:
    """Return the site for instructors."""
    with gr.Blocks(title="Attention Gym", analytics_enabled=False, fill_width=True) as blocks:
        outputs = [part(name) for name in ("header", "gradebook", "attempts", "source", "report")]
        on(blocks.load, InstructorHandlers(identity).open, None, outputs, name="open")
    return cast("gr.Blocks", blocks)


def build_exports(identity: Identity) -> APIRouter:
    """Return the route of the export; a file of Gradio's would be open to whoever knows its address."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route("/teach/export.csv", InstructorHandlers(identity).export, methods=["GET"])
    return router


@dataclass(frozen=True, slots=True)
class InstructorHandlers:
    """The handlers; each asks by itself whether an instructor is asking, and the service asks again."""

    identity: Identity

    def open(self, request: gr.Request) -> tuple[str, str, str, str, str]:
        """Return the header and what the address names: a student, a submission, or else the gradebook.

        Raises:
            gr.Error: it is no instructor who asks.
        """
        user = self.identity.instructor(request)
        if user is None:
            raise gr.Error("This page is for instructors.", print_exception=False)
        header = pack(lists.header_view(user, "Gradebook", here="/teach/"))
        return header, *self._body(user, request.query_params)

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

    def _body(self, user: User, asked: dict[str, str]) -> Parts:
        student, submission, flag = (asked.get(name, "") for name in ("student", "submission", "flag"))
        try:
            if submission:
                return self._submission(user, SubmissionId(submission))
            if student.isdecimal() and len(student) < 10:
                return self._student(user, UserId(int(student)), flag)
            if flag in gradebook.FLAGS:
                found = self.identity.service.instructor.flagged(user, gradebook.FLAGS[flag])
                return "", pack(gradebook.flagged_view(found, self.identity.service.catalog, flag)), "", ""
        except NotAllowed as refusal:
            return "", pack(gradebook.refusal_view(str(refusal))), "", ""
        return self._gradebook(user)

    def _gradebook(self, user: User) -> Parts:
        service = self.identity.service
        students, mistakes = service.instructor.students(user), service.instructor.common_mistakes(user)
        return pack(gradebook.gradebook_view(service.catalog, students, mistakes)), "", "", ""

    def _student(self, user: User, id: UserId, flag: str) -> Parts:
        service = self.identity.service
        student = service.instructor.student(user, id)
        attempts = service.instructor.attempts(user, id)
        return "", pack(gradebook.student_view(student, attempts, service.catalog, flag)), "", ""

    def _submission(self, user: User, id: SubmissionId) -> Parts:
        service = self.identity.service
        found = service.submission(user, id)
        student = service.instructor.student(user, found.user)
        report = report_view(found.report, number_of_attempt=found.number)
        return "", "", pack(gradebook.source_view(student, found, service.catalog)), pack(report)


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
        app = self._app
        below = scope["type"] == "http" and f"{scope['path']}/".startswith("/teach/")
        if below and await asyncio.to_thread(self._identity.instructor, Request(scope)) is None:
            opened = scope["method"] == "GET" and scope["path"] in ("/teach", "/teach/")
            app = RedirectResponse("/sign-in?next=/teach/", status_code=303) if opened else _refusal()
        elif below and scope["path"] == "/teach":
            app = RedirectResponse("/teach/", status_code=307)  # the pages are mounted below it
        await app(scope, receive, send)


def _refusal() -> Response:
    return JSONResponse({"detail": "This is for instructors only."}, status_code=401)
