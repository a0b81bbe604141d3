"""What monitors ask: whether the process answers, and whether it can do its work. Neither answer holds a secret."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from grader.service import Service


def build_probes(service: Service) -> APIRouter:
    """Return the routes."""
    router, probes = APIRouter(include_in_schema=False), Probes(service)
    router.add_api_route("/health", probes.health, methods=["GET"])
    router.add_api_route("/ready", probes.ready, methods=["GET"])
    return router


@dataclass(frozen=True, slots=True)
class Probes:
    """The handlers."""

    service: Service

    async def health(self, request: Request) -> Response:
        """Say that this process answers, whatever it can do."""
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """Say with 200 that submissions are taken and graded, or with 503 what is missing for that."""
        missing = await asyncio.to_thread(self.service.condition.missing)
        return JSONResponse({"ready": not missing, "missing": missing}, 503 if missing else 200)
