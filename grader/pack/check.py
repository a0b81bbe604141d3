"""Checks an answer against a pack, for pytest in its folder.

A pack keeps of an exercise its `exercise.toml`, and in the forms in which they travel anyway its cases, as a plan, and
what the reference gave, as frames. The plan of the checks is not kept: the same cases give the same plan again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, Self

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from torch import Tensor

from grader.box.observations import Observations
from grader.box.plan import Argument, Build, Call, Plan
from grader.box.run import Limits
from grader.box.wire.answer import FrameReader
from grader.box.wire.job import decode_job
from grader.checks.finding import Verdict
from grader.errors import BadAnswer, GraderFault, Rejected
from grader.exercise.inputs import Case, make_case
from grader.exercise.spec import Spec, read_spec
from grader.judge.attempt import attempt, tell
from grader.judge.report import Report, Status
from grader.judge.sheet import Sheet, of_cases
from grader.judge.source import read_source
from grader.sandbox.plain import PlainBox

DATA, MANIFEST = "data", "pack.json"
SPEC, CASES, EXPECTED, ROUNDED = "exercise.toml", "cases.bin", "expected.bin", "rounded.bin"
DECODE = "(decode)"  # a case's decoder, kept among the arguments, of which none can be called so


class Damaged(GraderFault):
    """A pack is not as it was written; the text names the file."""


class Manifest(BaseModel):
    """Which exercise a pack is about, what its tensors were drawn from, and the SHA-256 of each file of its data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: Literal[1] = 1
    exercise: str
    seed: int
    files: dict[str, str]

    @classmethod
    def of(cls, exercise: str, seed: int, files: dict[str, bytes]) -> Self:
        """List `files`."""
        return cls(exercise=exercise, seed=seed, files={name: _digest(data) for name, data in files.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """One pack, read: its sheet, what the reference gave in float64, and what in float32 or less."""

    manifest: Manifest
    spec: Spec
    sheet: Sheet
    expected: Observations
    rounded: Observations

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the report that have points."""
        return tuple(item.name for item in self.sheet.items if item.points)

    def grade(self, path: Path) -> Report:
        """Grade the file at `path`, in a subprocess that has no walls: it is one's own code.

        Raises:
            GraderFault: something of ours failed; nothing was decided.
        """
        start, box = time.perf_counter(), PlainBox()
        torch.set_num_threads(1)  # the tensors are small; more threads only get into each other's way
        blank = Report(self.manifest.exercise, Status.REJECTED, 0.0, self.manifest.seed, "cpu", 0.0, box=box.name)
        try:
            text = read_source(path.read_bytes(), limit_bytes=Limits().source_bytes)
        except OSError as error:
            return replace(blank, reason=f"`{path.name}` cannot be read: {error.strerror}")
        except Rejected as refusal:
            return replace(blank, reason=str(refusal))
        run = partial(box.run, limits=Limits(**self.spec.limits.model_dump()))
        report = tell(blank, attempt(self.sheet, text, run, self.truth))
        return replace(report, seconds=round(time.perf_counter() - start, 4))

    def truth(self, plan: Plan) -> tuple[Observations, Observations]:
        """Return what the reference gave on `plan`, as it was kept."""
        lower = {call.name for call in plan.calls if call.dtype != "float64"}
        rounded = {name: seen for name, seen in self.rounded.calls.items() if name in lower}
        return self.expected, Observations(rounded)

    def verdict(self, report: Report, line: str) -> tuple[Verdict, str]:
        """Return what came of a line, and what to tell the student; hints stand with the first line that fails."""
        found = next((check for check in report.checks if check.name == line), None)
        if found is None:
            return Verdict.FAILED, f"{report.status}: {report.reason}"
        if found.status is Verdict.BROKEN:
            return found.status, f"Sorry, this is our fault and not your code's: {found.message}"
        stopped = "" if report.status is Status.GRADED else f" ({report.status}: {report.reason})"
        if found.status is Verdict.PASSED or (found.status is Verdict.SKIPPED and not stopped):
            return found.status, found.message
        first = next((check for check in report.checks if check.status is Verdict.FAILED), None)
        hints = [f"\nHint {number}: {hint}" for number, hint in enumerate(self.spec.hints, 1) if found is first]
        return Verdict.FAILED, f"{found.message}{stopped}{''.join(hints)}"


def read_pack(folder: Path) -> Pack:
    """Read the pack in `folder`.

    Raises:
        Damaged: it is not as it was written: a file is missing or was changed.
    """
    try:
        manifest = Manifest.model_validate_json(_read(folder / DATA / MANIFEST))
    except ValidationError as error:
        raise Damaged(f"`{DATA}/{MANIFEST}` of this pack is damaged; unpack the pack again") from error
    files = {name: _read(folder / DATA / name) for name in (SPEC, CASES, EXPECTED, ROUNDED)}
    for name, data in files.items():
        if manifest.files.get(name) != _digest(data):
            raise Damaged(f"`{DATA}/{name}` of this pack was changed since the pack was written; unpack the pack again")
    spec = read_spec(folder / DATA / SPEC)
    try:
        sheet = of_cases(spec, read_cases(spec, files[CASES], manifest.seed))
        expected, rounded = (Observations.of(FrameReader(sheet.plan).feed(files[name])) for name in (EXPECTED, ROUNDED))
    except BadAnswer as error:
        raise Damaged(f"this pack does not fit the grader ({error}); install its `requirements.txt`") from error
    return Pack(manifest, spec, sheet, expected, rounded)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        where = f"{path.parent.name}/{path.name}"
        raise Damaged(f"`{where}` of this pack cannot be read ({error.strerror}); unpack the pack again") from error


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_cases(spec: Spec, blob: bytes, seed: int) -> dict[str, Case]:
    """Return the cases that a pack was written with; `seed` is what they were drawn from."""
    plan, _ = decode_job(blob)
    cases: dict[str, Case] = {}
    for case, call in zip(spec.cases, plan.calls, strict=True):
        drawn = make_case(spec, case, seed=seed)  # for its names and sizes; every tensor of it is replaced
        cases[case.name] = _case_in(replace(drawn, made=case.make is not None), call, plan.build_of(call))
    return cases


def _case_in(case: Case, call: Call, build: Build | None) -> Case:
    """Return `case`, of which names and sizes are kept, with the tensors of its call."""
    arguments: dict[str, Argument] = dict(call.arguments)
    decode = arguments.pop(DECODE)
    assert decode is None or isinstance(decode, Tensor)
    return replace(
        case,
        construct=build.arguments if build is not None else {},
        weights=build.weights if build is not None else (),
        arguments=arguments,
        outputs=call.outputs,
        grad_outputs=call.grad_outputs,
        wants=call.wants,
        dtype=call.dtype,
        decode=decode,
    )


def summary(report: Report) -> Iterator[str]:
    """Yield what a report says beside its lines."""
    yield f"{report.score:g} of 100 points, seed {report.seed}, {report.box}"
    if report.reason:
        yield f"{report.status}: {report.reason}"
    yield from (f"advice, costs no points: {remark}" for remark in report.advice)
    yield from (f"weight found: {name}: {place}" for name, place in report.mapping.items())
    yield from (f"your code printed: {line}" for line in report.output.splitlines())
