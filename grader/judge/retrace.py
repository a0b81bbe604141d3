"""Runs an answer again on a few of its calls, in the box where it was graded, and records what each operation gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import torch
from torch import Tensor

from grader.box.cancel import CancelToken
from grader.box.keys import case_of
from grader.box.observations import CallSeen, Observations, Presence, Traced
from grader.box.plan import Call, Plan
from grader.box.run import Ending, Run
from grader.checks.evidence import FLOORS, Evidence
from grader.checks.masking import says_nothing
from grader.exercise.catalog import Exercise
from grader.judge.attempt import Outcome
from grader.judge.source import place_of

Runner = Callable[[Plan], Run]
_MOST_RUNS = 8  # of the answer, for one report; each is a fork


@dataclass(slots=True, eq=False)
class Retrace:
    """An answer that lost points, and what may still be asked of it.

    Attributes:
        exercise: whose reference it is held against.
        outcome: what became of the answer.
        text: its source.
        run: runs a plan on it in the box, with its weights where they were found.
        cancel: ends the search.
    """

    exercise: Exercise
    outcome: Outcome
    text: str
    run: Runner
    cancel: CancelToken = field(default_factory=CancelToken)
    _left: int = field(default=_MOST_RUNS, init=False)
    _seen: dict[tuple[str, ...], Observations | None] = field(default_factory=dict, init=False)

    @property
    def evidence(self) -> Evidence:
        """What was seen when it was graded."""
        return self.outcome.evidence

    @property
    def tolerance(self) -> float:
        """By how much two runs of it may differ, relative to the largest magnitude of a tensor, in a float64 call."""
        exact = self.outcome.coarse is None and not self.outcome.single  # else its numbers are rounded like float32
        return FLOORS["float64"] if exact else FLOORS["float32"]

    def alone(self, call: Call) -> CallSeen | None:
        """Return what `call` gives as the first of its process; None where it was never reached."""
        seen = self.traced(call)
        return seen.calls.get(call.name) if seen is not None else None

    def traced(self, *calls: Call) -> Observations | None:
        """Return what these calls give, one after the other, the last one with a record of its operations.

        None where the run did not come to its end, or was one too many.

        Raises:
            Stopped: it was cancelled.
        """
        names = tuple(call.name for call in calls)
        self.cancel.check()
        if names in self._seen:
            return self._seen[names]
        if self._left <= 0:
            return None
        self._left -= 1
        done = self.run(self._plan(calls))
        self._seen[names] = done.observations if done.ending is Ending.FINISHED else None
        return self._seen[names]

    def _plan(self, calls: Sequence[Call]) -> Plan:
        plan, built = self.evidence.plan, {call.build for call in calls}
        traced = (*calls[:-1], replace(calls[-1], traced=True, max_elements=0, non_contiguous=False))
        return replace(plan, calls=traced, builds=tuple(b for b in plan.builds if b.name in built), initial_of=())

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
        return sorted(calls, key=lambda call: (self._is_made_alike(call), self._has_one(call), _elements(call)))

    def is_odd(self, call: Call) -> bool:
        """Return whether a case has sizes that are equal on purpose or drawn, or one that is one."""
        return self._is_made_alike(call) or self._has_one(call)

    def _is_made_alike(self, call: Call) -> bool:
        alike = {case.name for case in self.exercise.spec.cases if case.allow_equal_sizes or case.draw}
        return case_of(call.name) in alike

    def _has_one(self, call: Call) -> bool:
        """Return whether a size or a number of a call is one: steps that differ elsewhere may give the same there."""
        build = self.evidence.plan.build_of(call)
        values = [*call.arguments.values(), *(build.arguments.values() if build is not None else ())]
        numbers = (value for value in values if isinstance(value, int | float) and not isinstance(value, bool))
        return any(number == 1 for number in numbers) or any(1 in t.shape for t in values if isinstance(t, Tensor))

    def _counts(self, call: Call) -> bool:
        plan = self.evidence.plan
        build = plan.build_of(call)
        if call.name in self.evidence.free or call.reads_weights or call.default_dtype:
            return False
        if build is not None and build.must_raise:
            return False
        return not plan.contract(call.part).kind.brings_a_model

    def is_wrong(self, call: Call, seen: CallSeen | None) -> bool:
        """Return whether a call without dropout raised, or gave other shapes, dtypes or numbers than it must."""
        if seen is None or seen.raised is not None:
            return True
        return any(self._is_off(call, seen, slot.key, slot.dtype or call.dtype) for slot in call.outputs)

    def _is_off(self, call: Call, seen: CallSeen, key: str, dtype: str) -> bool:
        found, truth = seen.slots.get(key), self.evidence.truth(call, key)
        if truth is None:
            return False
        if found is None or found.presence is not Presence.TENSOR or found.tensor is None or found.dtype != dtype:
            return True
        return not is_close(found.tensor, truth, self.evidence.bound(call, key))

    def says_nothing(self, call: Call) -> bool:
        """Return whether what a call gives is left open by the contract."""
        return says_nothing(call, self.evidence.observed)


def is_close(values: Tensor, truth: Tensor, bound: float) -> bool:
    """Return whether each number is within `bound` of the other, or equal, as infinities and NaN are."""
    return values.shape == truth.shape and torch.allclose(
        values.double(), truth.double(), rtol=0.0, atol=bound, equal_nan=True
    )


def first_change(before: Sequence[Traced], after: Sequence[Traced], tolerance: float) -> Traced | None:
    """Return the first result of `after` that `before` does not have in the same place; None if all are the same."""
    for one, other in zip_longest(before, after):
        if other is None:
            return after[-1] if after else None
        if one is None or one.line != other.line or not _same(one.values, other.values, tolerance):
            return other
    return None


def _same(values: Tensor, other: Tensor, tolerance: float) -> bool:
    finite = values[values.isfinite()]
    allowed = tolerance * float(finite.abs().max()) if finite.numel() else 0.0
    return values.shape == other.shape and torch.allclose(values, other, rtol=0.0, atol=allowed, equal_nan=True)


def _elements(call: Call) -> int:
    return sum(value.numel() for value in call.arguments.values() if isinstance(value, Tensor))
