"""What a check is, and what it is given to judge.

That is the student's observations, the expected ones, and how exactly they must agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from grader.box.keys import BASE, call_name, is_output
from grader.box.observations import BuildSeen, CallSeen, Observations, Presence, Raised
from grader.box.observe import Load
from grader.box.plan import Argument, Build, Call, Plan, TensorSpec
from grader.checks.compare import named
from grader.checks.explain import explain
from grader.checks.finding import Finding, failed, skipped
from grader.exercise.inputs import Case
from grader.exercise.spec import CheckSpec, Dimension, PartSpec

# Relative to a tensor's largest magnitude. Correct float64 variants differ by under 4e-15, the subtlest known bug by
# over 2e-8; the others are a few units in the last place times the length of the sums in these exercises.
FLOORS: Mapping[str, float] = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "bfloat16": 6e-2}
_GRADIENT_FLOOR = 1e-3
Known = Callable[[], Iterator[Load]]
Given = TypeVar("Given", bound="Options")
Found = TypeVar("Found")
ROUNDING_MARGIN = 8.0  # a right answer may round this many times worse than the reference does


class Options(BaseModel):
    """The options of a check that takes none; others inherit from it.

    Attributes:
        names: by option that names something, where to find what it may name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    names: ClassVar[Mapping[str, Callable[[Any, PartSpec], Collection[str]]]] = {}

    def unknown(self, part: PartSpec) -> Iterator[str]:
        """Yield a sentence for each name that the contract of `part` does not have."""
        for option, known_by in self.names.items():
            given, known = getattr(self, option), known_by(self, part)
            if odd := sorted(set([given] if isinstance(given, str) else given) - set(known)):
                yield f"`{option}` is {', '.join(odd)}; it must be one of {', '.join(known) or 'nothing'}"


class OneOutput(Options):
    """`output`, the output that is looked at."""

    output: str
    names: ClassVar = {"output": lambda _, part: part.returns}


class InputAxis(Options):
    """`of`, names of inputs; `axis`, one of theirs; `output`, the output that is compared."""

    of: tuple[str, ...] = Field(min_length=1)
    axis: str
    output: str
    names: ClassVar = {
        "of": lambda _, part: part.inputs,
        "axis": lambda given, part: [x for name in given.of if name in part.inputs for x in part.inputs[name].axes],
        "output": lambda _, part: part.returns,
    }


class Trait(Enum):
    """Something that a check does, and that others depend on, so that no other module needs to know a check's name."""

    REFUSES = auto()
    """Its cases are configurations that a right answer refuses."""
    SHOWS_OUTPUTS = auto()
    """It compares the outputs of the plain call, so these can be drawn."""
    SHOWS_INFLUENCE = auto()
    """It finds out who sees whom; see `masking.influence`."""
    SHOWS_GRADIENTS = auto()
    """It looks at the gradients of the plain call."""
    SHOWS_MEMORY = auto()
    """It measures the plain call; see `memory.limit_of`."""
    BOUNDS_LOSS = auto()
    """It says what a loss must come down to; see `learning.bound_of`."""
    CHANGES_IN_TRAINING = auto()
    """It asks for dropout in training mode."""
    SAME_IN_TRAINING = auto()
    """It asks that training mode changes nothing where nothing is dropped."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a check wants run: calls, and constructions to be tried beside those that the calls need.

    `initial_of` names the weights whose values right after the constructor are looked at.
    """

    calls: tuple[Call, ...] = ()
    builds: tuple[Build, ...] = ()
    initial_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A kind of check; `grader.checks.registry.check` makes one of a function.

    Attributes:
        title: its name in the report, unless the exercise gives another.
        judge: decides, from what was seen.
        work: gives what must be run for it.
        needs: kinds that must have passed on the same case; else this one is skipped.
        options: what an exercise may say of it.
        traits: what others may ask about it.
    """

    title: str
    dimension: Dimension
    judge: Callable[[Item, Evidence], Finding]
    work: Callable[[Item], Work]
    needs: tuple[str, ...]
    options: type[Options]
    traits: frozenset[Trait]


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One check on one case: a line of the report. `spec` and `options` are what the exercise says of the check."""

    spec: CheckSpec
    check: Check
    options: Options
    case: Case
    name: str
    points: float

    def given(self, model: type[Given]) -> Given:
        """Return the options, which are of the kind that the check declares."""
        assert isinstance(self.options, model)
        return self.options

    def has(self, trait: Trait) -> bool:
        """Return whether the check has a trait."""
        return trait in self.check.traits


@dataclass(frozen=True, eq=False)  # no slots: what was measured once is kept in the instance
class Evidence:
    """All that was seen of one submission, and of the reference on the same plan.

    `expected` was seen in float64; `rounded` holds the reference's calls in lower precision, whose distance from
    `expected` says how far rounding alone may lead. `free` names the calls that no points depend on. `known` loads the
    reference and then each known mistake, to be run outside of the box; None where nobody has them, as in a pack.
    """

    plan: Plan
    observed: Observations
    expected: Observations
    rounded: Observations
    free: frozenset[str] = frozenset()
    known: Known | None = None
    reruns: dict[str, Any] = field(default_factory=dict)  # by case: what `rerun` found, for all lines about it

    @cached_property
    def _scales(self) -> _Scales:
        return _Scales(self.expected.calls)

    @cached_property
    def _calls(self) -> Mapping[str, Call]:
        return {call.name: call for call in self.plan.calls}

    @cached_property
    def _answers(self) -> dict[Hashable, Any]:
        return {}

    def once(self, question: Hashable, find: Callable[[], Found]) -> Found:
        """Return what `find` gives; only the first who asks `question` calls it."""
        if question not in self._answers:
            self._answers[question] = find()
        found: Found = self._answers[question]
        return found

    def call(self, item: Item, variant: str) -> Call:
        """Return the planned call `variant` of the item's case."""
        return self._calls[call_name(item.case.name, variant)]

    def problem(self, call: Call) -> Finding | None:
        """Return why `call` cannot be judged at all: it raised, was never reached, or gave wrong shapes."""
        return self.once(("problem", call.name), lambda: self._problem(call))

    def _problem(self, call: Call) -> Finding | None:
        seen = self.observed.calls.get(call.name)
        built = self.observed.builds.get(call.build) if call.build else None
        raised: Raised | None = built.raised if built is not None else None
        if raised is None and seen is not None and seen.raised is not None:
            raised = None if any(slot.key in seen.slots for slot in call.outputs) else seen.raised
        if raised is not None:
            return failed(explain(raised), besides=True)
        if seen is None:
            return skipped("because the run ended before this check")
        wrong = (text for slot in call.outputs if (text := misfit(slot, seen, call)))
        return next((failed(text, besides=True) for text in wrong), None)

    def seen(self, call: Call) -> CallSeen:
        """Return what was seen of a call that had no problem."""
        return self.observed.calls[call.name]

    def built(self, call: Call) -> BuildSeen | None:
        """Return what was seen of the construction of a call."""
        return self.observed.builds.get(call.build) if call.build else None

    def output(self, call: Call, slot: TensorSpec) -> Tensor:
        """Return the student's output in float64; the call had no problem."""
        seen = self.observed.calls[call.name].slots[slot.key].tensor
        assert seen is not None
        return seen.double()

    def expected_output(self, call: Call, slot: TensorSpec) -> Tensor:
        """Return the expected output; the reference gives every output."""
        truth = self.truth(call, slot.key)
        assert truth is not None
        return truth

    def has_gradient(self, call: Call, key: str) -> bool:
        """Return whether the reference has a gradient there that is more than rounding noise around zero.

        The bias of the keys, for one, has none: the softmax does not see a shift of all scores.
        """
        truth = self.truth(call, key)
        noise = 1e-9 * self._scales[call.name][key]
        return truth is not None and (float(truth.max()) > noise or float(truth.min()) < -noise)

    def truth(self, call: Call, key: str) -> Tensor | None:
        """Return the expected tensor in float64, None where the reference gives none (no gradient)."""
        return self.expected.calls[call.name].slots[key].tensor

    def scale(self, call: Call, key: str) -> float:
        """Return the magnitude that differences of this tensor are relative to."""
        return self._scales[call.name][key]

    def bound(self, call: Call, key: str) -> float:
        """Return by how much an element may differ, in absolute terms."""
        return self.once(("bound", call.name, key), lambda: self._bound(call, key))

    def _bound(self, call: Call, key: str) -> float:
        truth = self.truth(call, key)
        if truth is None or not truth.numel():
            return 0.0
        bound = FLOORS[call.dtype] * self._scales[call.name][key]
        rounded = self.rounded.calls.get(call.name)
        if rounded is not None and (seen := rounded.slots.get(key)) is not None and seen.tensor is not None:
            error = (seen.tensor.double() - truth.double()).abs().nan_to_num(0.0, 0.0, 0.0)  # a truth may be bool
            bound += ROUNDING_MARGIN * float(error.max())
        return bound


def base_call(case: Case, *, backward: bool = False) -> Call:
    """Return the plain call of a case, in evaluation mode; with `backward`, gradients are sent back too."""
    call = variant_call(case, BASE)
    return replace(call, grad_outputs=case.grad_outputs, wants=case.wants) if backward else call


def calling(plan: Plan, cases: Collection[Case], call: Callable[[Case], Call]) -> Plan:
    """Return `plan` with one call of each case, and the constructions that these run on."""
    builds = {case.build.name: case.build for case in cases if case.build is not None}
    return replace(plan, builds=tuple(builds.values()), calls=tuple(map(call, cases)))


def variant_call(case: Case, variant: str, *, arguments: Mapping[str, Argument] | None = None) -> Call:
    """Return a further call of a case, without gradients; `arguments` replaces some of its arguments."""
    build = case.build
    return Call(
        name=call_name(case.name, variant),
        build=build.name if build else None,
        arguments={**case.arguments, **(arguments or {})},
        outputs=case.outputs,
        dtype=case.dtype,
        part=case.part,
    )


def scale_of(tensor: Tensor) -> float:
    """Return the largest finite magnitude, 0 where there is none."""
    if tensor.is_floating_point() and math.isfinite(largest := magnitude(tensor)):
        return largest
    finite = tensor[torch.isfinite(tensor)].double().abs()
    return float(finite.max()) if finite.numel() else 0.0


def magnitude(tensor: Tensor) -> float:
    """Return the largest magnitude; infinite or NaN where an element is."""
    return float(torch.linalg.vector_norm(tensor, math.inf)) if tensor.numel() else 0.0


class _Scales(dict[str, dict[str, float]]):
    """The scales of each expected call, found when somebody asks for them."""

    def __init__(self, calls: Mapping[str, CallSeen]) -> None:
        super().__init__()
        self._calls = calls

    def __missing__(self, name: str) -> dict[str, float]:
        self[name] = found = scales(self._calls[name])
        return found


def scales(seen: CallSeen) -> dict[str, float]:
    """Return, for each tensor of a call, the magnitude that its differences are relative to.

    A gradient is measured against the largest gradient of the call as well: one that is zero in exact arithmetic
    comes out as rounding noise of the others, and noise has no scale of its own.
    """
    own = {key: scale_of(slot.tensor) for key, slot in seen.slots.items() if slot.tensor is not None}
    gradients = [size for key, size in own.items() if not is_output(key)]
    floor = _GRADIENT_FLOOR * max(gradients, default=0.0)
    found = {key: size if is_output(key) else max(size, floor) for key, size in own.items()}
    return {key: found.get(key) or 1.0 for key in seen.slots}


def misfit(slot: TensorSpec, seen: CallSeen, call: Call) -> str:
    """Return in what way an output is not the tensor that the contract wants; empty if it is."""
    found = seen.slots.get(slot.key)
    if found is not None and found.presence is Presence.TENSOR and found.shape == slot.shape:
        return ""
    wanted = f"`{slot.name}` must be a tensor of shape {named(slot.axes, slot.shape)}"
    if found is None or found.presence is Presence.OTHER:
        what = found.what if found else "nothing"
        return f"{wanted}; you returned {what}{' in its place' * (what == 'nothing' and len(call.outputs) > 1)}"
    if found.shape != slot.shape:
        dtype = slot.dtype or call.dtype
        besides = f", and is {found.dtype}; it must be {wanted_dtype(slot, call)}" * (found.dtype != dtype)
        return f"{wanted}; yours has shape {found.shape}{besides}"
    if found.presence is not Presence.TENSOR:
        return f"`{slot.name}` must be {wanted_dtype(slot, call)}; yours is {found.dtype}"
    return ""


def wanted_dtype(slot: TensorSpec, call: Call) -> str:
    """Return in words which dtype an output must have, and why."""
    if slot.dtype:
        return slot.dtype
    given = any(isinstance(value, Tensor) and value.is_floating_point() for value in call.arguments.values())
    return f"{call.dtype}, as the input is" if given else f"{call.dtype}, PyTorch's default while your code runs"
