"""Signing in, registering and signing out: plain HTML forms, so that they work before any script has run."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from grader.errors import GraderFault, NotAllowed, record
from grader.pages import lists, plain
from grader.pages.identity import Identity
from grader.pages.request_limits import EACH_KNOWN, EACH_PERSON, Guest, Passwords, Slow, Who
from grader.pages.wording import clean
from grader.service.accounts import VISITOR_SECONDS

LOG = logging.getLogger(__name__)
SORRY = (
    "This does not work at the moment because of an error on our side. Please try again later. If that does not help, "
    "give your instructor this id: {incident}"
)
BUSY = "Many people are signing in right now. Please try again in a few seconds."

Field = Annotated[str, Form(max_length=2000)]


@dataclass(frozen=True, slots=True)
class FormPage:
    """What an account page shows."""

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


def build_accounts(identity: Identity, session_seconds: int, hashing: Passwords) -> APIRouter:
    """Return the routes `/sign-in`, `/register` and `/sign-out`."""
    router = APIRouter(include_in_schema=False)
    forms = Forms(identity, session_seconds, hashing)
    router.add_api_route("/sign-in", forms.show_sign_in, methods=["GET"])
    router.add_api_route("/register", forms.show_register, methods=["GET"])
    router.add_api_route("/sign-in", forms.sign_in, methods=["POST"])
    router.add_api_route("/register", forms.register, methods=["POST"])
    router.add_api_route("/sign-out", forms.sign_out, methods=["POST"])
    router.add_api_route("/visit", forms.visit, methods=["POST"])
    router.add_api_route("/join", forms.show_join, methods=["GET"])
    router.add_api_route("/join", forms.join, methods=["POST"])
    return router


@dataclass(frozen=True, slots=True)
class Forms:
    """The handlers; all of them block for a moment, so threads run them, those that hash one of their own.

    What is refused without a hash is refused before it waits for one: a wrong class code takes nobody's place.
    """

    identity: Identity
    session_seconds: int
    hashing: Passwords

    def show_sign_in(self, request: Request, next: str = "/") -> Response:
        """Show the form for signing in."""
        text = FOR_INSTRUCTORS if next.startswith("/teach") else SIGN_IN.text
        return self._show(request, replace(SIGN_IN, next=local(next), text=text))

    def show_register(self, request: Request, next: str = "/") -> Response:
        """Show the form for registering."""
        return self._show(request, replace(REGISTER, next=local(next)))

    async def sign_in(self, request: Request, name: Field = "", password: Field = "", next: Field = "/") -> Response:
        """Begin a session, or say why not."""
        return await self.hashing.answered(request, partial(self._sign_in, request, name, password, next))

    async def register(
        self, request: Request, name: Field = "", password: Field = "", *, class_code: Field = "", next: Field = "/"
    ) -> Response:
        """Make an account and begin a session, or say why not."""
        return await self.hashing.answered(request, partial(self._register, request, name, password, class_code, next))

    def _sign_in(self, request: Request, name: str, password: str, next: str) -> Response | Slow:
        page = replace(SIGN_IN, next=local(next), name=clean(name, 64), focus="password")
        address = address_of(request)
        try:
            known = self.identity.service.accounts.expect(name, address, self.identity.mark(request))
        except NotAllowed as refusal:
            return self._show(request, replace(page, error=str(refusal)), status=403)
        guest = Guest(network_of(address)) if known is None else Guest(f"person {known}", True, EACH_PERSON)
        busy = partial(self._show, request, replace(page, error=BUSY), 503)
        return Slow(guest, partial(self._enter, request, name, password, page=page), busy)

    def _register(self, request: Request, name: str, password: str, class_code: str, next: str) -> Response | Slow:
        page = replace(REGISTER, next=local(next), name=clean(name, 64), class_code=clean(class_code, 64))
        address = address_of(request)
        if class_code:
            try:
                self.identity.service.accounts.check_code(class_code, address)
            except NotAllowed as refusal:
                return self._show(request, replace(page, error=str(refusal), focus="class_code"), status=403)
        guest = Guest(network_of(address), True, EACH_KNOWN) if class_code else Guest(network_of(address))
        begin = partial(self._begin, request, name, password, page=page, class_code=class_code)
        return Slow(guest, begin, partial(self._show, request, replace(page, error=BUSY), 503))

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

    def show_join(self, request: Request) -> Response:
        """Show the form for joining a class."""
        return self._show_join(request)

    def join(self, request: Request, class_code: Field = "") -> Response:
        """Join the class of that code, or say why not."""
        user = self.identity.user(request)
        if user is None or user.visitor:
            return RedirectResponse("/register?next=/join", status_code=303)
        try:
            self.identity.service.accounts.join(user, class_code, address_of(request))
        except NotAllowed as refusal:
            return self._show_join(request, str(refusal), 403)
        return RedirectResponse("/work", status_code=303)

    def sign_out(self, request: Request) -> Response:
        """End the session."""
        self.identity.service.sign_out(self.identity.token(request))
        response = RedirectResponse("/", status_code=303)
        self.identity.clear(response)
        return response

    def _show(self, request: Request, page: FormPage, status: int = 200) -> Response:
        return plain.page("account.html", header_of(self.identity, request, page.title), status, page=page)

    def _show_join(self, request: Request, error: str = "", status: int = 200) -> Response:
        return plain.page("join.html", header_of(self.identity, request, "Join a class"), status, error=error)

    def _sorry(self, request: Request, page: FormPage, fault: GraderFault) -> Response:
        error = SORRY.format(incident=record(LOG, f"no {page.title}", fault))
        return self._show(request, replace(page, error=error), status=503)

    def _begin(self, request: Request, name: str, password: str, *, page: FormPage, class_code: str) -> Response:
        service = self.identity.service
        try:
            visitor = self.identity.user(request)
            user = service.register(name, password, class_code, address_of(request), visitor=visitor)
            token = service.begin_session(user)
        except NotAllowed as refusal:
            return self._show(request, replace(page, error=str(refusal)), status=403)
        except GraderFault as fault:
            return self._sorry(request, page, fault)
        return self._entered(request, token, page)

    def _enter(self, request: Request, name: str, password: str, *, page: FormPage) -> Response:
        mark = self.identity.mark(request)
        try:
            token = self.identity.service.sign_in(name, password, address_of(request), mark)
        except NotAllowed as refusal:
            return self._show(request, replace(page, error=str(refusal)), status=403)
        except GraderFault as fault:
            return self._sorry(request, page, fault)
        return self._entered(request, token, page)

    def _entered(self, request: Request, token: str, page: FormPage) -> Response:
        # The session that the browser had before ends here: nobody can prepare one for somebody else.
        self.identity.service.sign_out(self.identity.token(request))
        response = RedirectResponse(page.next, status_code=303)
        self.identity.set(response, token, self.session_seconds)
        return response


def header_of(identity: Identity, request: Request, title: str, *, here: str = "") -> plain.Header:
    """Return the header of a page of plain HTML; a guest's where the store does not tell who is asking."""
    try:
        user = identity.user(request)
    except GraderFault:
        user = None
    return lists.header_view(user, title, here=here)


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
