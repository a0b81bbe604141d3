"""Accounts: signing in, registering, signing out, and what people change about themselves.

Plain HTML forms, so that they work before any script has run. All handlers block for a moment, so threads run them;
what hashes a password waits for its turn, and what is refused without a hash is refused before that: a wrong class code
takes nobody's place.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from grader.errors import GraderFault, NotAllowed, record
from grader.pages import lists, plain
from grader.pages.identity import Identity, shown_name
from grader.pages.request_limits import EACH_KNOWN, EACH_PERSON, Guest, Passwords, Slow, Who
from grader.pages.wording import clean
from grader.service.sessions import VISITOR_SECONDS
from grader.store.records import User

LOG = logging.getLogger(__name__)
SORRY = (
    "This does not work at the moment because of an error on our side. Please try again later. If that does not help, "
    "give your instructor this id: {incident}"
)
BUSY = "Many people are signing in right now. Please try again in a few seconds."
TO_SIGN_IN = "/sign-in?next=/account"
CHANGED = "Your password is changed. You are signed out everywhere else."
CHOSEN = "Your choice is saved. The leaderboards follow it at once."
LEFT = "You have left the class. What you have handed in is still yours."
RENAMED = "Your name is changed. Sign in with the new one from now on."
SIGNED_OUT = "Signed out everywhere", "You are signed out on every device. What you have handed in is still yours."
DELETED = "Your account is deleted", "With your name, your drafts, and all that you have handed in. You are signed out."

Field = Annotated[str, Form(max_length=2000)]
Again: TypeAlias = Callable[[int, str], Response]  # shows a form once more, with a status and what was wrong


@dataclass(frozen=True, slots=True)
class FormPage:
    """What the page for signing in or registering shows."""

    title: str
    text: str
    register: bool
    next: str = "/"
    name: str = ""
    class_code: str = field(default="", repr=False)
    error: str = ""
    focus: str = "name"  # the field to begin with, or the one that the error is about


SIGN_IN = FormPage("Sign in", "Your attempts and scores are kept under your name.", register=False)
FOR_INSTRUCTORS = "The gradebook is for instructors: sign in as one."
REGISTER = FormPage(
    "Register",
    "To keep your work. With the code of a class, which your instructor has, you are on its leaderboards as well, "
    "under a pseudonym.",
    register=True,
)


@dataclass(frozen=True, slots=True)
class AccountPages:
    """The handlers."""

    identity: Identity
    session_seconds: int
    hashing: Passwords

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter(include_in_schema=False)
        for path, show, take in (
            ("/sign-in", self.show_sign_in, self.sign_in),
            ("/register", self.show_register, self.register),
            ("/join", self.show_join, self.join),
            ("/account", self.show_account, self.change_account),
            ("/reset", self.show_reset, self.reset),
        ):
            router.add_api_route(path, show, methods=["GET"])
            router.add_api_route(path, take, methods=["POST"])
        router.add_api_route("/sign-out", self.sign_out, methods=["POST"])
        router.add_api_route("/visit", self.visit, methods=["POST"])
        return router

    # ---- signing in and out

    def show_sign_in(self, request: Request, next: str = "/") -> Response:
        """Show the form for signing in."""
        text = FOR_INSTRUCTORS if next.startswith("/teach") else SIGN_IN.text
        return self._show(request, replace(SIGN_IN, next=local(next), text=text))

    def show_register(self, request: Request, next: str = "/") -> Response:
        """Show the form for registering."""
        return self._show(request, replace(REGISTER, next=local(next)))

    async def sign_in(self, request: Request, name: Field = "", password: Field = "", next: Field = "/") -> Response:
        """Begin a session, or say why not."""
        accounts, address, mark = self.identity.service.accounts, address_of(request), self.identity.mark(request)
        page = replace(SIGN_IN, next=local(next), name=clean(name, 64), focus="password")

        def begin() -> Response | Slow:
            try:
                known = accounts.expect(name, address, mark)
            except NotAllowed as refusal:
                return self._show(request, page, 403, str(refusal))
            guest = Guest(network_of(address)) if known is None else Guest(f"person {known}", True, EACH_PERSON)
            return self._slow(guest, enter, partial(self._show, request, page))

        def enter() -> Response:
            return self._entered(request, self.identity.service.sign_in(name, password, address, mark), page.next)

        return await self.hashing.answered(request, begin)

    async def register(
        self, request: Request, name: Field = "", password: Field = "", *, class_code: Field = "", next: Field = "/"
    ) -> Response:
        """Make an account and begin a session, or say why not."""
        service, address = self.identity.service, address_of(request)
        page = replace(REGISTER, next=local(next), name=clean(name, 64), class_code=clean(class_code, 64))

        def begin() -> Response | Slow:
            if class_code:
                try:
                    service.accounts.class_of_code(class_code, address)
                except NotAllowed as refusal:
                    return self._show(request, replace(page, focus="class_code"), 403, str(refusal))
            guest = Guest(network_of(address), True, EACH_KNOWN) if class_code else Guest(network_of(address))
            return self._slow(guest, enter, partial(self._show, request, page))

        def enter() -> Response:
            visitor = self.identity.user(request)
            user = service.register(name, password, class_code, address, visitor=visitor)
            return self._entered(request, service.begin_session(user), page.next)

        return await self.hashing.answered(request, begin)

    def visit(self, request: Request) -> Response:
        """Begin a visitor's session, unless there is a session; or say why not."""
        response = Response(status_code=204)
        if self.identity.user(request) is None:
            try:
                token = self.identity.service.accounts.visit(address_of(request))
            except NotAllowed as refusal:
                return Response(str(refusal), 429)
            self.identity.set(response, token, int(VISITOR_SECONDS))
        return response

    def sign_out(self, request: Request) -> Response:
        """End the session."""
        self.identity.service.sign_out(self.identity.token(request))
        response = RedirectResponse("/", status_code=303)
        self.identity.clear(response)
        return response

    def show_join(self, request: Request) -> Response:
        """Show the form for joining a class."""
        return self._join_page(request)

    def join(self, request: Request, class_code: Field = "") -> Response:
        """Join the class of that code, or say why not."""
        user = self._member(request)
        if user is None:
            return RedirectResponse("/register?next=/join", status_code=303)
        try:
            self.identity.service.accounts.join(user, class_code, address_of(request))
        except NotAllowed as refusal:
            return self._join_page(request, 403, str(refusal))
        return RedirectResponse("/work", status_code=303)

    def _show(self, request: Request, page: FormPage, status: int = 200, error: str = "") -> Response:
        header = header_of(self.identity, request, page.title, next=page.next if page.next != "/" else "")
        return plain.page("account.html", header, status, page=replace(page, error=error))

    def _join_page(self, request: Request, status: int = 200, error: str = "") -> Response:
        return plain.page("join.html", header_of(self.identity, request, "Join a class"), status, error=error)

    def _entered(self, request: Request, token: str, next: str) -> Response:
        # The session that the browser had before ends here: nobody can prepare one for somebody else.
        self.identity.service.sign_out(self.identity.token(request))
        response = RedirectResponse(next, status_code=303)
        self.identity.set(response, token, self.session_seconds)
        return response

    # ---- one's own account

    def show_account(self, request: Request) -> Response:
        """Show what can be changed."""
        user = self._member(request)
        return RedirectResponse(TO_SIGN_IN, status_code=303) if user is None else self._account_page(user)

    async def change_account(
        self,
        request: Request,
        act: Field = "",
        *,
        password: Field = "",
        new: Field = "",
        name: Field = "",
        board: Field = "",
        school: Field = "",
    ) -> Response:
        """Change name, password or the place on boards, leave the class, sign out, delete oneself, or say why not."""

        def begin() -> Response | Slow:
            user = self._member(request)
            if user is None:
                return RedirectResponse(TO_SIGN_IN, status_code=303)
            ways: dict[str, Callable[[], Response]] = {
                "name": lambda: self._rename(request, user, name, password),
                "password": lambda: self._change_password(request, user, password, new),
                "board": lambda: self._choose_board(user, board),
                "leave": lambda: self._leave(request, user, school),
                "everywhere": lambda: self._sign_out_everywhere(user),
                "delete": lambda: self._delete(request, user, password),
            }
            if act not in ways:
                return self._account_page(user, 422)
            return self._slow(_person(request, user), ways[act], partial(self._account_page, user, act=act))

        return await self.hashing.answered(request, begin)

    def show_reset(self, request: Request, token: str = "") -> Response:
        """Show the form for a new password, or that the link is worth nothing."""
        try:
            name = shown_name(self.identity.service.own_account.owner_of(token))
        except NotAllowed as refusal:
            return self._reset_page(request, 403, str(refusal))
        return self._reset_page(request, name=name, token=token)

    async def reset(self, request: Request, token: Field = "", password: Field = "") -> Response:
        """Set a new password by a link, and begin a session."""
        own_account = self.identity.service.own_account

        def begin() -> Response | Slow:
            try:
                owner = own_account.owner_of(token)
            except NotAllowed as refusal:
                return self._reset_page(request, 403, str(refusal))
            again = partial(self._reset_page, request, name=shown_name(owner), token=token)
            return self._slow(_person(request, owner), enter, again)

        def enter() -> Response:
            session = own_account.reset(token, password)
            response = RedirectResponse("/", status_code=303)
            self.identity.set(response, session, self.session_seconds)
            return response

        return await self.hashing.answered(request, begin)

    def _member(self, request: Request) -> User | None:
        user = self.identity.user(request)
        return None if user is None or user.visitor else user

    def _rename(self, request: Request, user: User, name: str, password: str) -> Response:
        renamed = self.identity.service.own_account.rename(user, name, password, address_of(request))
        response = self._account_page(renamed, done=RENAMED)
        if token := self.identity.token(request):  # the browser is to be known under the new name
            self.identity.set(response, token, self.session_seconds)
        return response

    def _change_password(self, request: Request, user: User, old: str, new: str) -> Response:
        token = self.identity.service.own_account.change_password(user, old, new, address_of(request))
        response = self._account_page(user, done=CHANGED)
        self.identity.set(response, token, self.session_seconds)
        return response

    def _choose_board(self, user: User, choice: str) -> Response:
        self.identity.service.boards.choose(user, choice)
        return self._account_page(user, done=CHOSEN)

    def _leave(self, request: Request, user: User, key: str) -> Response:
        self.identity.service.own_account.leave(user, key)
        return self._account_page(self.identity.user(request) or user, done=LEFT)

    def _sign_out_everywhere(self, user: User) -> Response:
        self.identity.service.own_account.sign_out_everywhere(user)
        return self._gone(*SIGNED_OUT)

    def _delete(self, request: Request, user: User, password: str) -> Response:
        self.identity.service.own_account.delete(user, password, address_of(request))
        response = self._gone(*DELETED)
        response.headers["Clear-Site-Data"] = '"storage"'  # the drafts that the browser keeps
        return response

    def _gone(self, title: str, done: str) -> Response:
        response = plain.page("gone.html", lists.header_view(None, title), title=title, done=done)
        self.identity.clear(response)
        return response

    def _account_page(
        self, user: User, status: int = 200, error: str = "", *, act: str = "", done: str = ""
    ) -> Response:
        service, name = self.identity.service, shown_name(user)
        shown = {"boards": service.boards.of(user), "classes": service.own_account.classes(user), "act": act}
        header = lists.header_view(user, "Your account")
        return plain.page("own_account.html", header, status, **shown, name=name, done=done, error=error)

    def _reset_page(self, request: Request, status: int = 200, error: str = "", **shown: str) -> Response:
        header = header_of(self.identity, request, "New password")
        return plain.page("reset.html", header, status, error=error, **shown)

    def _slow(self, guest: Guest, do: Callable[[], Response], again: Again) -> Slow:
        """Return what takes a hash: who waits for it, what makes the answer, and the form again where that fails."""

        def done() -> Response:
            try:
                return do()
            except NotAllowed as refusal:
                return again(403, str(refusal))
            except GraderFault as fault:
                return again(503, SORRY.format(incident=record(LOG, "an account could not be changed", fault)))

        return Slow(guest, done, partial(again, 503, BUSY))


def _person(request: Request, user: User) -> Guest:
    return Guest(f"person {user.id} at {network_of(address_of(request))}", True, EACH_PERSON)


def header_of(identity: Identity, request: Request, title: str, *, next: str = "") -> plain.Header:
    """Return the header of a page of plain HTML; a guest's where the store does not tell who is asking."""
    try:
        user = identity.user(request)
    except GraderFault:
        user = None
    return lists.header_view(user, title, next=next)


def address_of(request: Request) -> str:
    """Return where a request comes from."""
    return request.client.host if request.client else ""


def network_of(address: str) -> str:
    """Return the household of an address."""
    return Who(None, address).network


def local(address: str) -> str:
    """Return an address of ours to go to next; the front page for anything that leads elsewhere."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if plain and address.isprintable() and "\\" not in address and len(address) < 500 else "/"
