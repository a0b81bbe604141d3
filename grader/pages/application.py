"""The whole web application: guard, accounts, the students' and the instructors' pages, in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from anyio import to_thread
from fastapi import APIRouter, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from grader.pages.accounts import AccountPages
from grader.pages.answers import Answers, Bundles
from grader.pages.assignments import AssignmentPages
from grader.pages.comparison import build_comparison
from grader.pages.exercise import FirstPaint, mount_exercise
from grader.pages.exercise_handlers import ExerciseHandlers
from grader.pages.exercise_routes import ExerciseRoutes
from grader.pages.guard import Guard
from grader.pages.identity import CallerCache, Identity
from grader.pages.lists import ListPages
from grader.pages.monitoring import build_metrics, build_probes
from grader.pages.request_limits import THREADS, Passwords, RequestLimiter
from grader.pages.routes import Routes
from grader.pages.school.handlers import SchoolPages
from grader.pages.teach import TeachPages
from grader.service import Service
from grader.settings import Settings


def create_app(service: Service, settings: Settings) -> FastAPI:
    """Return the application; it starts the service when it is served, and stops it at the end."""
    app = FastAPI(lifespan=_lifespan(service), docs_url=None, redoc_url=None, openapi_url=None)
    identity, bundles = Identity(service, settings.cookie_secure), Bundles(lambda: service.box_name)
    handlers = ExerciseHandlers(identity)
    for router in (*_routers(handlers, settings), bundles.router()):
        app.include_router(router)
    events = mount_exercise(app, handlers)
    # Gradio answers every origin, with credentials, unless the application has rules of its own: here, none may.
    app.add_middleware(CORSMiddleware, allow_origins=())
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
    app.add_middleware(Answers, heads=bundles.heads, body=FirstPaint(service.catalog).of)
    return app


def _routers(handlers: ExerciseHandlers, settings: Settings) -> Iterator[APIRouter]:
    """Yield the routes that are not Gradio's."""
    identity = handlers.identity
    yield ListPages(identity).router()
    yield AssignmentPages(identity).router()
    yield build_comparison(identity)
    yield TeachPages(identity).router()
    yield SchoolPages(identity).router()
    yield AccountPages(identity, int(settings.session_hours * 3600), Passwords()).router()
    yield ExerciseRoutes(handlers).router()
    yield build_probes(identity.service)
    if settings.metrics_token:
        yield build_metrics(identity.service.condition, settings.metrics_token, settings.data / "workers")


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
