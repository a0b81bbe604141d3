"""Runs a wrong answer or the reference once more, with a trace: what each operation, or each step, gave.

The answer runs in the box where it was graded. The reference runs out here, with its steps watched, and with other
numbers in the place of a step's own where that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import torch
from torch import Tensor

from grader.box.cancel import CancelToken
from grader.box.keys import case_of
from grader.box.observations import CallSeen, Observations, Presence, Traced
from grader.box.observe import Instances, alone, observe
from grader.box.plan import Call, Plan
from grader.box.run import Ending, Run
from grader.checks.evidence import FLOORS, Evidence
from grader.checks.masking import says_nothing
from grader.exercise.catalog import Exercise
from grader.exercise.steps import Node, Steps, Values, magnitude
from grader.judge.attempt import Outcome
from grader.judge.explain.budget import RUN, Effort, Operations
from grader.judge.source import place_of

Runner = Callable[[Plan], Run]
_MOST_RUNS = 8  # of the answer, for one report; each is a fork
_EACH_STEP = 4  # units of effort, for watching a step and comparing what it gives


@dataclass(slots=True, eq=False)
class WrongAnswer:
    """An answer that lost points, and what may still be asked of it.

    `text` is its source; `run` runs a plan on it in the box, with its weights where they were found.
    """

    exercise: Exercise
    outcome: Outcome
    text: str
    run: Runner
    cancel: CancelToken = field(default_factory=CancelToken)
    _runs_left: int = field(default=_MOST_RUNS, init=False)
    _traces: dict[tuple[str, ...], Observations | None] = field(default_factory=dict, init=False)

    @property
    def evidence(self) -> Evidence:
        """What was seen when it was graded."""
        return self.outcome.evidence

    def seen(self, call: Call) -> CallSeen | None:
        """Return what was seen of a call when the answer was graded."""
        return self.evidence.observed.calls.get(call.name)

    @property
    def tolerance(self) -> float:
        """By how much two runs of it may differ, relative to the largest magnitude of a tensor, in a float64 call."""
        exact = self.outcome.coarse is None and not self.outcome.single  # else its numbers are rounded like float32
        return FLOORS["float64"] if exact else FLOORS["float32"]

    def traced_alone(self, call: Call) -> CallSeen | None:
        """Return what `call` gives as the first of its process, with its trace; None where it was never reached."""
        seen = self.traced(call)
        return seen.calls.get(call.name) if seen is not None else None

    def traced(self, *calls: Call) -> Observations | None:
        """Return what these calls give, one after the other, the last one with its trace.

        None where the run did not come to its end, or was one too many.

        Raises:
            Stopped: it was cancelled.
        """
        names = tuple(call.name for call in calls)
        self.cancel.check()
        if names not in self._traces:
            if self._runs_left <= 0:
                return None
            self._runs_left -= 1
            plan, used = self.evidence.plan, {call.build for call in calls}
            traced = replace(calls[-1], traced=True, max_elements=0, non_contiguous=False)
            builds = tuple(build for build in plan.builds if build.name in used)
            done = self.run(replace(plan, calls=(*calls[:-1], traced), builds=builds, initial_of=()))
            self._traces[names] = done.observations if done.ending is Ending.FINISHED else None
        return self._traces[names]

    def where(self, line: int) -> str:
        """Return a line in words."""
        return place_of(line, self.text)

    def title(self, call: Call) -> str:
        """Return the title of the case that a call is from."""
        name = case_of(call.name)
        return next((case.title for case in self.exercise.spec.cases if case.name == name), name)

    def counted(self) -> list[Call]:
        """Return the calls that points depend on, the smallest first, without those that train or must be refused.

        Cases whose sizes are equal on purpose come last, and those where a size or a number is one before them.
        """
        calls = [call for call in self.evidence.plan.untrained().calls if self._counts(call)]
        return sorted(calls, key=lambda call: (self._has_equal_sizes(call), self._has_one(call), size_of(call)))

    def _counts(self, call: Call) -> bool:
        plan = self.evidence.plan
        build = plan.build_of(call)
        if call.name in self.evidence.free or call.reads_weights or call.default_dtype:
            return False
        return not ((build is not None and build.must_raise) or plan.contract(call.part).kind.brings_a_model)

    def is_odd(self, call: Call) -> bool:
        """Return whether a case has sizes that are equal on purpose or drawn, or one that is one."""
        return self._has_equal_sizes(call) or self._has_one(call)

    def _has_equal_sizes(self, call: Call) -> bool:
        cases = self.exercise.spec.cases
        return case_of(call.name) in {case.name for case in cases if case.allow_equal_sizes or case.draw}

    def _has_one(self, call: Call) -> bool:
        """Return whether a size or a number of a call is one: steps that differ elsewhere may give the same there."""
        build = self.evidence.plan.build_of(call)
        values = [*call.arguments.values(), *(build.arguments.values() if build is not None else ())]
        numbers = (value for value in values if isinstance(value, int | float) and not isinstance(value, bool))
        return any(number == 1 for number in numbers) or any(1 in t.shape for t in values if isinstance(t, Tensor))

    def is_wrong(self, call: Call, seen: CallSeen | None) -> bool:
        """Return whether a call without dropout raised, or gave other shapes, dtypes or numbers than it must."""
        if seen is None or seen.raised is not None:
            return True
        for slot in call.outputs:
            given, truth = seen.slots.get(slot.key), self.evidence.truth(call, slot.key)
            if truth is None:
                continue
            if given is None or given.presence is not Presence.TENSOR or given.dtype != (slot.dtype or call.dtype):
                return True
            if given.tensor is None or not is_close(given.tensor, truth, self.evidence.bound(call, slot.key)):
                return True
        return False

    def says_nothing(self, call: Call) -> bool:
        """Return whether what a call gives is left open by the contract."""
        return says_nothing(call, self.evidence.observed)


def size_of(call: Call) -> int:
    """Return the number of elements of a call's arguments."""
    return sum(value.numel() for value in call.arguments.values() if isinstance(value, Tensor))


def is_close(values: Tensor, truth: Tensor, bound: float) -> bool:
    """Return whether each number is within `bound` of the other, or equal, as infinities and NaN are."""
    return values.shape == truth.shape and torch.allclose(
        values.double(), truth.double(), rtol=0.0, atol=bound, equal_nan=True
    )


def outputs_of(seen: CallSeen) -> dict[str, Tensor]:
    """Return the output tensors of a call, in float64."""
    return {key: slot.tensor.double() for key, slot in seen.slots.items() if slot.tensor is not None}


def first_change(before: Sequence[Traced], after: Sequence[Traced], tolerance: float) -> Traced | None:
    """Return the first result of `after` that `before` does not have in the same place; None if all are the same."""
    for one, other in zip_longest(before, after):
        if other is None:
            return after[-1] if after else None
        if one is None or one.line != other.line or one.values.shape != other.values.shape:
            return other
        if not is_close(one.values, other.values, tolerance * magnitude(one.values)):
            return other
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What the reference gave, step by step and at the end; `gradients` are those that came back to steps' results."""

    order: list[Node]
    values: Values
    outputs: Mapping[str, Tensor]
    gradients: Values = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Replay:
    """The reference on a plan of one call; each run is counted in `effort`."""

    plan: Plan
    steps: Steps
    cancel: CancelToken
    effort: Effort
    _instances: Instances = field(default_factory=dict, init=False)
    _operations: int = field(default=0, init=False)  # of one run, as the first call of an instance takes them
    _built: Replayed | None = field(default=None, init=False)  # what constructors gave, if instances are used again

    def run(
        self, values: Values | None = None, perturbed: Node | None = None, *, sent: Values | None = None
    ) -> Replayed | None:
        """Return what the reference gives with `values` in the place of its own, or one of them `perturbed`.

        With `sent`, gradients are watched, and those in it are sent back in the place of its own. None if it raises.

        Raises:
            Stopped: it was cancelled.
        """
        self.cancel.check()
        built = self._built
        if built is not None and not {*(values or ()), perturbed}.isdisjoint(built.order):
            built = None  # something is to be exchanged that a constructor gives
        instances = self._instances if built is not None else {}
        observed: list[Observations] = []

        def call() -> None:
            with alone():
                observed.append(Observations.of(observe(self.plan, lambda: self.steps.namespace, instances)))

        watched = self.steps.watch(call, values, perturbed, sent=sent)
        self.effort.use(RUN + _EACH_STEP * len(watched.order) + self._operations)
        seen = observed[0].calls.get(self.plan.calls[0].name)
        if seen is None or seen.raised is not None:
            return None
        results = {**built.values, **watched.values} if built is not None else watched.values
        return Replayed(watched.order, results, outputs_of(seen), watched.gradients)

    def begin(self, *, sent: Values | None = None) -> Replayed | None:
        """Return what the reference gives as it is, the first run of all.

        Where a second call of the same instance gives the same steps, later runs build none: that is half of the time.
        """
        self._built, operations = Replayed([], {}, {}), Operations()
        first = self.run(sent=sent)
        with operations:
            second = self.run(sent=sent)
        self._operations, self._built = operations.count, None
        if first is None or second is None:
            return first
        early = first.order[: len(first.order) - len(second.order)]
        if [*early, *second.order] == first.order and all(
            torch.equal(first.values[node], values) for node, values in second.values.items()
        ):
            self._built = Replayed(early, {node: first.values[node] for node in early if node in first.values}, {})
        return first
