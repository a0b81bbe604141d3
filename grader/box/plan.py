"""What the sandbox is asked to do: build these modules, make these calls, send these tensors back.

A plan holds inputs and announced shapes, never an expected value. The reference, every known mistake and the
student's code run the same plan through the same `observe`. `codec` says how a plan travels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from grader.box.keys import CallName, SlotKey, input_key, name_in, weight_key
from grader.box.kinds import Holding as Holding
from grader.box.kinds import Kind as Kind
from grader.box.kinds import Scalar as Scalar

FLOATS: Mapping[str, torch.dtype] = {
    "float64": torch.float64,
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}
DTYPES: Mapping[str, torch.dtype] = {**FLOATS, "bool": torch.bool, "int64": torch.int64, "int32": torch.int32}


@dataclass(frozen=True, slots=True)
class Function:
    """An argument that is a function of one tensor, by its name in `FUNCTIONS`: a plan carries no code."""

    name: str


FUNCTIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "parabola": lambda x: (x - 3.0) ** 2,
    "tilted": lambda x: 0.5 * x**2 + 2.0 * x + 1.0,
    "quartic": lambda x: x**4 / 4 - x**3 / 3 - x**2,
    "wave": lambda x: torch.sin(x) + x**2 / 10,
    "ripples": lambda x: x**2 / 2 + torch.sin(1000.0 * x) / 1e5,  # a quotient of differences misses its slope
    "bell": lambda x: -torch.exp(-((x - 1.0) ** 2)),
}


Argument = Tensor | Function | Scalar


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry point of an exercise: the name to look up, and the argument names of its contract.

    `driver` is the exercise's own, as `exercise.toml` names it; empty where the kind's will do.
    """

    name: str
    kind: Kind
    arguments: tuple[str, ...]
    constructor: tuple[str, ...] = ()
    defaults: Mapping[str, Scalar] = field(default_factory=dict)
    driver: str = ""


@dataclass(frozen=True, slots=True)
class Weight:
    """One canonical weight and its value.

    Attributes:
        name: the contract's name, `W_query`; before a dot, the part of the module that holds it.
        matrix: of a projection (in, out), whatever layout the student's module keeps it in; else as it is kept.
        bias: (out,), or None where the contract has none for this build.
        heads: equal blocks along `out`; a module-per-head layout holds one block a head.
        holding: how it is kept.
        either: a projection may as well be kept as the map from `out` to `in`.
        ordered: where it lies in one parameter with others, they lie in the contract's order.
        biased_by: the constructor's argument that asks for the bias; empty where none does.
    """

    name: str
    matrix: Tensor
    bias: Tensor | None = None
    heads: int = 1
    holding: Holding = Holding.PROJECTION
    either: bool = False
    ordered: bool = False
    biased_by: str = ""


MOST_CHOICES = 200  # assignments of weights that a construction is asked for, one after the other


@dataclass(frozen=True, slots=True)
class Pick:
    """Which of the assignments of weights to parameters is wanted, where names and shapes leave several.

    `nth` counts from the most likely one. `places` is what a construction said of its own, `BuildSeen.places`, possibly
    one of other sizes; what it describes comes first.
    """

    nth: int = 0
    places: str = ""


BY_NAME = Pick()


@dataclass(frozen=True, slots=True)
class Build:
    """One construction of a module; its instance serves every call that names it.

    With `must_raise` the constructor, or else the call that follows, must raise; no weights are given.
    `part` is that of its calls, `pick` an assignment of the weights that was found to be the right one.
    """

    name: str
    arguments: Mapping[str, Scalar]
    weights: tuple[Weight, ...] = ()
    dtype: str = "float64"
    must_raise: bool = False
    part: str = ""
    pick: Pick = BY_NAME

    def holding(self, values: Mapping[str, Tensor]) -> Build:
        """Return the same construction with other numbers in its weights, by the names that a call reads them under."""
        return replace(
            self,
            weights=tuple(
                replace(weight, matrix=values[weight.name], bias=values.get(f"{weight.name}.bias"))
                for weight in self.weights
            ),
        )


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor that a call gives: `output:context`, `input:x` or `weight:W_query`, with its axes and shape.

    `dtype` is set where it does not follow the call's: `bool` for a mask.
    """

    key: SlotKey
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str = ""

    @property
    def name(self) -> str:
        """The name in the contract: `context` of `output:context`."""
        return name_in(self.key)

    @property
    def dtypes(self) -> Mapping[str, torch.dtype]:
        """The dtypes whose values are sent: any where the contract names one, else those of floating-point numbers."""
        return DTYPES if self.dtype else FLOATS


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the entry point, or of the instance of a build, and what to send back from it.

    Attributes:
        name: unique in the plan, `case/variant`.
        build: the build whose instance is called; None for a function.
        arguments: by canonical name, in float64; `observe` casts floating-point tensors to `dtype`.
        outputs: one slot per returned tensor, in the contract's order.
        grad_outputs: a gradient for each output (None: that output gets none); empty: no backward pass.
        wants: the tensor arguments whose gradients are sent back.
        dtype: of its floating-point tensors, and torch's default dtype while the call runs.
        default_dtype: torch's default dtype where it is another one: what is created without a dtype then differs.
        no_grad: under `torch.no_grad()`.
        one_object: arguments that are one tensor in the plan are handed over as one object, `f(x, x, x)`.
        training: `module.train()` instead of `module.eval()`.
        non_contiguous: hand over the same values in memory that is not contiguous.
        max_elements: what no tensor of the forward pass may reach; its largest storage is noted. 0: unmeasured.
        seed: torch's generator is seeded with it just before the call.
        part: which entry point is called: one of the plan's `parts`, or its `entry`.
        reads_weights: nothing is called; the outputs are the weights of the build as they are by then.
        traced: the results of the forward pass's operations are sent back as well, as far as `recorder` keeps them.
        held_out: its arguments must not be known while the build is trained: it is made in another run, see
            `Plan.asking`.
    """

    name: CallName
    build: str | None
    arguments: Mapping[str, Argument]
    outputs: tuple[TensorSpec, ...]
    grad_outputs: tuple[Tensor | None, ...] = ()
    wants: tuple[str, ...] = ()
    dtype: str = "float64"
    training: bool = False
    non_contiguous: bool = False
    max_elements: int = 0
    seed: int = 0
    part: str = ""
    reads_weights: bool = False
    traced: bool = False
    held_out: bool = False
    default_dtype: str = ""
    no_grad: bool = False
    one_object: bool = False

    def output(self, name: str) -> TensorSpec:
        """Return the slot of the output called `name`."""
        return next(slot for slot in self.outputs if slot.name == name)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that one grading asks of the sandbox.

    `forbidden` names groups of ready-made operations (`attention`, `softmax`, …) that are trapped while it runs.
    Modules and tensors are moved to `device`; what is sent back comes from the CPU again. `parts` are further entry
    points, for exercises that ask for several things in one file. `initial_of` names the weights whose initial values
    are reported. With `line_after`, the line of the submission that runs after so many seconds raises; with `bare`,
    statements of the file that no answer needs are left out.
    """

    entry: Entry
    builds: tuple[Build, ...]
    calls: tuple[Call, ...]
    forbidden: tuple[str, ...] = ()
    device: str = "cpu"
    parts: Mapping[str, Entry] = field(default_factory=dict)
    initial_of: tuple[str, ...] = ()
    line_after: float = 0.0
    bare: bool = False

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of all entry points."""
        return (self.entry.name, *(entry.name for entry in self.parts.values()))

    def contract(self, part: str) -> Entry:
        """Return the entry point of a call or a build."""
        return self.parts[part] if part else self.entry

    def untrained(self) -> Plan:
        """Return the plan without the calls that train: those that one answer can be held against another in."""
        calls = (call for call in self.calls if not self.contract(call.part).kind.trains)
        builds = (build for build in self.builds if not self.contract(build.part).kind.trains)
        return replace(self, calls=tuple(calls), builds=tuple(builds))

    def training(self) -> Plan:
        """Return the plan of the first run: all but the calls that are held out."""
        return replace(self, calls=tuple(call for call in self.calls if not call.held_out))

    def asking(self, trained: Mapping[str, Mapping[str, Tensor]]) -> Plan:
        """Return the plan of the second run: the calls that are held out.

        Args:
            trained: by build, the weights that the first run has left; a build without any is asked nothing.
        """
        plan = self.only(frozenset(call.name for call in self.calls if call.held_out and call.build in trained))
        return replace(plan, builds=tuple(build.holding(trained[build.name]) for build in plan.builds), initial_of=())

    def call(self, name: str) -> Call:
        """Return the call called `name`."""
        return next(call for call in self.calls if call.name == name)

    def build_of(self, call: Call) -> Build | None:
        """Return the build that `call` runs on, None for a function."""
        return next((build for build in self.builds if build.name == call.build), None)

    def slots(self, call: Call) -> tuple[TensorSpec, ...]:
        """Return all tensors that `call` may give, in wire order: outputs, input gradients, weight gradients."""
        if not call.grad_outputs:
            return call.outputs
        build = self.build_of(call)
        inputs = [_slot(input_key(name), call.arguments[name]) for name in call.wants]
        weights = [slot for weight in (build.weights if build else ()) for slot in _weight_slots(weight)]
        return (*call.outputs, *inputs, *weights)

    def only(self, names: frozenset[str]) -> Plan:
        """Return the plan reduced to the calls called `names`, with the builds that they need."""
        calls = tuple(call for call in self.calls if call.name in names)
        used = {call.build for call in calls}
        return replace(self, calls=calls, builds=tuple(b for b in self.builds if b.name in used))

    def placing(self, places: str) -> Plan:
        """Return the same plan with every build's weights put where `places` says: see `Pick`."""
        return replace(self, builds=tuple(replace(build, pick=Pick(places=places)) for build in self.builds))

    def in_dtype(self, dtype: str) -> Plan:
        """Return the same plan with every float64 build and call run in `dtype`."""
        builds = (replace(b, dtype=dtype) if b.dtype == "float64" else b for b in self.builds)
        calls = (replace(c, dtype=dtype) if c.dtype == "float64" else c for c in self.calls)
        return replace(self, builds=tuple(builds), calls=tuple(calls))

    def in_double(self) -> Plan:
        """Return the same plan as the verdict's truth is found: every build and call in float64 on the CPU."""
        return replace(
            self,
            device="cpu",
            builds=tuple(one if one.dtype == "float64" else replace(one, dtype="float64") for one in self.builds),
            calls=tuple(one if one.dtype == "float64" else replace(one, dtype="float64") for one in self.calls),
        )


def _slot(key: SlotKey, value: Argument) -> TensorSpec:
    assert isinstance(value, Tensor), f"a gradient is wanted of `{key}`, which is no tensor"
    return TensorSpec(key, (), tuple(value.shape))


def _weight_slots(weight: Weight) -> list[TensorSpec]:
    slots = [_slot(weight_key(weight.name), weight.matrix)]
    if weight.bias is not None:
        slots.append(_slot(weight_key(weight.name, "bias"), weight.bias))
    return slots
