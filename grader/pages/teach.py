"""The instructors' site below `/teach`: the gradebook and its export. Nobody else gets past the mount."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import gradio as gr
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from grader.pages import lists
from grader.pages.identity import Identity
from grader.pages.parts import part
from grader.pages.wording import View, clean, count, pack
from grader.service import Service

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass(frozen=True, slots=True)
class Row:
    """One student's best score on each exercise, None where there is none."""

    name: str
    scores: tuple[float | None, ...]
    attempts: int


def build_teach(identity: Identity) -> gr.Blocks:
    """Return the site for instructors."""
    with gr.Blocks(title="Attention Gym", analytics_enabled=False, fill_width=True) as blocks:
        outputs = [part("header"), part("gradebook")]
        blocks.load(Office(identity).gradebook, None, outputs, api_name="gradebook", show_progress="hidden")
    return cast("gr.Blocks", blocks)


def build_exports(identity: Identity) -> APIRouter:
    """Return the route of the export; a file of Gradio's would be open to whoever knows its address."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route("/teach/export.csv", Office(identity).export, methods=["GET"])
    return router


@dataclass(frozen=True, slots=True)
class Office:
    """The handlers; each asks by itself whether an instructor is asking."""

    identity: Identity

    def gradebook(self, request: gr.Request) -> tuple[str, str]:
        """Return the header and the gradebook.

        Raises:
            gr.Error: it is no instructor who asks.
        """
        user = self.identity.instructor(request)
        if user is None:
            raise gr.Error("This page is for instructors.")
        body = gradebook_view(self.identity.service, rows_of(self.identity.service))
        return pack(lists.header_view(user, "Gradebook", here="/teach/")), pack(body)

    def export(self, request: Request) -> Response:
        """Send the gradebook as a CSV file.

        Raises:
            HTTPException: it is no instructor who asks.
        """
        if self.identity.instructor(request) is None:
            raise HTTPException(401, "This page is for instructors.")
        text = csv_of(list(self.identity.service.catalog), rows_of(self.identity.service))
        headers = {"Content-Disposition": 'attachment; filename="gradebook.csv"', "Cache-Control": "no-store"}
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


class Doorway:
    """An ASGI application that leads whoever opens `/teach` without the right to do so to the sign-in form."""

    def __init__(self, app: ASGIApp, identity: Identity) -> None:
        """Stand before `app`, which refuses them too, but in JSON."""
        self._app = app
        self._identity = identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirect, or pass the request on."""
        app = self._app
        opened = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in ("/teach", "/teach/")
        if opened and await asyncio.to_thread(self._identity.instructor, Request(scope)) is None:
            app = RedirectResponse("/sign-in?next=/teach/", status_code=303)
        await app(scope, receive, send)


def rows_of(service: Service) -> list[Row]:
    """Return the gradebook's lines by name: everybody who has handed something in."""
    boards = [{standing.user: standing for standing in service.leaderboard(id)} for id in service.catalog]
    names = {user: standing.name for board in boards for user, standing in board.items()}
    rows = []
    for user, name in sorted(names.items(), key=lambda pair: pair[1].casefold()):
        lines = [board.get(user) for board in boards]
        attempts = sum(line.attempts for line in lines if line)
        rows.append(Row(name, tuple(line.score if line else None for line in lines), attempts))
    return rows


def gradebook_view(service: Service, rows: Sequence[Row]) -> View:
    """Return the gradebook as a table."""
    scores = [{"name": exercise.title, "kind": "score"} for exercise in service.catalog.values()]
    columns = [{"name": "Student"}, *scores, {"name": "Mean", "kind": "score"}, {"name": "Attempts", "kind": "number"}]
    return {
        "label": "Gradebook",
        "columns": columns,
        "rows": [{"cells": [clean(row.name, 64), *row.scores, mean(row), row.attempts]} for row in rows],
        "text": count(len(rows), "student") if rows else "Nobody has handed anything in yet.",
    }


def mean(row: Row) -> float:
    """Return the mean over all exercises; one that was not tried counts as zero."""
    return round(sum(score or 0.0 for score in row.scores) / max(len(row.scores), 1), 2)


def csv_of(exercises: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the gradebook as CSV that a spreadsheet takes for text and numbers, never for formulas."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["student", *exercises, "mean", "attempts"])
    for row in rows:
        scores = ["" if score is None else score for score in row.scores]
        writer.writerow([quoted(row.name), *scores, mean(row), row.attempts])
    return file.getvalue()


def quoted(text: str) -> str:
    """Return `text` with an apostrophe before what a spreadsheet would run."""
    return f"'{text}" if text.startswith(_FORMULA) else text
