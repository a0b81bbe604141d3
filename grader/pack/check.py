"""Checks an answer against a pack; this module, and what it imports, is what a pack brings of the grader."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from grader.box.observations import Observations
from grader.box.plan import Plan
from grader.box.run import Limits
from grader.checks.finding import Verdict
from grader.errors import BadAnswer, Rejected
from grader.exercise.spec import Spec, read_spec
from grader.judge.attempt import attempt, tell
from grader.judge.report import Report, Status
from grader.judge.sheet import Sheet, of_cases
from grader.judge.source import read_source
from grader.pack.contents import read_cases, read_observations
from grader.pack.manifest import CASES, DATA, EXPECTED, ROUNDED, SPEC, Damaged, Manifest, read_data
from grader.sandbox.plain import PlainBox


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
        hints = self._hints() if found is first else ""
        return Verdict.FAILED, f"{found.message}{stopped}{hints}"

    def _hints(self) -> str:
        return "".join(f"\nHint {number}: {hint}" for number, hint in enumerate(self.spec.hints, start=1))


def read_pack(folder: Path) -> Pack:
    """Read the pack in `folder`.

    Raises:
        Damaged: it is not as it was written.
    """
    manifest, files = read_data(folder)
    spec = read_spec(folder / DATA / SPEC)
    try:
        sheet = of_cases(spec, read_cases(spec, files[CASES], manifest.seed))
        expected = read_observations(sheet.plan, files[EXPECTED])
        rounded = read_observations(sheet.plan, files[ROUNDED])
    except BadAnswer as error:
        raise Damaged(f"this pack does not fit together ({error}); ask for another one") from error
    return Pack(manifest, spec, sheet, expected, rounded)


def summary(report: Report) -> Iterator[str]:
    """Yield what a report says beside its lines."""
    yield f"{report.score:g} of 100 points, seed {report.seed}, {report.box}"
    if report.reason:
        yield f"{report.status}: {report.reason}"
    yield from (f"advice, costs no points: {remark}" for remark in report.advice)
    yield from (f"weight found: {name}: {place}" for name, place in report.mapping.items())
    yield from (f"your code printed: {line}" for line in report.output.splitlines())
