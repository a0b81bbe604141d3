"""What each route costs the pages' process with the most that a student can store: `python -m benchmarks pages`.

The database holds sources of every shape that is slow to read somewhere, reports with more items than any exercise
has, a long history and a class of long names. Each route, from the list of routes, is asked for each of them.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from urllib.parse import urlencode

import httpx
import typer
from argon2 import PasswordHasher
from fastapi import FastAPI
from sqlalchemy import text

from grader.exercise.catalog import Catalog
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.tryouts import TryoutThread
from grader.judge.report import (
    Bar,
    CheckResult,
    Curve,
    Diagnosis,
    Dimension,
    Figures,
    Heatmap,
    Pane,
    Property,
    Report,
    Series,
    Status,
    Verdict,
)  # fmt: skip
from grader.pages.application import create_app
from grader.pages.guard import Guard
from grader.pages.request_limits import RequestLimiter
from grader.pages.routes import EVENTS, METRICS, SENT, Body, Route, Routes
from grader.service import Service
from grader.service.service import Rules
from grader.settings import Settings
from grader.store import gradings, migrate, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Role, Submission, SubmissionId, User

BYTES = 256_000  # of a source at full size
HISTORY, CLASS = 2_000, 300  # attempts of one person, members
PASSWORD, ADDRESS = "correct horse battery", "http://gym.example"
LETTER = "\u1ed9"  # two accents, as many as a name may have on one
TOKEN = "t" * 40
_VERSIONS = Versions(exercise="v", grader="g", torch="t")
# A long history: the same attempt again and again, before and after it.
_COPIES = (
    """INSERT INTO submissions (id, user_id, exercise, number, state, created, finished, current_grading,
                                exercise_version, seed, device, source)
       WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < :most)
       SELECT printf('f%023d', i), user_id, exercise, 1 + i, state, created + i, finished, NULL,
              exercise_version, seed, device, source FROM submissions, c WHERE id = :id""",
    """INSERT INTO gradings (id, submission_id, reason, status, score, flag, incident, created, try_number,
                             exercise_version, grader_version, torch_version, seed, device, report)
       SELECT 999 + s.number, s.id, g.reason, g.status, g.score, g.flag, g.incident, g.created, g.try_number,
              g.exercise_version, g.grader_version, g.torch_version, g.seed, g.device, g.report
       FROM submissions AS s, gradings AS g WHERE s.id LIKE 'f0%' AND g.submission_id = :id""",
    "UPDATE submissions SET current_grading = 999 + number WHERE id LIKE 'f0%'",
    """INSERT INTO diagnoses (grading_id, mistake, title)
       SELECT id, 'forgot_scaling', 'The scores are not scaled' FROM gradings WHERE id > 999""",
)
_START = 1.7e9  # seconds since the epoch


def shapes(size: int) -> dict[str, tuple[str, str]]:
    """Return pairs of sources of `size` bytes: an earlier and a later attempt."""
    draw = random.Random(1)

    def lines(number: int, make: Callable[[int], str]) -> str:
        return "".join(f"{make(n)}\n" for n in range(number))

    few = size // 256  # lines: a thousand at full size, as many as are compared
    code = [f"    x{n} = x{n - 1} * {n} + torch.ones(3).softmax(dim=-1)" for n in range(few)]
    other = [line if n % 2 else line.replace("ones", "zeros") for n, line in enumerate(code)]
    return {
        "equal lines": ("x = 1\n" * few, "x = 1\n" * (few - 3)),
        "two lines in turn": ("a = 1\nb = 2\n" * (few // 2), "b = 2\na = 1\n" * (few // 2 - 1)),
        "few lines at random": tuple(lines(few, lambda n: f"v{draw.randrange(4)} = 1") for _ in range(2)),
        "lines at random": tuple(lines(few, lambda n: f"{draw.random()}") for _ in range(2)),
        "every other line": ("\n".join(code), "\n".join(other)),
        "the lines turned round": ("\n".join(code), "\n".join(reversed(code))),
        "short lines": ("x\n" * (size // 2), "y\n" * (size // 2)),
        "one line": ("x = " + "1 + " * (size // 4), "x = " + "2 + " * (size // 4)),
        "deep": ("x = " + "(" * (size // 2) + ")" * (size // 2), "[" * size),
        "marks": ("e" + "\u0301" * (size // 2), "\u202e" * (size // 3)),
        "no Python": ("\\'\"<&>" * (size // 6), "\x00\x0b\ud800" * (size // 6)),
    }  # fmt: skip


def report(exercise: str, size: int) -> Report:
    """Return a report with more of everything than any exercise's has."""
    words = "<e\u0301\u0301\u0301\u0301\u0301 `code` " * 40
    checks = tuple(
        CheckResult(f"case {n}: check", list(Dimension)[n % len(Dimension)], Verdict.FAILED, 0.0, 0.2, f"{n} {words}")
        for n in range(size // 2_560)
    )
    row = tuple(n / 7 for n in range(24))
    pane = Pane("head", (row,) * 24, (row,) * 24, tuple((n, n) for n in range(24)))
    drawn = Heatmap("attention", "map", "query", "key", pane.values, pane.expected, pane.wrong, panes=(pane,) * 8)
    maps = tuple(replace(drawn, title=f"map {n}") for n in range(size // 64_000))
    return Report(
        exercise, Status.GRADED, 40.0, 1, "cpu", 0.1,
        checks=checks,
        properties=tuple(Property(f"property {n}", words, False, words) for n in range(size // 16_000)),
        diagnosis=(Diagnosis("forgot_scaling", "The scores are not scaled", words, True),),
        advice=(words,) * (size // 16_000),
        mapping={f"weight {n}": f"layer.{n}" for n in range(size // 4_000)},
        figures=Figures(
            maps,
            tuple(Bar(f"gradient of {n}", 1.0, 2.0) for n in range(size // 4_000)),
            curves=(Curve("loss", "step", "loss", (Series("loss", row * 20, row * 20),) * 2),),
        ),
        output=words * (size // 12_000),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: what it is about, in words, and what is sent."""

    route: str
    about: str
    who: str
    method: str
    url: str
    content: bytes = b""
    kind: str = ""


class Stored:
    """An application over a database that is filled with the most that can be stored, or with a share of it.

    Args:
        folder: an empty directory.
        share: of the greatest size.
        only: the shapes of sources that are stored; all of them if left out.
    """

    def __init__(self, folder: Path, share: float = 1.0, only: Collection[str] = ()) -> None:
        """Fill it."""
        self.size, self.share = int(BYTES * share), share
        self.shapes = {name: pair for name, pair in shapes(self.size).items() if not only or name in only}
        self.database = Database(f"sqlite:///{folder / 'gym.sqlite3'}")
        migrate.upgrade(self.database)
        self._catalog = Catalog.load()
        self.service = self._service(folder)
        self.people = {"student": self._add("Ada", Role.STUDENT), "instructor": self._add("Ida", Role.INSTRUCTOR)}
        self.tokens = {name: self.service.sign_in(user.name, PASSWORD, "") for name, user in self.people.items()}
        self._numbers = count(1)
        self.pairs: dict[str, tuple[str, str, str]] = {}  # by shape: the exercise, the later attempt, the earlier one
        self._fill()
        self.app: FastAPI = create_app(self.service, Settings(data=folder, metrics_token=TOKEN))
        guard = next(one for one in self.app.user_middleware if one.cls is Guard)
        guard.kwargs["crowd"] = RequestLimiter(clock=partial(next, count(step=1000)))  # so nobody asks too often
        self.events = guard.kwargs["events"]

    def _service(self, folder: Path) -> Service:
        engine = EmbeddedEngine(self.database, self._never, workers=folder / "workers")
        return Service(
            self.database, self._catalog, engine,
            rules=Rules(class_code="green-tree", secret=b"secret", slots={"cpu": 1}),
            tryouts=TryoutThread(lambda _request: "{}"),
            box_name="nothing at all",
            hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1),
        )  # fmt: skip

    @staticmethod
    def _never(*_given: object) -> Report:
        raise RuntimeError("nothing is graded here")

    def _add(self, name: str, role: Role) -> User:
        return self.service.add_user(name, PASSWORD, role)

    def _fill(self) -> None:
        exercises = list(self._catalog)
        for (shape, sources), exercise in zip(self.shapes.items(), exercises, strict=False):
            first, second = (self._stored(exercise, source, self.size) for source in sources)
            self.pairs[shape] = exercise, second, first
            self.service.drafts.keep(self.people["student"], exercise, sources[0], 0.0)
        long = exercises[-1]
        last = self._stored(long, "x = 1", self.size // 16)
        with self.database.write() as session:
            for statement in _COPIES:
                session.execute(text(statement), {"id": last, "most": int(HISTORY * self.share)})
        self.pairs["a long history"] = long, last, f"f{1:023d}"
        for n in range(int(CLASS * self.share)):
            self._add((f"{n} " + LETTER * 40)[:40], Role.STUDENT)
        self._teach(exercises[0])

    def _teach(self, exercise: str) -> None:
        """Let a class of as many have an assignment at which everybody has handed in."""
        people = [f"s{number}@school.edu" for number in range(int(CLASS * self.share))]
        ask = self.service.classes.do
        ask("admin", "class", {"class": "K", "name": "K", "zone": "UTC", "bank": 4, "sections": []})
        ask("admin", "staff", {"class": "K", "person": "ida", "name": "Ida", "role": "instructor"})
        ask(
            "admin",
            "import",
            {"class": "K", "csv": "\n".join(["email,name", *(f"{one},{LETTER * 60}" for one in people)])},
        )
        made = {"assignment": "K-1", "items": {exercise: 10}, "opens": "2026-01-01T00:00", "due": "2999-01-01T00:00"}
        ask("admin", "assign", {"class": "K", **made})
        for number, one in enumerate(people):
            given = {"assignment": "K-1", "exercise": exercise, "id": f"k{number}", "score": 80}
            ask(one, "hand_in", {"class": "K", "person": one, **given})

    def _stored(self, exercise: str, source: str, size: int) -> str:
        number = next(self._numbers)
        draft = Submission(
            id=SubmissionId(f"{number:024x}"), user=self.people["student"].id, exercise=exercise,
            exercise_version="v", raw=source.encode(errors="surrogatepass"), seed=1, device="cpu",
            created=_START + number,
        )  # fmt: skip
        with self.database.write() as session:
            submissions.add(session, draft)
            gradings.store(session, draft.id, Grading.of(report(exercise, size), _VERSIONS, _START + number))
        return draft.id

    def asked(self) -> Iterator[Asked]:
        """Yield a request for each method, route and kind of what is stored; files are left out.

        Raises:
            KeyError: a route has a field for which there is no value here.
        """
        table = dict(Routes(metrics=True)._table)
        events = {f"{EVENTS}{name}": SENT for name in self.events}
        sent = set()
        for path, route in {**table, **events}.items():
            # What names no exercise and no attempt holds nothing that anybody has stored but names.
            about_one = route.body is Body.TEXT or {"ex", "attempt"} & set(route.query)
            told = {**self.pairs} if about_one else dict(list(self.pairs.items())[:1])
            for about, (exercise, later, earlier) in told.items() if not route.static else ():
                for asked in self._of_route(path, route, about, self._values(exercise, later, earlier)):
                    if (key := (asked.method, asked.url, asked.content)) not in sent:
                        sent.add(key)
                        yield asked

    def _of_route(self, path: str, route: Route, about: str, values: dict[str, str]) -> Iterator[Asked]:
        who = "instructor" if path.startswith(("/teach", "/class")) else "student"
        if path.startswith("/class"):
            values = values | {"person": "s0@school.edu", "attempt": "k0"}
        whole = {name: values[name] for name in route.query}
        # What is asked for by one field alone is another page than what is asked for by all.
        alone = [{name: value} for name, value in whole.items()] if len(whole) > 1 else []
        for query in (whole, *alone):
            url = f"{path}?{urlencode(query)}"
            for method in route.methods:
                content, kind = self._body(path, route, values) if method == "POST" else (b"", "")
                yield Asked(path, about, who, method, url, content, kind)

    def _values(self, exercise: str, later: str, earlier: str) -> dict[str, str]:
        """Return a value for each field of a query or form."""
        long = LETTER * 400
        return {
            "ex": exercise, "attempt": later, "before": earlier, "submission": later, "base": "0", "best": "yes",
            "student": str(self.people["student"].id), "person": str(self.people["student"].id),
            "list": "all", "mistake": "forgot_scaling", "flag": "any", "track": "Basics", "find": long[:60],
            "next": "/" + "x" * 400, "token": "t" * 200, "name": long, "board": long, "class_code": long,
            "password": long, "new": long, "act": "rename", "sure": "yes",
            "class": "K", "assignment": "K-1", "section": "", "format": "csv", "undo": "", "hold": "", "csv": long,
            "do": "override", "field": "due", "value": "1", "points": "5", "reason": long, "revision": "0",
            "text": long, "shown": "yes", "file": "", "confirm": "0", "key": "K-2", "title": long, "items": long,
            "opens": "2026-01-01T00:00", "due": "2026-02-01T00:00", "section_due": "", "grace": "0", "per_day": "10",
            "at_most": "100", "of": "earned", "bank_max": "0", "cutoff": "", "count": "best", "attempts": "",
            "show": "at_once", "people": "", "weeks": "1", "change": "c1", "after": "90.00",
            "keep": "new", "which": "all", "seen": "x", "exercise": exercise, "week": "2026-01-05", "read": "1",
            "school": "K",
            **dict.fromkeys((f"show_{part}" for part in Dimension), ""),
        }  # fmt: skip

    def _body(self, path: str, route: Route, values: dict[str, str]) -> tuple[bytes, str]:
        if route.body is Body.FORM:
            return urlencode({name: values[name] for name in route.form}).encode(), Body.FORM.value
        source = self.service.submission(self.people["student"], SubmissionId(values["attempt"])).source
        if route.body is Body.TEXT:
            sent = json.dumps({"source": source[: BYTES // 4]}) if path == "/try" else source
            return sent.encode(errors="replace"), Body.TEXT.value
        name = path.removeprefix(EVENTS)
        data = [source.encode(errors="replace").decode() for _ in self.events[name].inputs]
        if data:
            data[0] = values["ex"] if name == "submit" else values["attempt"]
        document = {"data": data, "session_hash": "tab"}
        return json.dumps(document).encode(), Body.EVENT.value

    async def send(self, client: httpx.AsyncClient, asked: Asked) -> int:
        """Send a request and return the status."""
        token = self.tokens[asked.who] if asked.route != "/sign-out" else "x"  # the others need the session
        headers = {"Cookie": f"attention_gym={token}"}
        if asked.route == METRICS:
            headers["Authorization"] = f"Bearer {TOKEN}"
        if asked.kind:
            headers |= {"Content-Type": asked.kind, "Origin": ADDRESS}
        answer = await client.request(asked.method, asked.url, content=asked.content, headers=headers)
        return answer.status_code

    def client(self) -> httpx.AsyncClient:
        """Return a client of the application in this process."""
        return httpx.AsyncClient(transport=httpx.ASGITransport(app=self.app), base_url=ADDRESS, timeout=60)


def pages(slowest: int = 1) -> None:
    """Ask each route for the most that can be stored; print the processor time of the slowest requests of each."""
    with tempfile.TemporaryDirectory(prefix="pages-") as folder:
        for route, costs in sorted(asyncio.run(_costs(Path(folder))).items(), key=lambda one: -max(one[1])[0]):
            for seconds, about, status in sorted(costs, reverse=True)[:slowest]:
                typer.echo(f"{1000 * seconds:7.1f} ms  {route}  {about}  ({status})")


async def _costs(folder: Path) -> dict[str, list[tuple[float, str, int]]]:
    stored, found = Stored(folder), dict[str, list[tuple[float, str, int]]]()
    async with stored.client() as client:
        for asked in stored.asked():
            taken = []
            for _ in range(2):
                begun = time.process_time()
                status = await stored.send(client, asked)
                taken.append(time.process_time() - begun)
            about = f"{asked.method} {asked.about} {asked.url.partition('?')[2][:60]}"
            found.setdefault(asked.route, []).append((min(taken), about, status))
    return found
