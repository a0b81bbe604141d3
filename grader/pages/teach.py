"""The instructors' pages below `/teach`: gradebook, submissions, export, and the class with its members.

Each handler asks by itself whether an instructor is asking, and the service asks again.
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
from grader.pages.gradebook import Asked
from grader.pages.identity import Identity, id_of
from grader.pages.render import report_view
from grader.pages.wording import bare, clean
from grader.service.classroom import Members
from grader.store.people import Member
from grader.store.records import Role, SubmissionId, User

HERE = "/teach/"
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
        user, query = self._asking(request), request.query_params
        asked, submission = Asked.of(query), query.get("submission", "")
        instructor = self.identity.service.instructor
        try:
            if asked and (missing := asked.what_is_missing(self.identity.service.catalog)):
                raise NotAllowed(missing)
            if asked and asked.student is not None and query.get("best"):
                owner = instructor.student(user, asked.student)
                submission = instructor.best_attempt(user, owner.id, asked.exercise)
            if "submission" in query or submission:
                return self._submission(user, SubmissionId(submission))
            return self._list(user, asked) if asked else self._gradebook(user, query.get("track", ""))
        except NotAllowed as refusal:
            return self._page("attempts.html", user, "Not found", view=gradebook.refusal_view(str(refusal)))

    def export(self, request: Request) -> Response:
        """Send the gradebook as a CSV file."""
        user, service = self._asking(request), self.identity.service
        exercises = list(service.catalog)
        rows = [gradebook.row_of(student, exercises) for student in service.instructor.students(user)]
        headers = {"Content-Disposition": 'attachment; filename="gradebook.csv"', "Cache-Control": "no-store"}
        text = gradebook.csv_of(exercises, rows)
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    def link(self, request: Request, student: Field = "") -> Response:
        """Show a link with which a student sets a new password."""
        user, id = self._asking(request), id_of(student)
        try:
            token = self.identity.service.own_account.link_for_student(user, id)
            name = clean(self._members.one(user, id).name, 64)
        except NotAllowed as refusal:
            return plain.page("link.html", header_of(self.identity, request, NO_LINK), 403, error=str(refusal))
        address = f"{str(request.base_url).rstrip('/')}/reset?token={quote(token, safe='')}"
        return self._page("link.html", user, LINK, link=address, name=name, student=id)

    def show_class(self, request: Request, find: str = "") -> Response:
        """Show the class code and the members, all or those with `find` in their name."""
        return self._class(self._asking(request), find=clean(find, 64))

    def replace_code(self, request: Request, sure: Field = "") -> Response:
        """Draw another class code."""
        user = self._asking(request)
        if sure != "yes":
            return self._class(user, 422, error=UNSURE)
        self._members.replace_code(user)
        return self._class(user, done=NEW_CODE)

    def show_member(self, request: Request, person: str = "") -> Response:
        """Show what can be changed about a member."""
        return self._member(self._asking(request), person)

    def change_member(
        self, request: Request, person: Field = "", act: Field = "", *, sure: Field = "", name: Field = ""
    ) -> Response:
        """Give a member another role or name, or end their membership."""
        user, id = self._asking(request), id_of(person)
        ways: dict[str, Callable[[], None]] = {
            "instructor": lambda: self._members.set_role(user, id, Role.INSTRUCTOR),
            "student": lambda: self._members.set_role(user, id, Role.STUDENT),
            "rename": lambda: self._members.rename(user, id, name),
            "remove": lambda: self._members.remove(user, id),
        }
        if act not in ways or sure != "yes":
            return self._member(user, person, 422, error=UNSURE)
        try:
            ways[act]()
        except NotAllowed as refusal:
            return self._member(user, person, 403, error=str(refusal))
        if self.identity.instructor(request) is None:  # they have changed their own role
            return RedirectResponse("/", status_code=303)
        return self._member(user, person, done=DONE[act])

    @property
    def _members(self) -> Members:
        return self.identity.service.members

    def _asking(self, request: Request) -> User:
        """Return the instructor who is asking.

        Raises:
            HTTPException: it is none; who looks at a page is led to the form for signing in.
        """
        user = self.identity.instructor(request)
        if user is not None:
            return user
        next = TO_SIGN_IN.get(request.url.path) if request.method == "GET" else None
        if next:
            raise HTTPException(303, ONLY_THEM, headers={"Location": f"/sign-in?next={next}"})
        raise HTTPException(401, ONLY_THEM)

    def _page(self, template: str, user: User, title: str, status: int = 200, /, **shown: object) -> Response:
        return plain.page(template, lists.header_view(user, title, here=HERE), status, **shown)

    def _gradebook(self, user: User, track: str) -> Response:
        service = self.identity.service
        students, mistakes = service.instructor.students(user), service.instructor.common_mistakes(user)
        code = service.members.code(user)
        view = gradebook.gradebook_view(service.catalog, students, mistakes, code=code, track=track)
        return self._page("gradebook.html", user, gradebook.title_of(service.catalog, track), view=view)

    def _list(self, user: User, asked: Asked) -> Response:
        service = self.identity.service
        owner = service.instructor.student(user, asked.student) if asked.student is not None else None
        mistakes = service.instructor.common_mistakes(user) if asked.exercise else []
        found = service.instructor.listed(user, asked.wanted)
        view = gradebook.list_view(asked, found, service.catalog, mistakes, owner=owner)
        return self._page("attempts.html", user, str(view["title"]), view=view)

    def _submission(self, user: User, id: SubmissionId) -> Response:
        service = self.identity.service
        found = service.submission(user, id)
        student = service.instructor.student(user, found.user)
        view = gradebook.attempt_view(student, found, service.instructor.neighbours(user, found), service.catalog)
        source, report = gradebook.source_view(found), report_view(found.report, number_of_attempt=found.nth)
        title = f"{view['title']}, {lists.called(found.nth).lower()}"
        return self._page("attempt.html", user, title, view=view, source=source, report=report)

    def _class(self, user: User, status: int = 200, *, done: str = "", error: str = "", find: str = "") -> Response:
        everybody = self._members.everybody(user)
        people = [one for one in everybody if bare(find) in bare(one.name)]
        shown = {
            "code": self._members.code(user),
            "present": [_line(one) for one in people if one.ended is None],
            "former": [_line(one) for one in people if one.ended is not None],
            "many": len(everybody) > MANY,
        }
        return self._page("class.html", user, "Class and members", status, **shown, find=find, done=done, error=error)

    def _member(self, user: User, person: str, status: int = 200, *, done: str = "", error: str = "") -> Response:
        try:
            member = self._members.one(user, id_of(person))
        except NotAllowed as refusal:
            return self._page("member.html", user, "No such member", 404, name="No such member", error=str(refusal))
        line, own = _line(member), member.id == user.id
        title, done = f"{line['name']}: role and membership", done.format(line["name"])
        return self._page("member.html", user, title, status, **line, own=own, done=done, error=error)


def _line(member: Member) -> Mapping[str, object]:
    return {
        "id": member.id,
        "name": clean(member.name, 64),
        "role": member.role.value,
        "joined": plain.day(member.joined),
        "ended": plain.day(member.ended) if member.ended is not None else "",
    }
