"""What monitors ask: whether the process answers and can do its work, and figures for Prometheus.

The figures are for whoever operates the service: without a token in the settings there is nothing here, for nobody.
Where a request comes from proves nothing, since a proxy on the same machine makes every visitor come from it.
"""

from __future__ import annotations

import asyncio
import hmac
import threading
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from itertools import accumulate
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from grader.exercise.versions import grader_version
from grader.jobs import overview
from grader.jobs.overview import BUCKETS, OpenFaults, QueueLoad, Tally
from grader.judge.report import Status
from grader.pages.plain import STORE_FAULTS
from grader.pages.routes import METRICS
from grader.service import Service
from grader.service.service import Condition
from grader.store import migrate
from grader.store.records import State

KEPT_SECONDS = 5.0
PREFIX = "attention_gym_"


def build_metrics(condition: Condition, token: str, workers: Path) -> APIRouter:
    """Return the route.

    Args:
        condition: of the service.
        token: what a request has to show.
        workers: the directory in which the grading processes of this machine show that they live.
    """
    router, metrics = APIRouter(include_in_schema=False), Metrics(condition, workers)
    expected = f"Bearer {token}".encode()

    @router.get(METRICS)
    async def show(request: Request) -> Response:
        if not hmac.compare_digest(request.headers.get("authorization", "").encode(), expected):
            return PlainTextResponse("Send the token.", 401, {"WWW-Authenticate": "Bearer"})
        try:
            return Response(await asyncio.to_thread(metrics.text), media_type=CONTENT_TYPE_LATEST)
        except STORE_FAULTS:
            return PlainTextResponse("The database does not answer.", 503)

    return router


def build_probes(service: Service) -> APIRouter:
    """Return the routes by which a monitor asks whether this process answers, and whether it can do its work."""
    router = APIRouter(include_in_schema=False)

    @router.get("/health")
    async def health() -> Response:
        return JSONResponse({"status": "ok"})

    @router.get("/ready")
    async def ready() -> Response:
        missing = await asyncio.to_thread(service.condition.missing)
        return JSONResponse({"ready": not missing, "missing": missing}, 503 if missing else 200)

    return router


class Metrics(Collector):
    """Collects the figures; may be asked from any thread, and asks the database seldom."""

    def __init__(self, condition: Condition, workers: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """Read nothing yet; what is counted is counted from the first time on."""
        self._condition, self._workers, self._clock = condition, workers, clock
        self._tally = Tally(clock)
        self._lock = threading.Lock()
        self._kept, self._until = b"", float("-inf")
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def describe(self) -> list[Metric]:
        """Name nothing before it is asked for: the database may be away."""
        return []

    def text(self) -> bytes:
        """Return the figures as Prometheus reads them, at most `KEPT_SECONDS` old.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        with self._lock:
            if self._clock() >= self._until:
                self._kept = generate_latest(self._registry)
                self._until = self._clock() + KEPT_SECONDS
            return self._kept

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of now."""
        with self._condition.database.read() as session:
            queues, faults = overview.queues(session), overview.faults(session)
            workers = overview.workers(session, self._workers)
            self._tally.look(session)
        yield from _loads(queues)
        yield from _faults(faults)
        yield from _results(self._tally)
        yield _gauge("workers", "Workers that were heard of lately", {(): len(workers)})
        yield _gauge("grading", "Whether submissions are graded now", {(): int(self._condition.queue.grades())})
        versions = {"program": metadata.version("attention-gym"), "grading": grader_version()}
        versions["schema"] = migrate.current(self._condition.database) or ""
        yield _gauge("version_info", "Versions", {tuple(versions.values()): 1}, *versions)


def _loads(queues: dict[str, QueueLoad]) -> Iterator[Metric]:
    yield _gauge("waiting", "Submissions that wait", {(name,): load.waiting for name, load in queues.items()}, "device")
    yield _gauge(
        "running", "Submissions in grading", {(name,): load.running for name, load in queues.items()}, "device"
    )
    oldest: dict[tuple[str, ...], float] = {(name,): load.oldest_seconds for name, load in queues.items()}
    yield _gauge("oldest_wait_seconds", "Since when the oldest one waits; 0 if none does", oldest, "device")


def _faults(faults: OpenFaults) -> Iterator[Metric]:
    kinds: dict[tuple[str, ...], float] = {
        ("retried",): faults.retried,
        ("killed",): faults.killed,
        ("broken",): faults.broken,
    }
    yield _gauge("open_faults", "Submissions after a fault of the grader", kinds, "kind")


def _results(tally: Tally) -> Iterator[Metric]:
    verdicts = CounterMetricFamily(f"{PREFIX}verdicts", "Results since this process was first asked", labels=["status"])
    for status in (*Status, State.BROKEN):  # from zero on: Prometheus sees no step in what was not there before
        verdicts.add_metric([status.value], tally.verdicts[status.value])
    yield verdicts
    yield CounterMetricFamily(f"{PREFIX}repeated_tries", "Tries that came to no verdict", value=tally.repeated)
    ends = [*map(str, BUCKETS), "+Inf"]
    waits = HistogramMetricFamily(f"{PREFIX}wait_seconds", "From the hand-in to the verdict")
    waits.add_metric([], list(zip(ends, accumulate(tally.waits), strict=True)), tally.waited)
    yield waits


def _gauge(name: str, about: str, values: dict[tuple[str, ...], float], *labels: str) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(PREFIX + name, about, labels=labels)
    for key, value in values.items():
        gauge.add_metric(key, value)
    return gauge
