"""Regrades of a class: made, looked at, and then applied or cancelled."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from fastapi.responses import RedirectResponse, Response

from grader.pages import lists, plain
from grader.pages.assignments import results_view
from grader.pages.school import views
from grader.pages.school.visit import ClassVisit, Missing
from grader.service.classes.requests import ClassRefusal

UNSURE = "Nothing was changed: tick the box first."
MOST_LISTED = 200  # attempts of one field of the matrix
_KEEP = {"new": "the new result", "better": "the better of the two"}
_WHICH = {"all": "all of the class", "counting": "only those that could count"}


def show(visit: ClassVisit, status: int = 200, **said: Any) -> Response:
    """Show one regrade that the address names, or all of them with the form for another one."""
    if not visit.desk["teaches"]:
        raise Missing
    said = {"error": "", "done": "", "form": {}, **said}
    if key := visit.query.get("change", ""):
        return _one(visit, visit.ask("change", change=key), status, **said)
    catalog = visit.service.catalog
    exercises = {name for one in visit.desk["assignments"] for name in one["items"]}
    shown = {
        "changes": visit.ask("changes")["changes"],
        "exercises": {name: catalog[name].title for name in sorted(exercises) if name in catalog},
        "keep": _KEEP,
        "which": _WHICH,
    }
    return visit.page("school_regrades.html", "Regrades", status, tab="/regrade", **shown, **said)


def change(visit: ClassVisit) -> Response:
    """Make a regrade, or apply or cancel one."""
    form, key = visit.form, visit.query.get("change", "")
    fresh = ClassVisit(visit.service, visit.user, visit.query, {})
    try:
        if not key:
            key = f"{form.get('exercise', '')[:30]}-{secrets.token_hex(3)}"
            fields = {name: form.get(name, "") for name in ("exercise", "keep", "reason")}
            visit.ask("regrade", change=key, only_counting=form.get("which") == "counting", **fields)
            return RedirectResponse(visit.address("/regrade", change=key), status_code=303)
        if form.get("act") == "apply":
            visit.ask("apply", change=key, seen=form.get("seen", ""))
            return show(fresh, done="The new results count now, and whoever is touched is told.")
        if not visit.is_sure:
            return show(fresh, 422, error=UNSURE)
        visit.ask("cancel_change", change=key)
    except ClassRefusal as refusal:
        status = 409 if refusal.code in ("changed_since", "open_change") else 422
        return show(fresh, status, error=str(refusal), form=form)
    return show(fresh, done="Cancelled. Nothing has changed, and nobody is told.")


def results(visit: ClassVisit) -> Response:
    """Show an attempt's results before a regrade and by it."""
    about = {name: visit.query.get(name, "") for name in ("person", "change", "attempt")}
    back = {"href": visit.address("/regrade", change=about["change"]), "text": "Regrade"}
    view = results_view(visit.ask("results", **about), visit.service.catalog, back=back)
    return plain.page("results.html", lists.header_view(visit.user, str(view["title"]), here=lists.CLASSES), view=view)


def _one(visit: ClassVisit, found: Mapping[str, Any], status: int, **said: Any) -> Response:
    names, catalog = visit.names(), visit.service.catalog
    title = catalog[found["exercise"]].title if found["exercise"] in catalog else found["exercise"]
    shown: dict[str, Any] = {"one": found, "called": title, "keep": _KEEP, "preview": None}
    if "cells" in found:
        pair = visit.query.get("before"), visit.query.get("after")
        listed = [one for one in found["attempts"] if (one["before"], one["after"]) == pair]
        shown |= {
            "matrix": sorted(found["matrix"], key=lambda row: row[0] == row[1]),  # what changes comes first
            "preview": views.changes_view(found, names),
            "told": [names.get(person, person) for person in found["told"]],
            "listed": [{**one, "name": names.get(one["person"], one["person"])} for one in listed[:MOST_LISTED]],
        }
    return visit.page("school_regrade.html", f"Regrade of {title}", status, tab="/regrade", **shown, **said)
