"""Feeds the parser of the box's answers with wrong ones: `python -m benchmarks fuzz --answers 1000000`.

Honest answers of every kind of exercise are recorded, right ones and wrong ones, and told wrongly in every way that
`mutations` knows. For each it must hold: the reader raises `BadAnswer` or nothing; how the bytes are cut changes
nothing; memory stays under a limit that the kernel keeps; no answer takes longer than its length allows. Of those that
can be read, some go on through the judge, the report, and its JSON and back, where nothing may raise or break.
"""

from __future__ import annotations

import gc
import logging
import random
import resource
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import torch
import typer

from benchmarks.mutations import Piece, cut, mutate, pieces
from grader.box.frames import END
from grader.box.inline import InlineBox
from grader.box.observations import CallSeen, Event, Observations, Touch
from grader.box.packing import pack
from grader.box.plan import Kind
from grader.box.run import Ending, Limits, Run
from grader.box.wire import Reader
from grader.checks.evidence import Evidence
from grader.checks.finding import Verdict
from grader.errors import BadAnswer
from grader.examples import read_examples
from grader.exercise.catalog import Catalog, Exercise
from grader.exercise.spec import CaseSpec
from grader.judge import figures
from grader.judge.attempt import Outcome, tell
from grader.judge.diagnosis import diagnose
from grader.judge.grade import observe_reference
from grader.judge.report import Report, Status
from grader.judge.sheet import Sheet, of_cases
from grader.judge.verdicts import judge

CASES = 3  # of each exercise; more only make the answers longer
WRONG = 3  # examples of each exercise
HEADROOM_BYTES = 512 << 20  # over what a worker has when it begins; the kernel keeps it
SLOW_SECONDS = 0.5  # of processor time for one answer, plus a microsecond a byte and cut; it takes under a millisecond
JUDGED = 0.005  # of the answers that could be read
DIAGNOSED = 0.1  # of those


@dataclass(frozen=True, slots=True)
class Subject:
    """One exercise on a few of its cases, what the reference gives there, and answers that were recorded."""

    exercise: Exercise
    sheet: Sheet
    expected: Observations
    rounded: Observations
    answers: tuple[tuple[Piece, ...], ...]


@dataclass(slots=True)
class Tally:
    """What became of a number of answers."""

    answers: int = 0
    read: int = 0
    finished: int = 0
    judged: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    grown_bytes: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take over what another worker counted."""
        for name in ("answers", "read", "finished", "judged"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.refusals += other.refusals
        self.slowest = max(self.slowest, other.slowest)
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
    typer.echo(f"judged and written as a report: {whole.judged}")
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


def record(catalog: Catalog, *, trained: bool = True) -> list[Subject]:
    """Return an exercise for every way of driving an entry point: the first of the catalogue.

    Without `trained`, those are left out that train, which takes seconds.
    """
    chosen: dict[Kind, Exercise] = {}
    for exercise in catalog.values():
        for case in exercise.spec.cases:
            chosen.setdefault(exercise.spec.part_of(case).entry.kind, exercise)
    return [_subject(exercise, kind) for kind, exercise in chosen.items() if trained or not kind.trains]


def _subject(exercise: Exercise, kind: Kind) -> Subject:
    sheet = _short(exercise, kind)
    wrong = [example.path for example in read_examples(exercise.id) if example.loses is not None]
    answers = [exercise.reference_path, *wrong[:: max(1, len(wrong) // WRONG)][:WRONG]]
    sources = [
        path.read_text(encoding="utf-8") for path in answers[: 1 if kind.trains else None]
    ]  # training takes long
    runs = [InlineBox().run(sheet.plan, source, Limits()) for source in (*sources, "raise ValueError('no')")]
    streams = [b"".join(pack(event, sheet.plan) for event in _events(run.observations)) + END for run in runs]
    touch = Touch("torch.softmax", 3, "f")
    streams += [pack(replace(touch, loading=loading), sheet.plan) + streams[0] for loading in (False, True)]
    expected, rounded = observe_reference(exercise, sheet.plan)
    return Subject(exercise, sheet, expected, rounded, tuple(tuple(pieces(stream)) for stream in streams))


def _short(exercise: Exercise, kind: Kind) -> Sheet:
    """Return the sheet of a few small cases, with every check that they have."""
    driven = [case for case in exercise.spec.cases if exercise.spec.part_of(case).entry.kind is kind]
    few = {case.name for case in sorted(driven, key=_size)[:CASES]}
    checks = tuple(
        check.model_copy(update={"cases": kept})
        for check in exercise.spec.checks
        if (kept := tuple(name for name in check.cases if name in few))
    )
    return of_cases(exercise.spec.model_copy(update={"checks": checks}), exercise.cases(0))


def _size(case: CaseSpec) -> int:
    return sum(size if isinstance(size, int) else sum(size) for size in case.sizes.values())


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _events(observations: Observations) -> Iterator[Event]:
    if observations.loading is not None:
        yield observations.loading
    yield from observations.builds.values()
    yield from observations.calls.values()


def examine(subjects: list[Subject], draw: random.Random, tally: Tally) -> None:
    """Read one more wrong answer, in one piece and in several."""
    subject = draw.choice(subjects)
    frames, others = draw.choice(subject.answers), draw.choice(draw.choice(subjects).answers)
    stream = mutate(draw, list(frames), list(others))
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
    if draw.random() < JUDGED:
        _judge(subject, reader, draw, tally)


def _read(subject: Subject, parts: list[bytes]) -> tuple[Reader, str]:
    reader = Reader(subject.sheet.plan)
    try:
        for part in parts:
            reader.feed(part)
    except BadAnswer as error:
        return reader, str(error)
    return reader, ""


def told(reader: Reader, refusal: str = "") -> tuple[str, bool, list[object]]:
    """Return what can be compared of what a reader gave: why it refused, whether it came to the end, the events."""
    return refusal, reader.finished, [_plain(event) for event in reader.events]


def _plain(event: Event) -> object:
    if not isinstance(event, CallSeen):
        return event
    slots = [
        (key, seen.presence, seen.shape, seen.dtype, seen.what, None if seen.tensor is None else _bytes(seen.tensor))
        for key, seen in event.slots.items()
    ]
    return event.name, slots, event.raised, event.modified, event.largest


def _bytes(tensor: torch.Tensor) -> bytes:
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


def _judge(subject: Subject, reader: Reader, draw: random.Random, tally: Tally) -> None:
    """Make a report of what was read, write it, read it, and see that no part of ours broke."""
    tally.judged += 1
    incidents, log = _Incidents(), logging.getLogger("grader")
    log.addHandler(incidents)
    log.propagate = False
    try:
        report = _report(subject, Observations.of(reader.events), draw)
        again = Report.from_json(report.to_json())
        if again.to_json() != report.to_json():
            incidents.found.append("the report reads otherwise than it was written")
        if any(check.status is Verdict.BROKEN for check in report.checks):
            incidents.found.append("a check broke")
    except Exception:  # noqa: BLE001 - this is what is looked for
        incidents.found.append(traceback.format_exc(limit=-6))
    finally:
        log.removeHandler(incidents)
    tally.failures += [f"{subject.exercise.id}: {text}" for text in incidents.found]


def _report(subject: Subject, observed: Observations, draw: random.Random) -> Report:
    sheet, exercise = subject.sheet, subject.exercise
    evidence = Evidence(sheet.plan, observed, subject.expected, subject.rounded, sheet.free)
    run = Run(observed, draw.choice(list(Ending)), output="\x1b[2J\ud800")
    outcome = Outcome(run, evidence, judge(sheet.items, evidence))
    report = tell(Report(exercise.id, Status.REJECTED, 0.0, 0, "cpu", 0.0), outcome)
    if report.checks:
        figures.draw(outcome.judged, evidence, 0)
    if report.checks and outcome.score < 100 and draw.random() < DIAGNOSED:
        diagnose(exercise, evidence)
    return report
