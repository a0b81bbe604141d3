"""The real application on a free port, once per session, and a browser that minds every error."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from docs.screenshots.__main__ import chromium
from grader.bootstrap import build
from grader.pages.application import create_app
from grader.pages.connections import Server, configured
from grader.service import Service
from grader.settings import Settings
from grader.store.records import Role, SubmissionId, User

PASSWORD = "correct horse battery"
CODE = "green-tree"
SECONDS = 20  # for what a page shows; a loaded machine takes its time
# A page that is left while an answer streams in aborts the stream, and Gradio reports that as an error.
LEAVING = ("AbortError", "Connection errored out")
Result = TypeVar("Result")
NAMES = itertools.count(1)


@dataclass(frozen=True)
class Site:
    """The served application."""

    url: str
    service: Service
    app: FastAPI
    server: uvicorn.Server


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in."""

    user: User
    token: str

    @property
    def cookies(self) -> dict[str, str]:
        """The session's cookie."""
        return {"attention_gym": self.token}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve the application with the real sandbox, store and exercises."""
    data: Path = tmp_path_factory.mktemp("data")
    settings = Settings(
        data=data,
        database_url=f"sqlite:///{data}/gym.sqlite3",
        class_code=CODE,
        secret=secrets.token_hex(32),
        allow_one_wall=True,
        slots=2,
        drain_seconds=1.0,
        proxies=("127.0.0.1/32",),  # whoever comes from another address of this machine is a visitor
    )
    with serving(build(settings), settings) as site:
        yield site


@contextmanager
def serving(service: Service, settings: Settings) -> Iterator[Site]:
    """Serve the application on a free port for the length of the block."""
    app = in_a_loop(made(service, settings))
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(quick(configured(app, settings, 1024)), service.drain)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    wait_for(lambda: server.started)
    try:
        yield Site(f"http://127.0.0.1:{listener.getsockname()[1]}", service, app, server)
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


def quick(config: uvicorn.Config) -> uvicorn.Config:
    """Return how the server speaks, with less patience at the end."""
    config.timeout_graceful_shutdown = 1
    return config


def in_a_loop(task: Coroutine[None, None, Result]) -> Result:
    """Return what `task` returns; in a thread, since Playwright keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, task).result()


async def made(service: Service, settings: Settings) -> FastAPI:
    """Return the application; without a running loop Gradio would make some, and leave them open."""
    return create_app(service, settings)


def wait_for(ready: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until `ready` says yes.

    Raises:
        TimeoutError: it never did.
    """
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"not ready after {seconds} seconds")
        time.sleep(0.02)


@pytest.fixture
def person(site: Site) -> Callable[..., Person]:
    """Give a function that makes an account and signs it in."""

    def enter(name: str = "", role: Role = Role.STUDENT) -> Person:
        name = name or f"Student {next(NAMES)}"
        user = site.service.add_user(name, PASSWORD, role)
        return Person(user, site.service.sign_in(name, PASSWORD, "127.0.0.1"))

    return enter


@pytest.fixture
def handed_in(site: Site) -> Callable[..., SubmissionId]:
    """Give a function that hands in for somebody and returns the id of the submission once its cause is known too."""

    def hand_in(who: Person, source: str, exercise: str = "causal_attention") -> SubmissionId:
        id = site.service.submit(who.user, exercise, source)
        wait_for(lambda: (seen := site.service.submission(who.user, id).report) is not None and seen.complete, 90)
        return id

    return hand_in


@pytest.fixture
def visitor(site: Site) -> Callable[..., httpx.Client]:
    """Give a function that makes an HTTP client, signed in or not."""

    def visit(who: Person | None = None) -> httpx.Client:
        return httpx.Client(base_url=site.url, cookies=who.cookies if who else None, timeout=20)

    return visit


@pytest.fixture(scope="module")  # not the session: while Playwright is up, no other test can have a loop of its own
def browser() -> Iterator[Browser]:
    """Give the machine's Chromium, or the one that Playwright brings."""
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture
def open_page(site: Site, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Give a function that opens a page; any script error or refused resource on one fails the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def visit(path: str, who: Person | None = None, **options: object) -> Page:
        context = browser.new_context(base_url=site.url, reduced_motion="reduce", **options)
        contexts.append(context)
        if who:
            context.add_cookies([{"name": "attention_gym", "value": who.token, "url": site.url}])
        page = context.new_page()
        page.set_default_timeout(SECONDS * 1000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: (errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("console", lambda line: errors.append(f"{line.text} {line.location}") if line.type == "error" else None)
        page.goto(path)
        return page

    yield visit
    for context in contexts:
        context.close()

    assert [error for error in errors if not any(known in error for known in LEAVING)] == []


@pytest.fixture
def travels(site: Site, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Give a function that opens an exercise on another device; requests that fail are no errors here."""
    contexts: list[BrowserContext] = []

    def visit(who: Person, path: str = "/exercise?ex=causal_attention", **options: object) -> Page:
        contexts.append(browser.new_context(base_url=site.url, reduced_motion="reduce", **options))
        contexts[-1].add_cookies([{"name": "attention_gym", "value": who.token, "url": site.url}])
        page = contexts[-1].new_page()
        page.goto(path)
        expect(page.locator("#editor")).to_have_attribute("data-ready", "yes")
        return page

    yield visit
    for context in contexts:
        context.close()
