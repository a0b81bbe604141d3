"""Somebody of a class's staff at one of its pages: what they ask of the class, and the page that they get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from fastapi.responses import Response

from grader.pages import lists, plain
from grader.pages.gradebook import HERE as PRACTICE
from grader.pages.gradebook import addresses_in
from grader.pages.lists import CLASSES
from grader.pages.wording import View
from grader.service import Service
from grader.service.classes.answers import Classes
from grader.service.classes.requests import ClassRefusal
from grader.store.records import Role, User

_NOT_TOLD = ("unknown", "not_allowed", "not_member")  # whoever may not know of a class gets what there is of none
_TABS = (
    ("", "Assignments"),
    ("/gradebook", "Gradebook"),
    ("/mistakes", "Mistakes"),
    ("/exceptions", "Exceptions"),
    ("/roster", "Roster"),
    ("/regrade", "Regrades"),
    ("/audit", "Audit"),
)
_OF_INSTRUCTORS = ("/exceptions", "/roster", "/regrade", "/audit")


class Missing(Exception):
    """There is no such thing, or not for whoever asks."""


@dataclass(frozen=True)
class ClassVisit:
    """A request to a page of a class.

    Attributes:
        form: what was sent to it, empty for whoever only looks.
        base: the site's address.
    """

    service: Service
    user: User
    query: Mapping[str, str]
    form: Mapping[str, str]
    base: str = ""

    @property
    def classes(self) -> Classes:
        """What answers for classes."""
        return self.service.classes

    @property
    def key(self) -> str:
        """The class that the page is about."""
        return self.query.get("class", "")

    @property
    def is_sure(self) -> bool:
        """Whether the preview was seen."""
        return self.form.get("sure") == "yes"

    def ask(self, do: str, **fields: Any) -> Mapping[str, Any]:
        """Ask something of the class.

        Raises:
            Missing: there is no such thing, or not for them.
            ClassRefusal: it is not done, for a reason that they may know.
        """
        try:
            return self.classes.do(self.user, do, {"class": self.key, **fields})
        except ClassRefusal as refusal:
            if refusal.code in _NOT_TOLD:
                raise Missing from refusal
            raise

    @cached_property
    def desk(self) -> Mapping[str, Any]:
        """The class with its assignments."""
        return self.ask("desk")

    def address(self, path: str, **fields: str) -> str:
        """Return the address of another page of the class."""
        return f"/class{path}?{urlencode({'class': self.key, **fields})}"

    def assignment(self) -> Mapping[str, Any]:
        """Return the assignment that the address names."""
        wanted = self.query.get("assignment", "")
        for one in self.desk["assignments"]:
            if one["key"] == wanted:
                return dict(one)
        raise Missing

    def names(self) -> Mapping[str, str]:
        """Return what the students are called."""
        return {one["person"]: one["name"] for one in self.ask("grades")["people"]}

    def page(self, name: str, title: str, status: int = 200, /, *, tab: str | None = None, **shown: Any) -> Response:
        """Return a page of the class; `tab` is the part that it belongs to."""
        tabs: list[View] = [
            {"text": text, "href": self.address(path), "here": path == tab}
            for path, text in _TABS
            if self.desk["teaches"] or path not in _OF_INSTRUCTORS
        ]
        if self.desk["teaches"] and self.user.role is Role.INSTRUCTOR:  # an administrator teaches nobody
            tabs.append({"text": "Practice", "href": addresses_in(self.key)(PRACTICE), "here": False})
        header = lists.header_view(self.user, f"{title} · {self.desk['name']}", here=CLASSES)
        return plain.page(name, header, status, desk=self.desk, tabs=tabs, title=title, to=self.address, **shown)
