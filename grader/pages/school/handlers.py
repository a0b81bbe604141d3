"""The pages of a class for its staff: each asks the class for one thing, or has it do one.

Whatever changes grades is shown first, and done by a second click.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response

from grader.errors import NotAllowed
from grader.exports.cells import BYTE_ORDER_MARK, quoted, table
from grader.pages import lists, plain
from grader.pages.gradebook import source_view
from grader.pages.identity import Identity
from grader.pages.lists import CLASSES
from grader.pages.render import NAMES, report_view
from grader.pages.school import forms, mistakes, regrades, views
from grader.pages.school.visit import ClassVisit, Missing
from grader.service.classes.requests import ClassRefusal
from grader.store.records import SubmissionId, User

SIGN_IN = "Sign in first."
_FILES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


async def _sent(request: Request) -> Mapping[str, str]:
    """Return the fields of the form that was sent; the guard has seen to it that each is there once."""
    return {name: str(value) for name, value in (await request.form()).items()} if request.method == "POST" else {}


Form = Annotated[Mapping[str, str], Depends(_sent)]
Show = Callable[[ClassVisit], Response]


@dataclass(frozen=True, slots=True)
class SchoolPages:
    """Finds out who asks, and shows what there is of the class for them."""

    identity: Identity

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter(include_in_schema=False)
        for path, show in _GET.items():
            router.add_api_route(path, self._served(show), methods=["GET"])
        for path, show in _POST.items():
            router.add_api_route(path, self._served(show), methods=["POST"])
        return router

    def _served(self, show: Show) -> Callable[..., Response]:
        def serve(request: Request, form: Form) -> Response:
            user = self._asking(request)
            try:
                base = str(request.base_url).rstrip("/")
                return show(ClassVisit(self.identity.service, user, request.query_params, form, base))
            except ClassRefusal as refusal:  # of what an address asks for; forms say theirs beside the field
                raise HTTPException(422, str(refusal)) from None
            except Missing:
                return plain.page("missing.html", lists.header_view(user, "Not found"), 404)

        return serve

    def _asking(self, request: Request) -> User:
        """Return who is asking.

        Raises:
            HTTPException: a guest is; who looks at a page is led to the form for signing in.
        """
        user = self.identity.user(request)
        if user is not None and not user.visitor:
            return user
        if request.method != "GET":
            raise HTTPException(401, SIGN_IN)
        next = quote(lists.address_asked(request), safe="")
        raise HTTPException(303, SIGN_IN, headers={"Location": f"/sign-in?next={next}"})


def every_class(visit: ClassVisit) -> Response:
    """Show the classes that somebody teaches or assists."""
    found = visit.classes.looked_after_by(visit.user)
    if not found:
        raise Missing
    header = lists.header_view(visit.user, "Classes", here=CLASSES)
    return plain.page("school_classes.html", header, classes=found)


def home(visit: ClassVisit) -> Response:
    """Show a class's assignments and what leads on from there."""
    statistics = visit.ask("grades").get("statistics")
    shown = {"figures": statistics, "shows": views.SHOWS, "dimensions": NAMES}
    return visit.page("school_home.html", str(visit.desk["name"]), tab="", **shown)


def gradebook(visit: ClassVisit) -> Response:
    """Show the gradebook, all of it or a section or who is looked for."""
    section, find = visit.query.get("section", ""), visit.query.get("find", "")
    view = views.gradebook_view(visit.ask("grades"), visit.desk, section=section, find=find, to=visit.address)
    shown = {"view": view, "section": section, "find": find, "short": views.short}
    return visit.page("school_gradebook.html", "Gradebook", tab="/gradebook", **shown)


def cell(visit: ClassVisit, status: int = 200, **said: Any) -> Response:
    """Show all that belongs to a cell, with the forms that change it."""
    found = visit.ask("cell", person=visit.query.get("person", ""), assignment=visit.query.get("assignment", ""))
    key = visit.assignment()["key"]
    shown = views.cell_view(found["line"]["cells"][key], found["possible"])
    title = f"{found['line']['name']}: {found['title'] or key}"
    said = {"preview": None, "form": {}, "error": "", "done": "", "instead": None, "at": "", **said}
    said |= {"cell": found, "key": key, "shown": shown, "words": views.said, "kinds": views.EXCEPTIONS}
    return visit.page("school_cell.html", title, status, tab="/gradebook", **said)


def change_cell(visit: ClassVisit) -> Response:
    """Show what an override or an exception would do, or do it; write a comment."""
    try:
        change = _cell_change(visit)
        if change["do"] != "comment" and not visit.is_sure:
            preview = views.changes_view(visit.ask("whatif", change=change), visit.names())
            return cell(visit, preview=preview, form=visit.form)
        visit.ask(change.pop("do"), **change)
    except ClassRefusal as refusal:
        return cell(visit, 409 if refusal.code == "stale" else 422, **_refused(visit, refusal))
    return cell(visit, done="Saved.")


def roster(visit: ClassVisit, status: int = 200, **said: Any) -> Response:
    """Show the form for a registrar's file."""
    if not visit.desk["teaches"]:
        raise Missing
    said = {"seen": None, "form": {}, "error": "", "errors": (), "done": "", **said}
    return visit.page("school_roster.html", "Roster", status, tab="/roster", **said)


def change_roster(visit: ClassVisit) -> Response:
    """Show what each line of a file would change, or bring the class to it."""
    given = {"csv": visit.form.get("csv", ""), "file": visit.form.get("file", "")}
    try:
        if not visit.is_sure:
            return roster(visit, seen=views.moves_view(visit.ask("roster", **given)), form=visit.form)
        confirm = visit.form.get("confirm", "").strip()
        told = visit.ask("import", **given, confirm=int(confirm) if confirm.isdecimal() else None)
    except ClassRefusal as refusal:
        errors = refusal.more.get("errors", ())
        seen = views.moves_view(visit.ask("roster", **given)) if refusal.code == "confirm_leaving" else None
        lines = f"{len(errors)} line{' is' if len(errors) == 1 else 's are'} wrong; nothing was changed."
        return roster(visit, 422, error=lines if errors else str(refusal), errors=errors, form=visit.form, seen=seen)
    counts = ", ".join(f"{number} {what}" for what, number in told.items() if number)
    return roster(visit, done=f"The class is as the file says: {counts}.")


def exceptions(visit: ClassVisit, status: int = 200, **said: Any) -> Response:
    """Show the forms that grant something to several people."""
    if not visit.desk["teaches"]:
        raise Missing
    said = {"preview": None, "grants": (), "file": {}, "form": {}, "error": "", "errors": (), "done": "", **said}
    return visit.page("school_exceptions.html", "Exceptions", status, tab="/exceptions", kinds=views.EXCEPTIONS, **said)


def grant(visit: ClassVisit) -> Response:
    """Show what the exceptions of a file would change, or grant them."""
    file = forms.exceptions(visit.form)
    try:
        found = visit.ask("except_all", **file, dry_run=not visit.is_sure)
    except ClassRefusal as refusal:
        errors = refusal.more.get("errors", ())
        return exceptions(visit, 422, error=str(refusal), errors=errors, form=visit.form, file=file)
    number = len(found["grants"])
    if visit.is_sure:
        return exceptions(visit, done=f"{number} exception{' is' if number == 1 else 's are'} granted.")
    preview = views.changes_view(found, visit.names())
    return exceptions(visit, preview=preview, grants=found["grants"], file=file)


def assignment(visit: ClassVisit, status: int = 200, **said: Any) -> Response:
    """Show the form for a new assignment, or for one that there is, beside its timeline."""
    if not visit.desk["teaches"]:
        raise Missing
    one = visit.assignment() if visit.query.get("assignment") else None
    desk = visit.desk
    form = said.pop("form", None) or (forms.filled(one) if one else forms.NEW)
    line = views.timeline(one, desk["zone"], desk["now"]) if one else ()
    said = {"preview": None, "error": "", "done": "", "instead": None, "at": "", "line": line, **said}
    title = f"{one['title'] or one['key']}: dates and points" if one else "New assignment"
    later = [part for part in NAMES if form.get(f"show_{part}")]
    choices = {"shows": views.SHOWS, "shows_part": views.SHOWS_PART, "dimensions": NAMES, "shown_later": later}
    return visit.page("school_assignment.html", title, status, tab="", one=one, form=form, **choices, **said)


def change_assignment(visit: ClassVisit) -> Response:
    """Show what a change of an assignment would do, or save it; make a new one."""
    key = visit.query.get("assignment", "")
    try:
        fields = forms.assignment(visit.form)
        if not key:
            made = visit.form.get("key", "").strip()
            visit.ask("assign", assignment=made, **fields)
            visit = ClassVisit(visit.service, visit.user, {**visit.query, "assignment": made}, {})
            return assignment(visit, done="The assignment is made.")
        change = {"assignment": key, "set": fields, "revision": forms.revision(visit.form)}
        if not visit.is_sure:
            found = visit.ask("whatif", change={"do": "assign_change", **change})
            new = {**visit.assignment(), **fields}
            line = views.timeline(new, visit.desk["zone"], visit.desk["now"])
            preview = views.changes_view(found, visit.names())
            return assignment(visit, preview=preview, form=visit.form, line=line)
        visit.ask("assign_change", **change)
    except ClassRefusal as refusal:
        return assignment(visit, 409 if refusal.code == "stale" else 422, **_refused(visit, refusal))
    visit = ClassVisit(visit.service, visit.user, visit.query, {})
    return assignment(visit, done="Saved.")


def copy(visit: ClassVisit, status: int = 200, **said: Any) -> Response:
    """Show the form that copies the class for another term."""
    if not visit.desk["teaches"]:
        raise Missing
    said = {"dates": (), "form": {"weeks": "52", "name": visit.desk["name"]}, "error": "", "done": "", **said}
    return visit.page("school_copy.html", "Copy for another term", status, tab="", day=views.day, **said)


def make_copy(visit: ClassVisit) -> Response:
    """Show the dates of the copy, or make it."""
    form = {name: visit.form.get(name, "").strip() for name in ("key", "name", "weeks")}
    try:
        wanted = {"to": form["key"], "name": form["name"], "weeks": forms.weeks(form)}
        found = visit.ask("copy", **wanted, dry_run=not visit.is_sure)
    except ClassRefusal as refusal:
        return copy(visit, 422, error=str(refusal), form=form)
    if visit.is_sure:
        return copy(visit, done=f"The class {form['key']} is there; you teach it.", made=form["key"])
    return copy(visit, form=form, dates=found["assignments"])


def publication(visit: ClassVisit, status: int = 200, **said: Any) -> Response:
    """Show whom an assignment's results have reached."""
    if not visit.desk["teaches"]:
        raise Missing
    one, said = visit.assignment(), {"error": "", "done": "", "form": {}, **said}
    title = f"{one['title'] or one['key']}: publication"
    return visit.page("school_publication.html", title, status, tab="", one=one, names=visit.names(), **said)


def publish(visit: ClassVisit) -> Response:
    """Publish an assignment's results to all but some, or let them reach somebody who was held back."""
    key, person = visit.assignment()["key"], visit.form.get("person", "")
    fresh = ClassVisit(visit.service, visit.user, visit.query, {})
    try:
        if person:
            visit.ask("release", assignment=key, person=person)
            return publication(fresh, done=f"Released to {person}.")
        if not visit.is_sure:
            return publication(visit, 422, error="Nothing was published: tick the box first.", form=visit.form)
        hold = [line.strip() for line in visit.form.get("hold", "").splitlines() if line.strip()]
        visit.ask("publish", assignment=key, hold=hold)
    except (Missing, ClassRefusal) as refusal:
        said = str(refusal) or "Somebody in the list is no student of this class; nothing was published."
        return publication(fresh, 422, error=said, form=visit.form)
    return publication(fresh, done="Published.")


def audit(visit: ClassVisit) -> Response:
    """Show who has done what."""
    return visit.page(
        "school_audit.html", "Audit", tab="/audit", view=views.newest(visit.ask("audit")), said=views.said
    )


def attempt(visit: ClassVisit) -> Response:
    """Show an attempt with its code and its report."""
    person, key = visit.query.get("person", ""), visit.assignment()["key"]
    found, id = visit.ask("cell", person=person, assignment=key), visit.query.get("attempt", "")
    same = [one["id"] for one in found["attempts"]]
    if id not in same:
        raise Missing
    near = {one: same[place] for one, place in (("previous", same.index(id) - 1), ("next", same.index(id) + 1))
            if place in range(len(same))}  # fmt: skip
    submission, known = visit.service.submission(visit.user, SubmissionId(id)), visit.service.catalog
    exercise = known[submission.exercise].title if submission.exercise in known else submission.exercise
    cell_of = {"person": person, "assignment": key}
    view: dict[str, Any] = {
        "title": f"{found['line']['name']}: {exercise}",
        "text": f"{lists.called(submission.nth)} · {submission.state}",
        "created": submission.created,
        "back": {"href": visit.address("/cell", **cell_of), "text": found["title"] or key},
        **{way: visit.address("/attempt", **cell_of, attempt=other) for way, other in near.items()},
    }
    header = lists.header_view(visit.user, view["title"], here=CLASSES)
    report = report_view(submission.report, number_of_attempt=submission.nth)
    return plain.page("attempt.html", header, view=view, source=source_view(submission), report=report)


def export(visit: ClassVisit) -> Response:
    """Send the gradebook as a file for a spreadsheet or a learning platform."""
    form = visit.query.get("format", "csv")
    text = visit.ask("export", format=form)["text"]
    kind, mark = ("json", "") if form == "json" else ("csv", BYTE_ORDER_MARK if form == "csv" else "")
    headers = {"Content-Disposition": f'attachment; filename="{form}.{kind}"', "Cache-Control": "no-store"}
    return Response(f"{mark}{text}", media_type=_FILES[kind], headers=headers)


def links(visit: ClassVisit) -> Response:
    """Send links with which those who have no password yet set one, as a file; each is good once."""
    try:
        found = visit.service.own_account.links_for_new(visit.user, visit.key)
    except NotAllowed:
        raise Missing from None
    address = f"{visit.base}/reset?token="
    rows = [(quoted(who), quoted(name), f"{address}{quote(token, safe='')}") for who, name, token in found]
    text = BYTE_ORDER_MARK + table([("email", "name", "link"), *rows])
    headers = {"Content-Disposition": 'attachment; filename="links.csv"', "Cache-Control": "no-store"}
    return Response(text, media_type=_FILES["csv"], headers=headers)


def as_student(visit: ClassVisit) -> Response:
    """Show the class as a student sees it."""
    seen = visit.ask("look", person=visit.query.get("person", ""))
    cells = [views.cell_view(one["cell"], one["possible"]) for one in seen["assignments"]]
    shown = {"seen": seen, "pairs": list(zip(seen["assignments"], cells, strict=True)), "short": views.short}
    return visit.page("school_student.html", f"As {seen['called']} sees it", tab="/gradebook", **shown)


def _cell_change(visit: ClassVisit) -> dict[str, Any]:
    """Return the event that a form of a cell's page asks for."""
    form, where = visit.form, {name: visit.query.get(name, "") for name in ("person", "assignment")}
    match form.get("do"):
        case "override":
            points = form.get("points", "").strip() or None
            revision = forms.revision(form)
            return {"do": "override", **where, "points": points, "reason": form.get("reason", ""), "revision": revision}
        case "except":
            value, field = forms.granted(form), form.get("field", "")
            if field in forms.OF_THE_CLASS:
                del where["assignment"]
            return {"do": "except", **where, "field": field, "value": value, "reason": form.get("reason", "")}
        case "comment":
            return {"do": "comment", **where, "text": form.get("text", ""), "shown": form.get("shown") == "yes"}
    raise Missing


def _refused(visit: ClassVisit, refusal: ClassRefusal) -> dict[str, Any]:
    """Return what a page says about a refusal: for a minute that is skipped, the form with the one that it becomes."""
    instead = forms.mended(visit.form, visit.desk["zone"]) if refusal.code == "no_such_time" else None
    return {"error": str(refusal), "form": visit.form, "instead": instead, "at": refusal.more.get("instead", "")}


_GET: Mapping[str, Show] = {
    CLASSES: every_class, "/class": home, "/class/gradebook": gradebook, "/class/cell": cell, "/class/roster": roster,
    "/class/exceptions": exceptions, "/class/assignment": assignment, "/class/publication": publication,
    "/class/copy": copy, "/class/audit": audit, "/class/student": as_student, "/class/attempt": attempt,
    "/class/export": export, "/class/regrade": regrades.show, "/class/results": regrades.results,
    "/class/mistakes": mistakes.show,
}  # fmt: skip
_POST: Mapping[str, Show] = {
    "/class/cell": change_cell, "/class/exceptions": grant, "/class/roster": change_roster,
    "/class/assignment": change_assignment, "/class/copy": make_copy, "/class/publication": publish,
    "/class/links": links, "/class/regrade": regrades.change,
}  # fmt: skip
