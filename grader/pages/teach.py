"""The instructors' pages below `/teach`: gradebook, submissions, export, and a class with its members.

The address names the class; without a name it is the oldest one that they teach. Each handler asks by itself whether
an instructor is asking, and the service asks again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from grader.errors import NotAllowed
from grader.pages import gradebook, lists, plain
from grader.pages.accounts import Field, header_of
from grader.pages.gradebook import HERE, Asked, To, addresses_in
from grader.pages.identity import Identity, id_of
from grader.pages.render import report_view
from grader.pages.wording import bare, clean
from grader.service.classroom import Classroom
from grader.store.people import Member
from grader.store.records import Role, SubmissionId

ONLY_THEM = "This is for instructors only."
TO_SIGN_IN = {"/teach": HERE, HERE: HERE, "/teach/class": "/teach/class", "/teach/member": "/teach/class"}
UNSURE = "Nothing was changed: tick the box first."
MANY = 10  # people, from which on a name is searched for; as in the tables
NEW_CODE = "This is the new class code. The one before is worth nothing any more."
LINK, NO_LINK = "Link for a new password", "No link"
DONE = {
    "instructor": "{} is an instructor now.",
    "student": "{} is a student of the class now.",
    "rename": "The name is {} now, also for signing in.",
    "remove": "{} is no longer in the class.",
}


@dataclass(frozen=True, slots=True)
class TeachPages:
    """The handlers."""

    identity: Identity

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/teach", self.home, methods=["GET"])
        router.add_api_route(HERE, self.show, methods=["GET"])
        router.add_api_route("/teach/export.csv", self.export, methods=["GET"])
        router.add_api_route("/teach/reset", self.link, methods=["POST"])
        router.add_api_route("/teach/class", self.show_class, methods=["GET"])
        router.add_api_route("/teach/class", self.replace_code, methods=["POST"])
        router.add_api_route("/teach/member", self.show_member, methods=["GET"])
        router.add_api_route("/teach/member", self.change_member, methods=["POST"])
        return router

    def home(self, request: Request) -> Response:
        """Lead to the gradebook, whose address ends with a slash."""
        self._asking(request)
        return RedirectResponse(HERE, status_code=307)

    def show(self, request: Request) -> Response:
        """Show what the address names: a list of submissions, one of them, or else the gradebook."""
        room, query = self._asking(request), request.query_params
        asked, submission = Asked.of(query), query.get("submission", "")
        try:
            if asked and (missing := asked.what_is_missing(self.identity.service.catalog)):
                raise NotAllowed(missing)
            if asked and asked.student is not None and query.get("best"):
                submission = room.best_attempt(asked.student, asked.exercise)
            if "submission" in query or submission:
                return self._submission(room, SubmissionId(submission), query.get("class", ""))
            return self._list(room, asked) if asked else self._gradebook(room, query.get("track", ""))
        except NotAllowed as refusal:
            view = gradebook.refusal_view(str(refusal), _addresses(room))
            return self._page("attempts.html", room, "Not found", view=view)

    def export(self, request: Request) -> Response:
        """Send the gradebook as a CSV file."""
        room, exercises = self._asking(request), list(self.identity.service.catalog)
        rows = [gradebook.row_of(student, exercises) for student in room.students()]
        headers = {"Content-Disposition": 'attachment; filename="gradebook.csv"', "Cache-Control": "no-store"}
        text = gradebook.csv_of(exercises, rows)
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    def link(self, request: Request, student: Field = "") -> Response:
        """Show a link with which a student sets a new password."""
        room, id = self._asking(request), id_of(student)
        try:
            token = self.identity.service.own_account.link_for_student(room.asking, room.one.id, id)
            name = clean(room.member(id).name, 64)
        except NotAllowed as refusal:
            header = header_of(self.identity, request, NO_LINK)
            return plain.page("link.html", header, 403, error=str(refusal), to=_addresses(room))
        address = f"{str(request.base_url).rstrip('/')}/reset?token={quote(token, safe='')}"
        return self._page("link.html", room, LINK, link=address, name=name, student=id)

    def show_class(self, request: Request, find: str = "") -> Response:
        """Show the class code and the members, all or those with `find` in their name."""
        return self._class(self._asking(request), find=clean(find, 64))

    def replace_code(self, request: Request, sure: Field = "") -> Response:
        """Draw another class code."""
        room = self._asking(request)
        if sure != "yes":
            return self._class(room, 422, error=UNSURE)
        room.replace_code()
        return self._class(room, done=NEW_CODE)

    def show_member(self, request: Request, person: str = "") -> Response:
        """Show what can be changed about a member."""
        return self._member(self._asking(request), person)

    def change_member(
        self, request: Request, person: Field = "", act: Field = "", *, sure: Field = "", name: Field = ""
    ) -> Response:
        """Give a member another role or name, or end their membership."""
        room, id = self._asking(request), id_of(person)
        ways: dict[str, Callable[[], None]] = {
            "instructor": lambda: room.set_role(id, Role.INSTRUCTOR),
            "student": lambda: room.set_role(id, Role.STUDENT),
            "rename": lambda: room.rename(id, name),
            "remove": lambda: room.remove(id),
        }
        if act not in ways or sure != "yes":
            return self._member(room, person, 422, error=UNSURE)
        try:
            ways[act]()
            return self._member(room, person, done=DONE[act])
        except NotAllowed as refusal:
            if room.is_lost:  # they have changed their own role
                return RedirectResponse("/", status_code=303)
            return self._member(room, person, 403, error=str(refusal))

    def _asking(self, request: Request) -> Classroom:
        """Return the class that the address names, for the instructor who is asking.

        Raises:
            HTTPException: they teach no such class; it leads to the form for signing in, or to their classes.
        """
        user, query = self.identity.instructor(request), request.query_params
        if user is not None:
            student = id_of(query["student"]) if "student" in query else None
            try:
                return self.identity.service.classroom(user, query.get("class", ""), student)
            except NotAllowed:
                raise HTTPException(303, "You teach no such class.", headers={"Location": lists.CLASSES}) from None
        next = TO_SIGN_IN.get(request.url.path) if request.method == "GET" else None
        if next:
            raise HTTPException(303, ONLY_THEM, headers={"Location": f"/sign-in?next={next}"})
        raise HTTPException(401, ONLY_THEM)

    def _page(self, template: str, room: Classroom, title: str, status: int = 200, /, **shown: object) -> Response:
        header = lists.header_view(room.asking, title, here=HERE)
        return plain.page(template, header, status, **shown, to=_addresses(room))

    def _gradebook(self, room: Classroom, track: str) -> Response:
        catalog, to = self.identity.service.catalog, _addresses(room)
        view = gradebook.gradebook_view(catalog, room.students(), room.common_mistakes(), to, track=track)
        schools = [
            {"text": one.name, "href": addresses_in(one.key)(HERE), "here": one == room.one} for one in room.taught
        ]
        shown = {"view": view, "code": room.code(), "schools": schools}
        return self._page("gradebook.html", room, gradebook.title_of(catalog, track), **shown)

    def _list(self, room: Classroom, asked: Asked) -> Response:
        catalog = self.identity.service.catalog
        owner = room.student(asked.student) if asked.student is not None else None
        mistakes = room.common_mistakes() if asked.exercise else []
        found = room.listed(asked.wanted)
        view = gradebook.list_view(asked, found, catalog, mistakes, owner=owner, to=_addresses(room))
        return self._page("attempts.html", room, str(view["title"]), view=view)

    def _submission(self, room: Classroom, id: SubmissionId, key: str) -> Response:
        service = self.identity.service
        found = service.submission(room.asking, id)
        room = service.classroom(room.asking, key, found.user)  # an address without a class is of its owner's
        student, near = room.student(found.user), room.neighbours(found)
        view = gradebook.attempt_view(student, found, near, service.catalog, _addresses(room))
        source, report = gradebook.source_view(found), report_view(found.report, number_of_attempt=found.nth)
        title = f"{view['title']}, {lists.called(found.nth).lower()}"
        return self._page("attempt.html", room, title, view=view, source=source, report=report)

    def _class(
        self, room: Classroom, status: int = 200, *, done: str = "", error: str = "", find: str = ""
    ) -> Response:
        everybody = room.everybody()
        people = [one for one in everybody if bare(find) in bare(one.name)]
        shown = {
            "school": room.one.name,
            "key": room.one.key if len(room.taught) > 1 else "",
            "code": room.code(),
            "present": [_line(one) for one in people if one.ended is None],
            "former": [_line(one) for one in people if one.ended is not None],
            "many": len(everybody) > MANY,
        }
        return self._page("class.html", room, "Class and members", status, **shown, find=find, done=done, error=error)

    def _member(self, room: Classroom, person: str, status: int = 200, *, done: str = "", error: str = "") -> Response:
        try:
            member = room.member(id_of(person))
        except NotAllowed as refusal:
            if room.is_lost:
                raise
            return self._page("member.html", room, "No such member", 404, name="No such member", error=str(refusal))
        line, own = _line(member), member.id == room.asking.id
        title, done = f"{line['name']}: role and membership", done.format(line["name"])
        return self._page("member.html", room, title, status, **line, own=own, done=done, error=error)


def _addresses(room: Classroom) -> To:
    """Return what gives the addresses of a class's pages; they name it where its instructor teaches another one."""
    return addresses_in(room.one.key if len(room.taught) > 1 else "")


def _line(member: Member) -> Mapping[str, object]:
    return {
        "id": member.id,
        "name": clean(member.name, 64),
        "role": member.role.value,
        "joined": plain.day(member.joined),
        "ended": plain.day(member.ended) if member.ended is not None else "",
    }
