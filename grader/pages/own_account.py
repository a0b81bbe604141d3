"""What people change about their own accounts, and forgotten passwords: plain HTML forms, as those for signing in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from grader.errors import GraderFault, NotAllowed, record
from grader.pages import lists, plain
from grader.pages.accounts import BUSY, LOG, SORRY, Field, address_of, header_of, network_of
from grader.pages.identity import Identity, id_of, shown_name
from grader.pages.request_limits import EACH_PERSON, Guest, Passwords, Slow
from grader.pages.wording import clean
from grader.store.records import Role, User

TO_SIGN_IN = "/sign-in?next=/account"
CHANGED = "Your password is changed. You are signed out everywhere else."
CHOSEN = "Your choice is saved. The leaderboards follow it at once."
LEFT = "You have left the class. What you have handed in is still yours."
RENAMED = "Your name is changed. Sign in with the new one from now on."
SIGNED_OUT = "Signed out everywhere", "You are signed out on every device. What you have handed in is still yours."
DELETED = "Your account is deleted", "With your name, your drafts, and all that you have handed in. You are signed out."
LINK, NO_LINK = "Link for a new password", "No link"
NOBODY = "There is no such student."


def build_own_account(identity: Identity, session_seconds: int, hashing: Passwords) -> APIRouter:
    """Return the routes `/account` and `/reset`, and the instructors' `/teach/reset`."""
    router = APIRouter(include_in_schema=False)
    forms = OwnAccountForms(identity, session_seconds, hashing)
    router.add_api_route("/account", forms.show, methods=["GET"])
    router.add_api_route("/account", forms.change, methods=["POST"])
    router.add_api_route("/reset", forms.show_reset, methods=["GET"])
    router.add_api_route("/reset", forms.reset, methods=["POST"])
    router.add_api_route("/teach/reset", forms.link, methods=["POST"])
    return router


@dataclass(frozen=True, slots=True)
class OwnAccountForms:
    """The handlers; what hashes a password waits for its turn."""

    identity: Identity
    session_seconds: int
    hashing: Passwords

    def show(self, request: Request) -> Response:
        """Show what can be changed."""
        user = self._member(request)
        return RedirectResponse(TO_SIGN_IN, status_code=303) if user is None else self._page(user)

    async def change(
        self,
        request: Request,
        act: Field = "",
        *,
        password: Field = "",
        new: Field = "",
        name: Field = "",
        board: Field = "",
    ) -> Response:
        """Change name, password or the place on boards, leave the class, sign out, delete oneself, or say why not."""
        typed = {"password": password, "new": new, "name": name, "board": board}
        return await self.hashing.answered(request, partial(self._change, request, act, **typed))

    def _change(self, request: Request, act: str, *, password: str, new: str, name: str, board: str) -> Response | Slow:
        user = self._member(request)
        if user is None:
            return RedirectResponse(TO_SIGN_IN, status_code=303)
        ways: dict[str, Callable[[], Response]] = {
            "name": lambda: self._rename(request, user, name, password),
            "password": lambda: self._change_password(request, user, password, new),
            "board": lambda: self._choose_board(user, board),
            "leave": lambda: self._leave(user),
            "everywhere": lambda: self._sign_out_everywhere(user),
            "delete": lambda: self._delete(request, user, password),
        }
        if act not in ways:
            return self._page(user, 422)
        return self._slow(request, f"person {user.id}", ways[act], partial(self._page, user, act=act))

    def show_reset(self, request: Request, token: str = "") -> Response:
        """Show the form for a new password, or that the link is worth nothing."""
        try:
            name = shown_name(self.identity.service.own_account.owner_of(token))
        except NotAllowed as refusal:
            return self._reset_page(request, 403, error=str(refusal))
        return self._reset_page(request, name=name, token=token)

    async def reset(self, request: Request, token: Field = "", password: Field = "") -> Response:
        """Set a new password by a link, and begin a session."""
        return await self.hashing.answered(request, partial(self._begin_reset, request, token, password))

    def _begin_reset(self, request: Request, token: str, password: str) -> Response | Slow:
        try:
            owner = self.identity.service.own_account.owner_of(token)
        except NotAllowed as refusal:
            return self._reset_page(request, 403, error=str(refusal))

        def show(status: int, error: str) -> Response:
            return self._reset_page(request, status, error=error, name=shown_name(owner), token=token)

        return self._slow(request, f"person {owner.id}", partial(self._reset, token, password), show)

    def link(self, request: Request, student: Field = "") -> Response:
        """Show an instructor a link with which a student sets a new password."""
        user = self.identity.instructor(request)
        try:
            if user is None:
                raise NotAllowed(NOBODY)
            token = self.identity.service.own_account.link_for_student(user, id_of(student))
            name = clean(self.identity.service.members.one(user, id_of(student)).name, 64)
        except NotAllowed as refusal:
            return plain.page("link.html", header_of(self.identity, request, NO_LINK), 403, error=str(refusal))
        address = f"{str(request.base_url).rstrip('/')}/reset?token={quote(token, safe='')}"
        return plain.page(
            "link.html", lists.header_view(user, LINK, here="/teach/"), link=address, name=name, student=id_of(student)
        )

    def _reset_page(self, request: Request, status: int = 200, **shown: str) -> Response:
        return plain.page("reset.html", header_of(self.identity, request, "New password"), status, **shown)

    def _member(self, request: Request) -> User | None:
        user = self.identity.user(request)
        return None if user is None or user.visitor else user

    def _rename(self, request: Request, user: User, name: str, password: str) -> Response:
        renamed = self.identity.service.own_account.rename(user, name, password, address_of(request))
        response = self._page(renamed, done=RENAMED)
        if token := self.identity.token(request):  # the browser is to be known under the new name
            self.identity.set(response, token, self.session_seconds)
        return response

    def _change_password(self, request: Request, user: User, old: str, new: str) -> Response:
        token = self.identity.service.own_account.change_password(user, old, new, address_of(request))
        response = self._page(user, done=CHANGED)
        self.identity.set(response, token, self.session_seconds)
        return response

    def _choose_board(self, user: User, choice: str) -> Response:
        self.identity.service.boards.choose(user, choice)
        return self._page(user, done=CHOSEN)

    def _leave(self, user: User) -> Response:
        self.identity.service.own_account.leave(user)
        return self._page(replace(user, role=Role.LEARNER), done=LEFT)

    def _sign_out_everywhere(self, user: User) -> Response:
        self.identity.service.own_account.sign_out_everywhere(user)
        return self._gone(*SIGNED_OUT)

    def _delete(self, request: Request, user: User, password: str) -> Response:
        self.identity.service.own_account.delete(user, password, address_of(request))
        response = self._gone(*DELETED)
        response.headers["Clear-Site-Data"] = '"storage"'  # the drafts that the browser keeps
        return response

    def _reset(self, token: str, password: str) -> Response:
        session = self.identity.service.own_account.reset(token, password)
        response = RedirectResponse("/", status_code=303)
        self.identity.set(response, session, self.session_seconds)
        return response

    def _gone(self, title: str, done: str) -> Response:
        response = plain.page("gone.html", lists.header_view(None, title, here=""), title=title, done=done)
        self.identity.clear(response)
        return response

    def _slow(
        self, request: Request, key: str, do: Callable[[], Response], show: Callable[[int, str], Response]
    ) -> Slow:
        def done() -> Response:
            try:
                return do()
            except NotAllowed as refusal:
                return show(403, str(refusal))
            except GraderFault as fault:
                return show(503, SORRY.format(incident=record(LOG, "an account could not be changed", fault)))

        guest = Guest(f"{key} at {network_of(address_of(request))}", True, EACH_PERSON)
        return Slow(guest, done, partial(show, 503, BUSY))

    def _page(self, user: User, status: int = 200, error: str = "", *, act: str = "", done: str = "") -> Response:
        shown = {
            "name": shown_name(user),
            "board": self.identity.service.boards.of(user),
            "member": user.role is not Role.LEARNER,
        }
        header = lists.header_view(user, "Your account", here="")
        return plain.page("own_account.html", header, status, **shown, error=error, act=act, done=done)
