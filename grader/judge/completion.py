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
from grader.judge.attempt import OptionalParts, Outcome
from grader.judge.device_panels import DevicePlace, device_panels
from grader.judge.explain.budget import Budget, Effort, while_there_is_time, within
from grader.judge.explain.diagnosis import causes
from grader.judge.explain.location import locate
from grader.judge.explain.symptoms import unfinished
from grader.judge.explain.trace import WrongAnswer
from grader.judge.report import DevicePanel, Diagnosis, Location, Report
from grader.judge.text import clean

_GENEROUS = Limits(cpu_seconds=60.0, wall_seconds=60.0)  # for the reference, which is ours
_CUT = "the search for a known mistake that explains your results ended before all mistakes, and all pairs, were tried"


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
        report = self._with_cause(self.report, cancel)
        report = self._with_panels(report, cancel)
        return replace(report, advice=(*report.advice, *self.remarks))

    def _with_cause(self, report: Report, cancel: CancelToken | None) -> Report:
        """Return `report` with the known mistake, and with the line where the answer begins to differ.

        Nothing here gives or takes points. What fails in here leaves a line among the advice.
        """
        if self.outcome.score == 100 or not report.checks:
            return report
        optional, effort = OptionalParts(), Effort(self.budget.search)
        found: tuple[Diagnosis, ...] = ()
        look = partial(causes, self.exercise, self.outcome, report.lost, cancel=cancel, effort=effort)
        found = optional.make("the cause is", look, found)
        place = optional.make("the place where your code first differs is", partial(self._location, cancel), None)
        if place is not None and found and place.line is None:
            place = None  # what is known to be right says less than a mistake by its name
        if place is not None:  # it may quote the answer's own words
            title = clean(" ".join(place.title.split()), limit=200)
            place = replace(place, title=title, message=clean(place.message, limit=4000))
        cut = (_CUT,) if effort.spent and not found else ()
        return replace(report, diagnosis=found, location=place, advice=(*report.advice, *cut, *optional.missing))

    def _location(self, cancel: CancelToken | None) -> Location | None:
        seconds = min(self.limits.wall_seconds, self.budget.rerun_seconds)
        run = partial(self._run_in, self.box, limits=replace(self.limits, wall_seconds=seconds), cancel=cancel)
        answer = WrongAnswer(self.exercise, self.outcome, self.text, run, cancel or CancelToken())
        if self.outcome.run.ending is Ending.TIMEOUT:
            return unfinished(answer)
        if self.outcome.run.ending is not Ending.FINISHED:
            return None
        answer.run = while_there_is_time(run, self.budget.rerun_seconds)
        return within(self.budget.comparisons, partial(locate, answer, self.budget.location))

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
