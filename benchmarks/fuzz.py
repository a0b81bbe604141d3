"""Feeds the parser of the box's answers with wrong ones: `python -m benchmarks fuzz --answers 1000000`.

Honest answers of every kind of exercise are recorded, right ones and wrong ones, and told wrongly in every way that
`mutations` knows. For each it must hold: the reader raises `BadAnswer` or nothing; how the bytes are cut changes
nothing; memory stays under a limit that the kernel keeps; no answer takes longer than its length allows. Of those that
can be read, some go on through the judge, the report, and its JSON and back, where nothing may raise or break; those of
traced calls through the search for where an answer begins to differ, which ends by a count.
"""

from __future__ import annotations

import gc
import logging
import random
import resource
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer

from benchmarks.fuzz_subjects import Subject, record
from benchmarks.mutated_traces import ON_TRACES
from benchmarks.mutations import cut, mutate
from grader.box.observations import CallSeen, Event, Observations
from grader.box.run import Ending, Run
from grader.box.wire.answer import FrameReader
from grader.checks.evidence import Evidence
from grader.checks.finding import Verdict
from grader.errors import BadAnswer
from grader.exercise.catalog import Catalog
from grader.judge import figures
from grader.judge.attempt import Outcome, tell
from grader.judge.explain.budget import USUAL, within
from grader.judge.explain.diagnosis import diagnose
from grader.judge.report import Report, Status
from grader.judge.verdicts import judge

HEADROOM_BYTES = 512 << 20  # over what a worker has when it begins; the kernel keeps it
SLOW_SECONDS = 0.5  # of processor time for one answer, plus a microsecond a byte and cut; it takes under a millisecond
SEARCHED = 0.01  # of the traces that could be read
SLOW_SEARCH = 10.0  # seconds of processor time; it takes two at most, since comparisons are counted
JUDGED = 0.005  # of the answers that could be read
DIAGNOSED = 0.1  # of those


@dataclass(slots=True)
class Tally:
    """What became of a number of answers."""

    answers: int = 0
    read: int = 0
    finished: int = 0
    judged: int = 0
    trained: int = 0
    located: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    slowest_search: float = 0.0
    grown_bytes: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take over what another worker counted."""
        for name in ("answers", "read", "finished", "judged", "trained", "located"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.refusals += other.refusals
        self.slowest = max(self.slowest, other.slowest)
        self.slowest_search = max(self.slowest_search, other.slowest_search)
        self.grown_bytes = max(self.grown_bytes, other.grown_bytes)
        self.failures += other.failures


def fuzz(
    answers: Annotated[int, typer.Option(help="how many wrong answers are read")] = 100_000,
    seconds: Annotated[float, typer.Option(help="stop after this long, whatever was read by then")] = 3600.0,
    seed: Annotated[int, typer.Option(help="where the mutations are drawn from")] = 1,
    workers: Annotated[int, typer.Option(help="processes side by side")] = 2,
) -> None:
    """Read wrong answers; print what became of them, and end with an error if any of it must not be."""
    begun, whole = time.perf_counter(), Tally()
    shares = [answers // workers + (place < answers % workers) for place in range(workers)]
    with ProcessPoolExecutor(workers) as pool:
        for tally in pool.map(work, shares, [seconds] * workers, [seed + 1000 * place for place in range(workers)]):
            whole.add(tally)
    typer.echo(f"{whole.answers} answers in {time.perf_counter() - begun:.0f} s, {workers} processes, seed {seed}")
    typer.echo(f"refused {sum(whole.refusals.values())}, read {whole.read}, of these whole {whole.finished}")
    typer.echo(f"judged and written as a report: {whole.judged}, of trainings {whole.trained}")
    typer.echo(f"told where they begin to differ: {whole.located}, the slowest search {whole.slowest_search:.1f} s")
    typer.echo(f"slowest answer {1000 * whole.slowest:.1f} ms, a process grew by {whole.grown_bytes >> 20} MiB")
    for reason, number in whole.refusals.most_common():
        typer.echo(f"{number:>9}  {reason}")
    for failure in whole.failures[:20]:
        typer.echo(failure)
    if whole.failures or whole.answers < answers:
        raise typer.Exit(1)


def work(answers: int, seconds: float, seed: int) -> Tally:
    """Read that many answers in this process."""
    torch.set_num_threads(1)
    subjects = record(Catalog.load())
    gc.collect()
    end = time.monotonic() + seconds
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + HEADROOM_BYTES, resource.RLIM_INFINITY))
    before = _resident()
    tally = Tally()
    draw = random.Random(seed)
    while tally.answers < answers and time.monotonic() < end:
        examine(subjects, draw, tally)
    tally.grown_bytes = max(0, _resident() - before)
    return tally


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def examine(subjects: list[Subject], draw: random.Random, tally: Tally) -> None:
    """Read one more wrong answer, in one piece and in several."""
    subject = draw.choice(subjects)
    frames, others = draw.choice(subject.answers), draw.choice(draw.choice(subjects).answers)
    stream = mutate(draw, list(frames), list(others), ON_TRACES if subject.find else ())
    parts = cut(draw, stream)
    tally.answers += 1
    begun = time.thread_time()  # a busy machine is not the parser's slowness
    try:
        reader, refusal = _read(subject, [stream])
        again, other = _read(subject, parts)
    except Exception:  # noqa: BLE001 - this is what is looked for
        tally.failures.append(f"{subject.exercise.id}: {traceback.format_exc(limit=-6)}\n{stream[:2000].hex()}")
        return
    spent = time.thread_time() - begun
    tally.slowest = max(tally.slowest, spent)
    if spent > SLOW_SECONDS + 1e-6 * (2 * len(stream) + 100 * len(parts)):
        tally.failures.append(f"{subject.exercise.id}: {spent:.2f} s for {len(stream)} bytes")
    if told(reader, refusal) != told(again, other):
        tally.failures.append(
            f"{subject.exercise.id}: cut {[len(part) for part in parts]} changes the answer\n{stream[:2000].hex()}"
        )
    if refusal:
        tally.refusals[_kind(refusal)] += 1
    else:
        tally.read += 1
        tally.finished += reader.finished
    if draw.random() < (SEARCHED if subject.find and not refusal else JUDGED):
        _judge(subject, reader, draw, tally)


def _read(subject: Subject, parts: list[bytes]) -> tuple[FrameReader, str]:
    reader = FrameReader(subject.sheet.plan)
    try:
        for part in parts:
            reader.feed(part)
    except BadAnswer as error:
        return reader, str(error)
    return reader, ""


def told(reader: FrameReader, refusal: str = "") -> tuple[str, bool, list[object]]:
    """Return what can be compared of what a reader gave: why it refused, whether it came to the end, the events."""
    return refusal, reader.finished, [_plain(event) for event in reader.events]


def _plain(event: Event) -> object:
    if not isinstance(event, CallSeen):
        return event
    slots = [
        (key, seen.presence, seen.shape, seen.dtype, seen.what, _bytes(seen.tensor))
        for key, seen in event.slots.items()
    ]
    trace = [
        (one.line, one.dtype, one.random, one.writes, one.values.shape, _bytes(one.values), _bytes(one.gradient))
        for one in event.trace
    ]
    return event.name, slots, event.raised, event.modified, event.largest, trace


def _bytes(tensor: torch.Tensor | None) -> bytes | None:
    if tensor is None:
        return None
    return tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def _kind(refusal: str) -> str:
    """Return what a refusal is about, without names and numbers."""
    quiet = " ".join("…" if any(c in word for c in "`'\"0123456789") else word for word in refusal.split())
    return quiet[:90]


class _Incidents(logging.Handler):
    """Notes what the judge logs as a fault of ours."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.format(record))


def _judge(subject: Subject, reader: FrameReader, draw: random.Random, tally: Tally) -> None:
    """Make a report of what was read, write it, read it, and see that no part of ours broke."""
    tally.judged += 1
    tally.trained += subject.outcome is not None
    incidents, log = _Incidents(), logging.getLogger("grader")
    log.addHandler(incidents)
    log.propagate = False
    try:
        observed = Observations.of(reader.events)
        report = _located(subject, observed, draw, tally) if subject.find else _report(subject, observed, draw)
        again = Report.from_json(report.to_json())
        if again.to_json() != report.to_json():
            incidents.found.append("the report reads otherwise than it was written")
        if any(check.status is Verdict.BROKEN for check in report.checks):
            incidents.found.append("a check broke")
    except Exception:  # noqa: BLE001 - this is what is looked for
        incidents.found.append(traceback.format_exc(limit=-6))
    finally:
        log.removeHandler(incidents)
        log.propagate = True
    tally.failures += [f"{subject.exercise.id}: {text}" for text in incidents.found]


def _located(subject: Subject, observed: Observations, draw: random.Random, tally: Tally) -> Report:
    """Return a report with where the answer begins to differ, according to what was read."""
    assert subject.find is not None
    begun = time.thread_time()
    ending = Ending.FINISHED if draw.random() < 0.9 else draw.choice(list(Ending))
    found = within(USUAL.comparisons, partial(subject.find, observed, ending))
    spent = time.thread_time() - begun
    tally.located += found is not None
    tally.slowest_search = max(tally.slowest_search, spent)
    if spent > SLOW_SEARCH:
        tally.failures.append(f"{subject.exercise.id}: {spent:.1f} s to look for where it begins to differ")
    return Report(subject.exercise.id, Status.GRADED, 0.0, 0, "cpu", 0.0, location=found)


def _report(subject: Subject, observed: Observations, draw: random.Random) -> Report:
    sheet, exercise = subject.sheet, subject.exercise
    run = Run(observed, draw.choice(list(Ending)), output="\x1b[2J\ud800")
    if subject.outcome is not None:
        outcome = subject.outcome(run)
    else:
        evidence = Evidence(sheet.plan, observed, subject.expected, subject.rounded, sheet.free)
        outcome = Outcome(run, evidence, judge(sheet.items, evidence))
    report = tell(Report(exercise.id, Status.REJECTED, 0.0, 0, "cpu", 0.0), outcome)
    if report.checks:
        figures.draw(outcome.judged, outcome.evidence, 0)
    if report.checks and outcome.score < 100 and draw.random() < DIAGNOSED:
        diagnose(exercise, outcome.evidence)
    return report
