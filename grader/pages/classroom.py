"""The class as its instructors change it: plain HTML forms below `/teach`, as those of one's own account."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from grader.errors import NotAllowed
from grader.pages import lists, plain
from grader.pages.accounts import Field
from grader.pages.identity import Identity, id_of
from grader.pages.wording import clean
from grader.service.classroom import Members
from grader.store.people import Member
from grader.store.records import Role, User

UNSURE = "Nothing was changed: tick the box first."
MANY = 10  # people, from which on a name is searched for; as in the tables
NEW_CODE = "This is the new class code. The one before is worth nothing any more."
DONE = {
    "instructor": "{} is an instructor now.",
    "student": "{} is a student of the class now.",
    "rename": "The name is {} now, also for signing in.",
    "remove": "{} is no longer in the class.",
}


def build_classroom(identity: Identity) -> APIRouter:
    """Return the routes `/teach/class` and `/teach/member`."""
    router = APIRouter(include_in_schema=False)
    forms = ClassForms(identity)
    router.add_api_route("/teach/class", forms.show, methods=["GET"])
    router.add_api_route("/teach/class", forms.replace_code, methods=["POST"])
    router.add_api_route("/teach/member", forms.show_member, methods=["GET"])
    router.add_api_route("/teach/member", forms.change_member, methods=["POST"])
    return router


@dataclass(frozen=True, slots=True)
class ClassForms:
    """The handlers; the mount lets only instructors through, and the service asks again who is asking."""

    identity: Identity

    def show(self, request: Request, find: str = "") -> Response:
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
        user = self.identity.instructor(request)
        if user is None:
            raise HTTPException(401, "This page is for instructors.")
        return user

    def _class(self, user: User, status: int = 200, *, done: str = "", error: str = "", find: str = "") -> Response:
        everybody = self._members.everybody(user)
        people = [one for one in everybody if _bare(find) in _bare(one.name)]
        present = [_line(one) for one in people if one.ended is None]
        former = [_line(one) for one in people if one.ended is not None]
        return plain.page(
            "class.html",
            lists.header_view(user, "Class and members", here="/teach/"),
            status,
            code=self._members.code(user),
            present=present,
            former=former,
            find=find,
            many=len(everybody) > MANY,
            done=done,
            error=error,
        )

    def _member(self, user: User, person: str, status: int = 200, *, done: str = "", error: str = "") -> Response:
        try:
            member = self._members.one(user, id_of(person))
        except NotAllowed as refusal:
            header = lists.header_view(user, "No such member", here="/teach/")
            return plain.page("member.html", header, 404, name="No such member", error=str(refusal))
        line, own = _line(member), member.id == user.id
        header = lists.header_view(user, f"{line['name']}: role and membership", here="/teach/")
        return plain.page("member.html", header, status, **line, own=own, done=done.format(line["name"]), error=error)


def _line(member: Member) -> dict[str, object]:
    """Return a member as the pages show them."""
    return {
        "id": member.id,
        "name": clean(member.name, 64),
        "role": member.role.value,
        "joined": _day(member.joined),
        "ended": _day(member.ended) if member.ended is not None else "",
    }


def _bare(text: str) -> str:
    """Return a text as it is searched, as `bare` of the tables: capitals and accents make no difference."""
    parts = unicodedata.normalize("NFD", text.strip())
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%-d %b %Y}"
