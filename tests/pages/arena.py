"""The place where the attacks of `tests/hostile/web/` meet the application as it is served, and an honest visitor."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import socket
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote, urlsplit

import gradio as gr
import httpx
from argon2 import PasswordHasher
from fastapi import FastAPI

from grader.exercise.catalog import ROOT
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.tryouts import TryoutThread
from grader.service import Service
from grader.service.service import Rules
from grader.settings import Settings
from grader.store.records import Role
from tests.jobs.classroom import full_marks, open_database
from tests.pages.conftest import PASSWORD, Person, Site, in_a_loop, made
from tests.service.conftest import Clock

FOLDER = Path(__file__).parents[1] / "hostile" / "web"
EXERCISE = "softmax"
TRACES = ("Traceback", 'File "', str(ROOT), "site-packages", "sqlalchemy", "sqlite3.", "/lib/python")
HONEST = (ROOT / "reference" / f"{EXERCISE}.py").read_text(encoding="utf-8")


def load(path: Path) -> ModuleType:
    """Return an attack as a module."""
    spec = importlib.util.spec_from_file_location(f"attack_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Answer:
    """What an event came to: the status of sending it, the text of the answer, and the values of its outputs."""

    status: int
    text: str
    values: tuple[Any, ...] = ()

    def view(self, place: int) -> dict[str, Any]:
        """Return the part of the page that one of the outputs brings."""
        return json.loads(self.values[place])


@dataclass(frozen=True)
class Followed:
    """What the stream of a run said: the status, all of its text, and each part of the page as a name and its line."""

    status_code: int
    text: str

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The parts in the order in which they came."""
        events = [event.partition("\ndata: ") for event in self.text.split("\n\n")]
        return [(name.removeprefix("event: "), line) for name, _, line in events if line]


@dataclass
class World:
    """The served application, three people who are signed in, and whoever comes by."""

    site: Site
    folder: Path
    clients: list[httpx.Client] = field(default_factory=list)
    page: Callable[..., Any] | None = None  # opens one in a browser, for attacks that need it
    alarms: list[str] = field(default_factory=list)
    visits: int = 0  # of somebody honest

    @property
    def service(self) -> Service:
        """The service behind the application."""
        return self.site.service

    @cached_property
    def ada(self) -> Person:
        """A student who does nothing wrong."""
        return self.person("Ada Honest")

    @cached_property
    def eve(self) -> Person:
        """A student who does."""
        return self.person("Eve Wicked")

    @cached_property
    def prof(self) -> Person:
        """An instructor."""
        return self.person("Prof Watchful", Role.INSTRUCTOR)

    def person(self, name: str, role: Role = Role.STUDENT) -> Person:
        """Return somebody new who is signed in."""
        user = self.service.add_user(name, PASSWORD, role)
        return Person(user, self.service.sign_in(name, PASSWORD, "192.0.2.99"))

    def client(self, who: Person | None = None, address: str = "127.0.0.1") -> httpx.Client:
        """Return an HTTP client, of a guest without `who`, that comes from an address of this machine."""
        client = httpx.Client(
            base_url=self.site.url,
            cookies=who.cookies if who else None,
            timeout=20,
            transport=httpx.HTTPTransport(local_address=address, retries=2),
        )
        self.clients.append(client)
        return client

    def close(self) -> None:
        """Close the clients."""
        for client in self.clients:
            client.close()
        self.clients.clear()

    def event(self, client: httpx.Client, name: str, *data: object, query: str = "") -> Answer:
        """Send an event and return what it comes to."""
        sent = client.post(f"/gradio_api/run/{name}?{query}", json={"data": data, "session_hash": "arena"})
        values = sent.json()["data"] if sent.status_code == 200 else ()
        return Answer(sent.status_code, sent.text, tuple(values))

    def follow(self, client: httpx.Client, id: str) -> Followed:
        """Follow a run up to its end."""
        answer = client.get(f"/runs/{quote(id, safe='')}")
        return Followed(answer.status_code, answer.text)

    def graded(self, who: Person, source: str | bytes, exercise: str = EXERCISE) -> str:
        """Hand something in, wait for the verdict, and return its id."""
        id = self.service.submit(who.user, exercise, source)
        self.ended(who, id)
        return id

    def ended(self, who: Person, id: str) -> None:
        """Wait until a submission has its verdict."""

        async def follow() -> None:
            async for _ in self.service.watch(who.user, id):
                pass

        in_a_loop(follow())

    def report(self, who: Person, id: str) -> str:
        """Return the report of a submission as the page gets it, with the panel above it."""
        return self.follow(self.client(who), id).text

    def blocks(self) -> gr.Blocks:
        """Return Gradio's application inside of ours."""
        apps = [getattr(route, "app", None) for route in self.site.app.routes]
        (found,) = [app.get_blocks() for app in apps if hasattr(app, "get_blocks")]
        return found

    def plain_gradio(self) -> FastAPI:
        """Return an application of Gradio's with one event, as anybody would mount it."""

        async def mounted() -> FastAPI:
            with gr.Blocks() as blocks:
                box = gr.Textbox()
                box.submit(lambda text: text, box, box, api_name="echo")
            return gr.mount_gradio_app(FastAPI(), blocks, path="/")

        return in_a_loop(mounted())

    def raw(self, request: bytes, *, wait: float = 5.0) -> bytes:
        """Send bytes to the server, and return all that it sends before it closes or falls silent."""
        address = urlsplit(self.site.url)
        answer = bytearray()
        with socket.create_connection((address.hostname, address.port), timeout=wait) as connection:
            # A refusal may come, and the connection end, before everything is sent.
            sender = threading.Thread(target=_send, args=(connection, request), daemon=True)
            sender.start()
            try:
                while chunk := connection.recv(1 << 16):
                    answer += chunk
            except (TimeoutError, ConnectionResetError):
                pass
        sender.join(wait)
        return bytes(answer)

    def bare(self, ask: Callable[[httpx.AsyncClient], Awaitable[Any]], app: Any = None) -> Any:
        """Return what an attacker would get from the application without anything in front of it, or from `app`."""

        async def run() -> Any:
            # What breaks inside comes back as a 500, as from a server.
            transport = httpx.ASGITransport(app=app or self.site.app.router, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://gym.example", timeout=20) as client:
                return await asyncio.wait_for(ask(client), 20)

        return in_a_loop(run())

    def small(self, name: str, clock: Clock | None = None) -> Service:
        """Return a service of its own that grades nothing and whose clock can be turned; for what would take hours."""
        clock = clock or Clock()
        folder = self.folder / name
        folder.mkdir()
        database = open_database(folder)
        engine = EmbeddedEngine(database, full_marks, workers=folder / "workers", clock=clock)
        return Service(
            database,
            self.service.catalog,
            engine,
            rules=Rules(class_code="green-tree", secret=b"secret", slots={"cpu": 1}),
            tryouts=TryoutThread(lambda request: request.example),
            box_name="nothing at all",
            hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1),
            clock=clock,
        )

    @cached_property
    def strict(self) -> FastAPI:
        """The application as it is set up behind HTTPS under a name of its own."""
        return in_a_loop(made(self.service, Settings(allowed_hosts=("gym.example",), cookie_secure=True)))

    def honest(self) -> None:
        """Check that an honest visitor is served as ever: by their name, and each tenth time with full marks."""
        self.visits += 1
        with httpx.Client(base_url=self.site.url, cookies=self.ada.cookies, timeout=20) as client:
            assert f">{self.ada.user.name}</a>" in client.get("/work").text
            if self.visits % 10 == 1:
                self._graded_right(client)

    def _graded_right(self, client: httpx.Client) -> None:
        sent = self.event(client, "submit", EXERCISE, HONEST)
        self.ended(self.ada, sent.values[0])
        found = self.service.submission(self.ada.user, sent.values[0])
        assert found.report is not None
        assert found.report.score == 100.0

    def harmless(self, *answers: httpx.Response | Answer | Followed) -> None:
        """Check that answers are refusals or calm ones, and tell nothing of the inside."""
        for answer in answers:
            status = answer.status if isinstance(answer, Answer) else answer.status_code
            assert status < 500, (status, answer.text[:200])
            told = [trace for trace in TRACES if trace in answer.text]
            assert told == [], (told, answer.text[:200])


def _send(connection: socket.socket, request: bytes) -> None:
    try:
        connection.sendall(request)
    except OSError:
        pass  # it was refused meanwhile
