"""What is added to a report after its verdict: the cause of what went wrong, where it begins, panels of other devices.

It can be done at once or later, in another thread; it holds what was seen of the answer until then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from grader.box.cancel import CancelToken
from grader.box.inline import observe_all
from grader.box.observations import Observations
from grader.box.plan import Plan
from grader.box.run import Box, Ending, Limits, Run
from grader.errors import GraderFault
from grader.exercise.catalog import Exercise
from grader.judge.attempt import Outcome
from grader.judge.device_panels import DevicePlace, device_panels
from grader.judge.effort import Budget
from grader.judge.explaining import explained
from grader.judge.optional_parts import OptionalParts
from grader.judge.report import DevicePanel, Report

_GENEROUS = Limits(cpu_seconds=60.0, wall_seconds=60.0)  # for the reference, which is ours


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """How one report is completed.

    Attributes:
        report: the verdict; its points and checks stay as they are.
        outcome: what became of the answer.
        text: its source.
        box, limits: where and how it ran.
        places: the devices that get a panel.
        budget: what may be done for the cause and the place.
        remarks: what is added to the advice.
    """

    exercise: Exercise
    report: Report
    outcome: Outcome
    text: str
    box: Box
    limits: Limits
    places: Sequence[DevicePlace]
    budget: Budget
    remarks: tuple[str, ...] = ()

    def __call__(self, cancel: CancelToken | None = None) -> Report:
        """Return the completed report.

        Raises:
            Stopped: `cancel` was cancelled.
        """
        seconds = min(self.limits.wall_seconds, self.budget.rerun_seconds)
        report = explained(
            self.exercise,
            self.report,
            self.outcome,
            text=self.text,
            run=partial(self._run_in, self.box, limits=replace(self.limits, wall_seconds=seconds), cancel=cancel),
            budget=self.budget,
            cancel=cancel,
        )
        report = self._with_panels(report, cancel)
        return replace(report, advice=(*report.advice, *self.remarks))

    def _run_in(self, box: Box, plan: Plan, *, limits: Limits, cancel: CancelToken | None) -> Run:
        places = self.outcome.places
        return box.run(plan.placing(places) if places else plan, self.text, limits, cancel=cancel)

    def _with_panels(self, report: Report, cancel: CancelToken | None) -> Report:
        """Return `report` with its panels; a device that fails us costs them, never the verdict."""
        optional, none = OptionalParts(), ()
        run = partial(self._run_in, limits=self.limits, cancel=cancel)
        reference = partial(_reference_in, self.exercise)
        found: tuple[DevicePanel, ...] = optional.make(
            "the panels of other devices are",
            lambda: device_panels(self.outcome.evidence, report.box, self.places, run=run, reference=reference),
            none,
        )
        return replace(report, panels=found, advice=(*report.advice, *optional.missing))


def _reference_in(exercise: Exercise, place: DevicePlace, plan: Plan) -> Observations:
    """Return what the reference gives in `place`.

    Raises:
        GraderFault: it does not come to its end there.
    """
    if not place.apart:
        return observe_all(plan, exercise.reference())
    done = place.box.run(plan, exercise.reference_path.read_text(encoding="utf-8"), _GENEROUS)
    if done.ending is not Ending.FINISHED or done.observations.loading is not None:
        raise GraderFault(
            f"the reference of `{exercise.id}` does not run on {place.device}: {done.ending} {done.detail}"
        )
    return done.observations
