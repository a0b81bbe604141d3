"""The reference on one call, its steps watched, and run once more with numbers of the student's in a step's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grader.box.inline import observe_all
from grader.box.leash import Leash
from grader.box.observations import CallSeen, Observations
from grader.box.plan import Plan
from grader.exercise.steps import Place, Steps, Values
from grader.judge.arrangements import same

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
        leash: asked before each run.
        most: how many runs there may be.
    """

    plan: Plan
    steps: Steps
    leash: Leash
    most: int
    runs: int = field(default=0, init=False)

    def run(
        self, put: Values | None = None, bent: Place | None = None, *, sent: Values | None = None
    ) -> Replayed | None:
        """Return what the reference gives with the values `put` in the place of its own, or one of them `bent`.

        With `sent`, gradients are watched, and those in it are sent back in the place of its own. None if it raises.

        Raises:
            Stopped: the leash was pulled.
        """
        self.leash.check()
        self.runs += 1
        kept: list[Observations] = []

        def observe() -> None:
            kept.append(observe_all(self.plan, lambda: self.steps.namespace))

        given = self.steps.given(observe, put, bent, sent=sent)
        seen = kept[0].calls.get(self.plan.calls[0].name)
        if seen is None or seen.raised is not None:
            return None
        return Replayed(given.order, given.values, outputs_of(seen), given.gradients)

    @property
    def spent(self) -> bool:
        """Whether there were as many runs as there may be."""
        return self.runs >= self.most


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
