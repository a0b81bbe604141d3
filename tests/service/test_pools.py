"""Every pool that people share: one client at 100 %, and an honest newcomer beside it who is served within few turns.

Counted in turns, never in seconds: how many of what is under way have to end before the newcomer's is begun.
"""

from __future__ import annotations

import asyncio
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from grader.errors import NotAllowed
from grader.jobs.queue import Claim
from grader.jobs.table import TableJobs
from grader.jobs.worker import Search, Searches
from grader.judge.report import Report, Status
from grader.pages.connections import ConnectionLimits
from grader.pages.guard import AT_ONCE, Guard
from grader.pages.identity import CallerCache, Identity
from grader.pages.request_limits import THREADS, RequestLimiter, Who
from grader.service import Service
from grader.service.limits import payer
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import GradingId, Reason, Role, SubmissionId, User
from tests.service.conftest import Clock
from tests.service.test_tryouts import Runner, asked, room

HERE, ELSEWHERE = "192.0.2.1", "203.0.113.9"
PRESSED = 40  # times that the busy one asks before the newcomer comes
FULL = Report(exercise="softmax", status=Status.GRADED, score=100.0, seed=1, device="cpu", seconds=0.0)
VERSIONS = Versions(exercise="v1", grader="g1", torch="2")


@dataclass(frozen=True)
class Client:
    user: User | None
    address: str


@dataclass
class World:
    service: Service
    database: Database
    clock: Clock
    person: Callable[..., User]
    slots: int

    def busy(self, kind: str) -> Iterator[Client]:
        """Yield the clients of one who asks without end: themselves each time, or one visitor after the other."""
        same = self.person("Busy") if kind == "a member" else None
        for n in itertools.count():
            yield Client(self.person(f"Busy {n}", Role.LEARNER) if "visitors" in kind else same, HERE)

    def newcomer(self, kind: str) -> Client:
        if kind == "a member of the same address":
            return Client(self.person("New"), HERE)
        return Client(self.person("New", Role.LEARNER) if "visitor" in kind else None, ELSEWHERE)


class Pool(ABC):
    """Something of which there is not enough for everybody; `served` says in which order it was given."""

    turns = 1  # that have to end before a newcomer's at most

    def __init__(self, world: World) -> None:
        self.world, self.served = world, list[str]()

    @abstractmethod
    async def ask(self, client: Client, name: str) -> None:
        """Ask for a part of it; refused or not, this returns at once."""

    @abstractmethod
    async def end(self) -> None:
        """Let the part end that was given first."""


class HandIns(Pool):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.jobs = TableJobs(world.database, "w", lambda: False, world.clock)
        self.running, self.names, self.exercises = list[Claim](), dict[str, str](), sorted(world.service.catalog)

    async def ask(self, client: Client, name: str) -> None:
        if client.user is None:
            return  # whoever hands in is a visitor at least
        exercise = self.exercises[len(self.names) % len(self.exercises)]
        with suppress(NotAllowed):
            self.names[self.world.service.submit(client.user, exercise, "x = 1", address=client.address)] = name
        self.take()

    async def end(self) -> None:
        self.world.clock.now += 5
        assert self.jobs.finish(self.running.pop(0), Grading.of(FULL, VERSIONS, self.world.clock.now)) is not None
        self.take()

    def take(self) -> None:
        while len(self.running) < self.world.slots:
            claim = self.jobs.take("cpu", f"token {len(self.served)}", alone=False)
            if claim is None:
                return
            self.running.append(claim)
            self.served.append(self.names[claim.id])


class Tries(Pool):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.runner = Runner(world.clock)
        self.served, self.tries = self.runner.begun, room(self.runner, world.slots)

    async def ask(self, client: Client, name: str) -> None:
        with suppress(NotAllowed):
            self.tries.run(client.user, client.address, asked(name))

    async def end(self) -> None:
        self.runner.end(5.0)


class Causes(Pool):
    """The searches for causes, once nobody waits for a verdict; one at a time."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.searches, self.running = Searches(), list[Search]()

    async def ask(self, client: Client, name: str) -> None:
        charged = payer(client.user, client.address)
        claim = Claim(
            SubmissionId(name), Reason.HAND_IN, "softmax", 1, "cpu", token="", tries=1, faults=0, kills=0, started=0.0,
            payer=charged, outside=charged.startswith("home"),
        )  # fmt: skip
        self.searches.put(Search(claim=claim, stored=GradingId(1), verdict=FULL, complete=lambda _: FULL))
        self.take()

    async def end(self) -> None:
        self.searches.took(self.running.pop(), 5.0)
        self.take()

    def take(self) -> None:
        if not self.running and (search := self.searches.take()):
            self.running.append(search)
            self.served.append(search.claim.id)


class Threads(Pool):
    """The threads in which requests are answered; `seats` is what the threads are, one for each."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.crowd, self.seats = RequestLimiter(clock=world.clock), asyncio.Semaphore(THREADS)
        self.recognise = CallerCache(Identity(world.service, secure=False)).recognise
        self.open, self.tasks = dict[str, asyncio.Event](), list[asyncio.Task[None]]()

    async def ask(self, client: Client, name: str) -> None:
        headers = []
        if client.user is not None:
            headers.append((b"cookie", f"attention_gym={self.world.service.begin_session(client.user)}".encode()))
        who = await self.recognise({"type": "http", "headers": headers, "client": (client.address, 1)})
        self.tasks.append(asyncio.create_task(self.answer(who, name)))
        await settled()

    async def answer(self, who: Who, name: str) -> None:
        """Answer a request, once it has a turn and a thread, for as long as the test says."""
        async with self.turn(who):
            self.open[name] = asyncio.Event()
            self.served.append(name)
            await self.open[name].wait()

    async def end(self) -> None:
        self.open.pop(next(iter(self.open))).set()
        await settled()

    def turn(self, who: Who):
        return Both(self.crowd.turn(who.key), self.seats)


class Door(Threads):
    """The places in which submissions are taken, in the guard: after the three of the busy one that wait there."""

    turns = AT_ONCE

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.guard = Guard(nobody, body_limit=1, events={}, crowd=self.crowd, recognise=self.recognise)

    def turn(self, who: Who):
        return Both(self.crowd.turn(who.key), self.guard._submitting)


class Connections(Pool):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.limits, self.open = ConnectionLimits(most=30, each=20), list[str]()

    async def ask(self, client: Client, name: str) -> None:
        """Open one; beside the server a household is its address, whoever is there."""
        if self.limits.enter(client.address):
            self.open.append(client.address)
            self.served.append(name)

    async def end(self) -> None:
        self.limits.leave(self.open.pop(0))


class Both:
    def __init__(self, first, second) -> None:
        self.first, self.second = first, second

    async def __aenter__(self) -> None:
        await self.first.__aenter__()
        await self.second.__aenter__()

    async def __aexit__(self, *why) -> None:
        await self.second.__aexit__(*why)
        await self.first.__aexit__(*why)


async def nobody(*_) -> None:
    """Answer nothing."""


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


BUSY = ("a member", "visitors of one address", "a guest")
NEWCOMERS = ("a member of the same address", "a visitor elsewhere", "a guest elsewhere")
POOLS = {HandIns: (1, 2, 4), Tries: (1, 2, 4), Causes: (1,), Threads: (1,), Door: (1,), Connections: (1,)}


def is_promised(pool: type[Pool], busy: str, newcomer: str) -> bool:
    """Return whether a pool promises the newcomer anything beside the busy one; what it does not is known here."""
    if pool in (HandIns, Causes, Door) and ("guest" in busy or "guest" in newcomer):
        return False  # whoever hands in is a visitor at least
    if pool is Causes and busy == "a member":
        return "member" in newcomer  # a cause of somebody outside comes after all of the class
    return pool is not Connections or "elsewhere" in newcomer  # nobody is known when a connection is opened


CASES = [
    pytest.param(pool, busy, newcomer, slots, id=f"{pool.__name__}-{busy}-{newcomer}-{slots}".replace(" ", "_"))
    for pool, numbers in POOLS.items()
    for busy, newcomer, slots in itertools.product(BUSY, NEWCOMERS, numbers)
    if is_promised(pool, busy, newcomer)
]


@pytest.mark.parametrize(("pool", "busy", "newcomer", "slots"), CASES)
def test_a_newcomer_is_served_beside_one_who_never_stops(
    service: Service, database: Database, clock: Clock, person: Callable[..., User],
    pool: type[Pool], busy: str, newcomer: str, slots: int,
) -> None:  # fmt: skip
    """One asks as often as the pool lets them, again at each end; the newcomer's is begun within the promised turns."""
    world = World(service, database, clock, person, slots)

    async def story() -> tuple[list[str], int]:
        shared, clients, numbers = pool(world), world.busy(busy), itertools.count()

        async def press() -> None:
            await shared.ask(next(clients), f"busy {next(numbers)}")

        for _ in range(PRESSED):
            await press()
        for _ in range(3):
            await shared.end()
            await press()
        before = len(shared.served)
        await shared.ask(world.newcomer(newcomer), "new")
        for _ in range(shared.turns):
            if "new" not in shared.served:
                await shared.end()
                await press()
        for task in getattr(shared, "tasks", ()):
            task.cancel()
        return shared.served, before

    served, before = asyncio.run(story())

    assert before >= 3, "the busy one was served"
    assert "new" in served
