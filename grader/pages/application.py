"""The whole web application: guard, accounts, the students' and the instructors' site, in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Request
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from grader.pages.accounts import build_accounts
from grader.pages.bundles import Bundles
from grader.pages.classroom import build_classroom
from grader.pages.compression import Compression
from grader.pages.exercise_handlers import ExerciseHandlers
from grader.pages.exercise_routes import build_drafts, build_runs, build_tryouts
from grader.pages.first_paint import FirstPaint
from grader.pages.guard import Guard
from grader.pages.identity import CallerCache, Identity
from grader.pages.monitoring import build_metrics, build_probes
from grader.pages.mounts import Who, mount
from grader.pages.own_account import build_own_account
from grader.pages.request_limits import THREADS, Passwords, RequestLimiter
from grader.pages.routes import Routes
from grader.pages.security_headers import SecurityHeaders
from grader.pages.student import build_student
from grader.pages.teach import InstructorOnly, build_exports, build_teach
from grader.service import Service
from grader.settings import Settings


def create_app(service: Service, settings: Settings) -> FastAPI:
    """Return the application; it starts the service when it is served, and stops it at the end."""
    app = FastAPI(lifespan=_lifespan(service), docs_url=None, redoc_url=None, openapi_url=None)
    identity, bundles = Identity(service, settings.cookie_secure), Bundles(lambda: service.box_name)
    handlers = ExerciseHandlers(identity)
    for router in (*_routers(handlers, settings), bundles.router()):
        app.include_router(router)
    events = {
        "/teach": mount(app, build_teach(identity), "/teach", _instructors(identity)),
        "": mount(app, build_student(handlers), "/", _everybody),
    }
    # Gradio answers every origin, with credentials, unless the application has rules of its own: here, none may.
    app.add_middleware(CORSMiddleware, allow_origins=())
    app.add_middleware(InstructorOnly, identity=identity)
    app.add_middleware(
        Guard,
        body_limit=(2 * settings.source_kib + 64) << 10,
        events=events,
        crowd=RequestLimiter(at_once=settings.connections_each),
        recognise=CallerCache(identity).recognise,
        secure=settings.cookie_secure,
        cookies=(identity.cookie, identity.mark_cookie),
        routes=Routes(metrics=settings.metrics_token is not None),
    )
    # A name of somebody else's that leads here would let their page ask us as if it were ours.
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=settings.allowed_hosts or ("*",), www_redirect=False)
    app.add_middleware(SecurityHeaders, heads=bundles.heads, body=FirstPaint(service.catalog, identity.cookie).of)
    app.add_middleware(Compression)
    return app


def _routers(handlers: ExerciseHandlers, settings: Settings) -> list[APIRouter]:
    """Return the routes that are not Gradio's."""
    identity = handlers.identity
    accounts = (identity, int(settings.session_hours * 3600), Passwords())
    metrics = []
    if settings.metrics_token:
        metrics = [build_metrics(identity.service.condition, settings.metrics_token, settings.data / "workers")]
    return [
        build_accounts(*accounts),
        build_own_account(*accounts),
        build_classroom(identity),
        build_exports(identity),
        build_runs(handlers),
        build_drafts(identity),
        build_tryouts(identity),
        build_probes(identity.service),
        *metrics,
    ]


def _lifespan(service: Service) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = THREADS
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
