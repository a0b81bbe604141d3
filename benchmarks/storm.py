"""What happens when a whole class hands in within ten seconds: `python -m benchmarks storm`.

The pages are served as `attention-gym serve` serves them, in processes of their own. Each student is an open tab
and says what a browser says: the event that hands in, and the stream that follows the run up to its report and what the
report changes on the page. One in ten hands in a bomb or a spinner. Meanwhile a prober loads pages and opens exercises
and boards, at fixed times whatever comes back. The load comes from this process, over
loopback; how much of the machine it takes itself is in the table.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from pathlib import Path

import torch
import typer

from benchmarks.storm_answers import Answer, answers_alone, draw, score_with
from benchmarks.storm_browser import Address, Browser, Refused, find_events, timed
from benchmarks.storm_site import Site, read_stored, seconds_of, served

BAD_SHARE = 0.1
PROBE_SECONDS = 0.1  # between two events of the prober
CALM_SECONDS = 8.0  # of probing before the storm


@dataclass(slots=True)
class Seen:
    """What one student saw: the seconds from the click to the verdict, and to the last that is added to it.

    `score` is the one on the page, `lines` are those shown meanwhile.
    """

    answer: Answer
    wait: float = float("inf")
    end: float = float("inf")
    score: float | None = None
    lines: list[str] = field(default_factory=list)
    trouble: str = ""


@dataclass(slots=True)
class Storm:
    """The outcome: what each student saw, seconds of page events in calm and in storm, and processor seconds."""

    seen: list[Seen]
    calm: list[float]
    during: list[float]
    seconds: float
    web: float
    children: float
    load: float


def storm(students: int = 500, seconds: float = 10.0, slots: int = 0, patience: float = 170.0) -> None:
    """Let a class hand in at once; print who was graded right, how long they waited, and how the page answered."""
    torch.set_num_threads(1)
    drawn = draw(answers_alone(), students, round(BAD_SHARE * students))
    with tempfile.TemporaryDirectory(prefix="storm-", ignore_cleanup_errors=True) as folder:
        data = Path(folder)
        with served(data, students + 1, slots or None) as site:
            result = asyncio.run(rage(site, drawn, over=seconds, patience=patience))
        show(result, problems(result, data))


async def rage(
    site: Site,
    drawn: list[Answer],
    *,
    over: float,
    patience: float,
    calm: float = CALM_SECONDS,
) -> Storm:
    """Return what came of it when each answer was handed in at its time within `over` seconds."""
    address = Address(site.port, await find_events(site.port))
    tabs = [Browser(address, token) for token in site.tokens]
    seen = [Seen(answer) for answer in drawn]
    prober = Prober(tabs[-1])
    async with _open(prober.probe()):
        await asyncio.sleep(calm)
    before, prober.taken = prober.taken, []
    start, used, load = time.perf_counter(), seconds_of(site.pid), time.process_time()
    async with _open(prober.probe()):
        gaps = (over * n / len(drawn) for n in range(len(drawn)))
        await asyncio.gather(*(_sit(tab, one, gap, patience) for tab, one, gap in zip(tabs, seen, gaps, strict=False)))
    end = seconds_of(site.pid)
    took, load = time.perf_counter() - start, time.process_time() - load
    return Storm(seen, before, prober.taken, took, end[0] - used[0], end[1] - used[1], load)


class Prober:
    """Somebody else on the site; `taken` holds the seconds of each page event."""

    def __init__(self, tab: Browser) -> None:
        """Use this tab."""
        self._tab = tab
        self.taken: list[float] = []

    async def probe(self) -> None:
        """Load, open and look up in turn, at fixed times: one that is late does not hold the next one up."""
        async with asyncio.TaskGroup() as group:
            for kind in itertools.cycle((self._page, self._exercise, self._board, self._work)):
                group.create_task(self._note(kind()))
                await asyncio.sleep(PROBE_SECONDS)

    async def _note(self, event: Coroutine[None, None, object]) -> None:
        self.taken.append(await timed(event))

    async def _page(self) -> object:
        return await self._tab.get("/exercise?ex=causal_attention")

    async def _exercise(self) -> object:
        return await self._tab.event("open", query="ex=causal_attention")

    async def _board(self) -> object:
        return await self._tab.get("/leaderboard")

    async def _work(self) -> object:
        return await self._tab.get("/work")


async def _sit(tab: Browser, seen: Seen, gap: float, patience: float) -> None:
    """Wait for one's moment, hand in, and watch up to the verdict, as the page does."""
    await asyncio.sleep(gap)
    start = time.perf_counter()
    try:
        async with asyncio.timeout(patience):
            submission, refusal = await tab.event("submit", seen.answer.exercise, seen.answer.source)
            if not submission:
                raise Refused(refusal)
            async for part, line in tab.follow(submission):
                view = json.loads(line)
                if part == "panel":
                    seen.lines.append(view["text"])
                if part == "report":
                    seen.end = time.perf_counter() - start
                    seen.wait = min(seen.wait, seen.end)
                    seen.score = float(view.get("score", "nan"))
    except Exception as trouble:  # noqa: BLE001 - whatever a student runs into is what is being looked for
        seen.trouble = f"{type(trouble).__name__}: {trouble}"


@contextlib.asynccontextmanager
async def _open(task: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Let a coroutine run beside the block, and end it with it."""
    running = asyncio.ensure_future(task)
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def problems(result: Storm, data: Path) -> list[str]:
    """Return every way in which somebody was wronged; none is what there should be."""
    stored = read_stored(data)
    found = [
        f"{one.user}: {one.state}, {one.reports} reports" for one in stored if (one.state, one.reports) != ("done", 1)
    ]
    found += [f"a student saw no end: {seen.trouble or seen.lines[-1:]}" for seen in result.seen if seen.score is None]
    for seen, kept in zip(result.seen, stored, strict=False):
        if seen.answer.score is not None:
            alone = seen.answer.score if seen.answer.score == kept.score else score_with(seen.answer, kept.seed)
            if (seen.score, kept.score) != (alone, alone):
                found.append(
                    f"{kept.user}, {seen.answer.kind} at {seen.answer.exercise}: {seen.score} on the page, "
                    f"{kept.score} stored, {alone} alone"
                )
        if seen.answer.score is None and kept.score:
            found.append(f"{kept.user}: a {seen.answer.kind} earned {kept.score}")
    if len(stored) != len(result.seen):
        found.append(f"{len(stored)} of {len(result.seen)} submissions are stored")
    return found


def show(result: Storm, wrong: list[str]) -> None:
    """Print the table."""
    honest = [seen for seen in result.seen if seen.answer.score is not None]
    bad = [seen for seen in result.seen if seen.answer.score is None]
    cores = len(os.sched_getaffinity(0))
    typer.echo(f"{len(result.seen)} students, {len(bad)} of them with bombs and spinners, {cores} cores")
    typer.echo(f"{'':<44}{'p50':>9}{'p95':>9}{'max':>9}")
    _line("from the click to the verdict, honest, s", [seen.wait for seen in honest], 1)
    wrong_answers = [seen.end for seen in honest if seen.answer.kind == "wrong"]
    _line("from the click to the cause, wrong ones, s", wrong_answers, 1)
    _line("to the verdict, bombs and spinners, s", [seen.wait for seen in bad], 1)
    _line("a page event before the storm, ms", result.calm, 1000)
    _line("a page event during the storm, ms", result.during, 1000)
    typer.echo(f"  p95 during the storm is {_p95(result.during) / _p95(result.calm):.1f} times p95 before")
    typer.echo(f"grades a second: {len(result.seen) / result.seconds:.1f}, over {result.seconds:.1f} s")
    room = cores * result.seconds / 100
    typer.echo(
        f"share of the cores: pages {result.web / room:.0f} %, grading {result.children / room:.0f} %, "
        f"load {result.load / room:.0f} %"
    )
    typer.echo(f"lines shown while waiting: {statistics.mean(len(seen.lines) for seen in honest):.1f} a student")
    typer.echo(
        "nothing lost, nothing graded twice, every honest score as alone" if not wrong else "\n".join(wrong[:20])
    )
    if wrong:
        raise typer.Exit(1)


def _line(name: str, values: list[float], factor: float) -> None:
    numbers = (statistics.median(values), _p95(values), max(values))
    typer.echo(f"{name:<44}" + "".join(f"{factor * number:>9.1f}" for number in numbers))


def _p95(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[round(0.95 * (len(ordered) - 1))]
