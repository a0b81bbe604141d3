"""The whole web application: guard, accounts, the students' and the instructors' site, in one process."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import gradio as gr
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from grader.pages.accounts import build_accounts
from grader.pages.csp import Shield
from grader.pages.guard import Guard
from grader.pages.identity import Identity
from grader.pages.parts import ASSETS, head, theme
from grader.pages.student import build_student
from grader.pages.teach import Doorway, build_exports, build_teach
from grader.service import Service
from grader.settings import Settings

EVENTS_AT_ONCE = 400  # each open run panel takes one while it waits
ANALYTICS = 100  # Gradio summarises its last events after each event; by default 10,000 of them, after every one

Who = Callable[[Request], Awaitable[str | None]]


def create_app(service: Service, settings: Settings) -> FastAPI:
    """Return the application; it starts the service when it is served, and stops it at the end."""
    app = FastAPI(lifespan=_lifespan(service), docs_url=None, redoc_url=None, openapi_url=None)
    identity = Identity(service, settings.cookie_secure)
    app.include_router(build_accounts(identity, int(settings.session_hours * 3600)))
    app.include_router(build_exports(identity))
    app.add_api_route("/health", _health, methods=["GET"])
    app.mount("/gym", StaticFiles(directory=ASSETS))
    _mount(app, build_teach(identity), "/teach", _instructors(identity))
    _mount(app, build_student(identity), "/", _everybody)
    # Gradio answers every origin, with credentials, unless the application has rules of its own: here, none may.
    app.add_middleware(CORSMiddleware, allow_origins=())
    app.add_middleware(Doorway, identity=identity)
    app.add_middleware(Guard, body_limit=(2 * settings.source_kib + 64) << 10)
    # A name of somebody else's that leads here would let their page ask us as if it were ours.
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=settings.allowed_hosts or ("*",), www_redirect=False)
    app.add_middleware(Shield, head=head())
    return app


def _mount(app: FastAPI, blocks: gr.Blocks, path: str, who: Who) -> None:
    blocks.max_threads = EVENTS_AT_ONCE  # before `queue`, which reads it
    blocks.queue(default_concurrency_limit=None, api_open=False)
    with warnings.catch_warnings():
        # Gradio warns that it renders several pages in the browser only, which is what `ssr_mode=False` asks for.
        warnings.filterwarnings("ignore", "SSR mode is not supported", UserWarning)
        gr.mount_gradio_app(
            app,
            blocks,
            path=path,
            auth_dependency=who,
            ssr_mode=False,
            run_history=False,
            show_error=False,
            enable_monitoring=False,
            footer_links=[],
            blocked_paths=["/"],
            max_file_size=1,
            pwa=False,
            mcp_server=False,
            theme=theme(),
        )
    blocks._queue.ANALYTICS_MAX_EVENTS = ANALYTICS
    blocks._queue.ANAYLTICS_CACHE_FREQUENCY = 10**9
    # Without this, Gradio takes any path of this machine for a file that the caller has uploaded.
    blocks.has_launched = True


def _lifespan(service: Service) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(service.start)
        try:
            yield
        finally:
            await asyncio.to_thread(service.stop)

    return lifespan


async def _everybody(request: Request) -> str:
    return "anybody"  # each event reads the session itself


def _instructors(identity: Identity) -> Who:
    async def who(request: Request) -> str | None:
        user = await asyncio.to_thread(identity.instructor, request)
        return f"instructor {user.id}" if user else None

    return who


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok"})
