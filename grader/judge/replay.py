"""The reference on one call, its steps watched, and run once more with numbers of the student's in a step's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grader.box.cancel import CancelToken
from grader.box.observations import CallSeen, Observations
from grader.box.observe import Instances, alone, observe
from grader.box.plan import Plan
from grader.exercise.steps import Place, Steps, Values
from grader.judge.arrangements import same
from grader.judge.effort import Effort, Operations

_EACH_STEP = 4  # units of effort, for watching it and comparing what it gives
_LEAST_NUMBERS = 4  # different ones, below which tensors are alike by chance


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What the reference gave, step by step and at the end; `gradients` are those that came back to steps' results."""

    order: list[Place]
    values: Values
    outputs: Mapping[str, Tensor]
    gradients: Values = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Replay:
    """One call of the reference.

    Attributes:
        plan: that call alone.
        steps: the reference, watched.
        cancel: checked before each run.
        effort: what the runs are counted in.
    """

    plan: Plan
    steps: Steps
    cancel: CancelToken
    effort: Effort
    _kept: Instances = field(default_factory=dict, init=False)
    _operations: int = field(default=0, init=False)  # of one run, as the first call of an instance takes them
    _begun: Replayed | None = field(default=None, init=False)  # what constructors gave, if instances are used again

    def run(
        self, put: Values | None = None, bent: Place | None = None, *, sent: Values | None = None
    ) -> Replayed | None:
        """Return what the reference gives with the values `put` in the place of its own, or one of them `bent`.

        With `sent`, gradients are watched, and those in it are sent back in the place of its own. None if it raises.

        Raises:
            Stopped: it was cancelled.
        """
        self.cancel.check()
        kept: list[Observations] = []

        begun = self._begun if self._begun is not None and not self._touched(put, bent) else None
        instances = self._kept if begun is not None else {}

        def call() -> None:
            with alone():
                kept.append(Observations.of(observe(self.plan, lambda: self.steps.namespace, instances)))

        given = self.steps.given(call, put, bent, sent=sent)
        self.effort.run(_EACH_STEP * len(given.order) + self._operations)
        seen = kept[0].calls.get(self.plan.calls[0].name)
        if seen is None or seen.raised is not None:
            return None
        values = {**begun.values, **given.values} if begun is not None else given.values
        return Replayed(given.order, values, outputs_of(seen), given.gradients)

    def begin(self, *, sent: Values | None = None) -> Replayed | None:
        """Return what the reference gives as it is, the first run of all.

        Where a second call of the same instance gives the same steps, later runs build none: that is half of the time.
        """
        self._begun, counted = Replayed([], {}, {}), Operations()
        first = self.run(sent=sent)
        with counted:
            again = self.run(sent=sent)
        self._operations = counted.count
        self._begun = _construction(first, again) if first is not None and again is not None else None
        return first

    def _touched(self, put: Values | None, bent: Place | None) -> bool:
        """Return whether something is to be exchanged that a constructor gives."""
        early = self._begun.order if self._begun is not None else ()
        return any(place == bent or place in (put or ()) for place in early)

    @property
    def spent(self) -> bool:
        """Whether there may be no more runs."""
        return self.effort.spent


def _construction(first: Replayed, again: Replayed) -> Replayed | None:
    """Return what was given by constructors alone; None where a second call of the same instance gives other things."""
    count = len(first.order) - len(again.order)
    if count < 0 or first.order[count:] != again.order:
        return None
    if not all(torch.equal(first.values[place], values) for place, values in again.values.items()):
        return None
    early = first.order[:count]
    return Replayed(early, {place: first.values[place] for place in early if place in first.values}, {})


def outputs_of(seen: CallSeen) -> dict[str, Tensor]:
    """Return the output tensors of a call, in float64."""
    return {key: slot.tensor.double() for key, slot in seen.slots.items() if slot.tensor is not None}


def echoes(given: Values, inputs: Iterator[Tensor]) -> dict[Place, Place | None]:
    """Return the results that are those of an earlier step, with that step; None stands for an argument."""
    known: list[tuple[Place | None, Tensor]] = [(None, value) for value in inputs]
    found: dict[Place, Place | None] = {}
    for place, values in given.items():
        same_as = [other for other, earlier in known if _equal(values, earlier)]
        if same_as:
            found[place] = same_as[0]
        else:
            known.append((place, values))
    return found


def is_telling(values: Tensor) -> bool:
    """Return whether a tensor has enough different numbers to be told from any other."""
    return len(torch.unique(values[values.isfinite()])) >= _LEAST_NUMBERS


def is_constant(values: Tensor) -> bool:
    """Return whether a tensor has the same number everywhere."""
    return bool((values == values.flatten()[:1]).all())


def _equal(values: Tensor, other: Tensor) -> bool:
    return values.squeeze().shape == other.squeeze().shape and torch.equal(values.squeeze(), other.squeeze())


def reach(replay: Replay, right: Replayed) -> tuple[dict[Place, frozenset[Place]], frozenset[Place]]:
    """Return for each place those that change when it does; and the places of which that cannot be told."""
    found: dict[Place, frozenset[Place]] = {}
    blind: set[Place] = set()
    for index, place in enumerate(right.order):
        after = replay.run(bent=place)
        if after is None:
            blind.add(place)
            found[place] = frozenset(right.order[index + 1 :]) & right.values.keys()
        else:
            found[place] = frozenset(_moved(right.values, after.values)) - {place}
    return found, frozenset(blind)


def _moved(before: Values, after: Values) -> Iterator[Place]:
    for place, values in before.items():
        now = after.get(place)
        if now is None or now.shape != values.shape or not same(now, values, 1e-12):
            yield place
