"""The function that a worker grades with: the judge, in the boxes of this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import torch

from grader.box.cancel import CancelToken
from grader.box.plan import Plan
from grader.box.run import Box, Limits, Progress, Run
from grader.errors import GraderFault, Killed
from grader.exercise.catalog import Catalog, Exercise
from grader.exercise.versions import grader_version
from grader.jobs.queue import Grade, Tracker, VersionsOf
from grader.jobs.tryouts import TryoutRequest
from grader.judge.completion import PANEL_DTYPE, DevicePlace
from grader.judge.grade import decide
from grader.judge.report import Report
from grader.judge.sheet import draw_up
from grader.judge.tryout import try_out
from grader.store.gradings import Versions
from grader.store.records import Submission

CHANGED = (
    "the exercise was changed between your hand-in ({then}) and its grading ({now}): if something here does not fit "
    "the statement that you read, load the page again and hand in once more"
)
NO_LONGER = "there is no GPU here any more, so your code was not run on one; your points are not touched by it"


class SharedBox:
    """A box beside others on one machine: a run that the kernel killed is no verdict, since a neighbour may be why."""

    def __init__(self, box: Box) -> None:
        self.name = box.name
        self._box = box

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run `plan` in the box.

        Raises:
            Killed: the kernel ended it for lack of memory, and it was not the only one that ran.
        """
        done = self._box.run(plan, source, limits, progress, cancel=cancel)
        if done.killed:
            raise Killed("the kernel ended a run for lack of memory; it may have been its neighbour's")
        return done


def grade_with(catalog: Catalog, box: Box, gpu: DevicePlace | None = None) -> Grade:
    """Return the function that workers grade with; whoever chose the GPU gets panels beside the verdict."""
    steps_of, shared = _counter(catalog), SharedBox(box)
    panels = (DevicePlace("cpu", PANEL_DTYPE, box), gpu) if gpu else ()

    def grade_one(submission: Submission, tracker: Tracker) -> Report:
        if submission.exercise not in catalog:
            raise GraderFault(f"the exercise {submission.exercise} is no longer there")
        exercise = catalog[submission.exercise]
        tracker.expect(steps_of(submission.exercise), {case.name: case.title for case in exercise.spec.cases})
        remarks = _remarks(submission, exercise, with_gpu=bool(panels))
        report, complete = decide(
            exercise,
            submission.raw,
            seed=submission.seed,
            box=box if tracker.alone else shared,
            places=() if submission.device == "cpu" else panels,
            progress=tracker,
            cancel=tracker.cancel,
        )
        tracker.complete = complete and replace(complete, remarks=remarks)
        return replace(report, advice=(*report.advice, *remarks))

    return grade_one


def tryouts_with(catalog: Catalog, box: Box) -> Callable[[TryoutRequest], str]:
    """Return the function that runs tryouts: what came of each, as JSON."""

    def run(asked: TryoutRequest) -> str:
        exercise, typed = catalog[asked.exercise], asked.typed
        return try_out(exercise, asked.source, box, example=asked.example, seed=asked.seed, typed=typed).to_json()

    return run


def versions_of(exercise: Exercise) -> Versions:
    """Return what a submission to `exercise` is graded with here."""
    return Versions(exercise=exercise.version, grader=grader_version(), torch=torch.__version__)


def versions_with(catalog: Catalog) -> VersionsOf:
    """Return the function that says what a submission is graded with, by its exercise's id."""
    gone = Versions(exercise="", grader=grader_version(), torch=torch.__version__)
    return lambda id: versions_of(catalog[id]) if id in catalog else gone


def _remarks(submission: Submission, exercise: Exercise, *, with_gpu: bool) -> tuple[str, ...]:
    """Return what is otherwise here than at the hand-in."""
    gone = (NO_LONGER,) if submission.device != "cpu" and not with_gpu else ()
    if submission.exercise_version == exercise.version:
        return gone
    # Machines are upgraded one by one.
    return (*gone, CHANGED.format(then=submission.exercise_version, now=exercise.version))


def _counter(catalog: Catalog) -> Callable[[str], int]:
    @cache
    def count(exercise: str) -> int:
        # The seed decides the tensors, never how many calls there are.
        return len(draw_up(catalog[exercise], seed=0).plan.calls)

    return count
