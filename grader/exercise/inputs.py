"""From a case and a seed to tensors. Only the parent makes them; the sandbox receives them ready.

Everything is drawn in float64 on the CPU from generators that depend on the seed and on a name, so that adding a case
to an exercise leaves the tensors of the others as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from grader.box.keys import output_key
from grader.box.observe import default_dtype
from grader.box.plan import FUNCTIONS, Argument, Build, Function, Scalar, TensorSpec, Weight
from grader.errors import AuthorError
from grader.exercise.drawing import generator, normal, settled, shape_of
from grader.exercise.spec import CaseSpec, InputSpec, PartSpec, Sizes, Spec
from grader.exercise.weights import draw_weights

_SHORT = 10  # whole numbers of a row that is quoted


@dataclass(frozen=True, eq=False)  # no slots: its construction is kept in the instance
class Case:
    """One case with its tensors.

    Attributes:
        construct: the constructor's arguments; empty for a function.
        arguments: the call's, by canonical name.
        weights: canonical weights with their values; shared by all cases of one construction.
        outputs, upstream: announced outputs, and a gradient for each (None: none).
        wants: arguments whose gradients are compared.
        shares: arguments whose rows add up to one, and have to whatever is changed in them.
        seed: the one that everything is drawn from, for a `make` whose numbers several cases share; 0 once it is drawn.
        drawn: what it is called with, in words, if the seed decides its sizes or arguments; else empty.
        easy: an answer that computes nothing may be right in it; see `CaseSpec`.
        part: which of the exercise's entry points it is about; empty for the first one.
        decode: if set, the output times it, (width, [head,] key), shows what training-mode dropout did to each weight.
    """

    name: str
    title: str
    sizes: Sizes
    construct: Mapping[str, Scalar]
    arguments: Mapping[str, Argument]
    weights: tuple[Weight, ...]
    outputs: tuple[TensorSpec, ...]
    grad_outputs: tuple[Tensor | None, ...]
    wants: tuple[str, ...]
    axes: Mapping[str, tuple[str, ...]]
    dtype: str = "float64"
    made: bool = False
    shares: tuple[str, ...] = ()
    decode: Tensor | None = None
    part: str = ""
    drawn: str = ""
    easy: bool = False
    seed: int = 0

    def with_matrix(self, name: str, matrix: Tensor, bias: Tensor | None = None) -> tuple[Weight, ...]:
        """Return the weights with the matrix of `name` exchanged, and its bias if one is given."""
        return tuple(
            replace(w, matrix=matrix, bias=w.bias if bias is None else bias) if w.name == name else w
            for w in self.weights
        )

    @cached_property
    def build(self) -> Build | None:
        """The construction that the case runs on, None for a function."""
        if not self.construct:
            return None
        name = f"{self.part}: " if self.part else ""
        name += ", ".join(f"{key}={value}" for key, value in self.construct.items())
        name += f" in {self.dtype}" if self.dtype != "float64" else ""
        name += f" for {self.name}" if self.made else ""
        return Build(name, self.construct, self.weights, self.dtype, part=self.part)


Make = Callable[[Case, torch.Generator], Case]


def make_case(spec: Spec, case: CaseSpec, *, seed: int, make: Make | None = None) -> Case:
    """Draw what `case` leaves to the seed, and its tensors; `make`, if given, has the last word."""
    draw, part = generator(seed, case.name), spec.part_of(case)
    is_drawn = bool(case.draw)
    case = settled(case, part, seed)
    construct = _construct(part, case)
    scope: Sizes = {**_counts(part.entry.defaults), **case.sizes, **_counts(construct)}
    inputs = inputs_of(spec, case)
    arguments = {name: _draw(entry, scope, draw) for name, entry in inputs.items()}
    made = Case(
        name=case.name,
        title=case.title,
        sizes=scope,
        construct=construct,
        arguments={**arguments, **case.arguments},
        weights=draw_weights(part, construct, scope, seed),
        outputs=_outputs(part, scope),
        grad_outputs=tuple(
            normal(shape_of(r.axes, scope), draw) if r.grad_output and not r.dtype else None
            for r in part.returns.values()
        ),
        wants=tuple(name for name, entry in inputs.items() if entry.differentiable),
        axes={name: entry.axes for name, entry in inputs.items()},
        dtype=case.dtype,
        made=make is not None,
        shares=tuple(name for name, entry in inputs.items() if entry.kind == "shares"),
        part=case.part,
        easy=case.easy or case.allow_equal_sizes,
        seed=seed,
    )
    if make is not None:
        with default_dtype("float64"):
            made = make(made, draw)
    return replace(made, seed=0, drawn=_in_words({**made.construct, **made.arguments}) if is_drawn else "")


def _in_words(given: Mapping[str, Argument]) -> str:
    """Return what a case is called with: shapes of tensors, short rows of whole numbers, and everything else itself."""
    return ", ".join(f"`{name}` {_value_in_words(value)}" for name, value in given.items())


def _value_in_words(value: Argument) -> str:
    if isinstance(value, Tensor):
        is_short = value.dim() == 1 and value.dtype == torch.int64 and len(value) <= _SHORT
        return f"= {value.tolist()}" if is_short else f"of shape ({', '.join(map(str, value.shape))})"
    return f"= {value.name if isinstance(value, Function) else repr(value)}"


def _outputs(spec: PartSpec, sizes: Sizes) -> tuple[TensorSpec, ...]:
    return tuple(
        TensorSpec(output_key(name), r.axes, shape_of(r.axes, sizes), r.dtype) for name, r in spec.returns.items()
    )


def _construct(spec: PartSpec, case: CaseSpec) -> dict[str, Scalar]:
    given: dict[str, Scalar] = {}
    for name in spec.entry.constructor:
        if name in case.constructor:
            given[name] = case.constructor[name]
        elif isinstance(size := case.sizes.get(name), int):
            given[name] = size
    return given


def _counts(given: Mapping[str, Scalar]) -> dict[str, int]:
    return {name: value for name, value in given.items() if type(value) is int}


def inputs_of(spec: Spec, case: CaseSpec) -> dict[str, InputSpec]:
    """Return what is known of each argument of a case, with what the case says otherwise."""
    part = spec.part_of(case)
    return {name: _override(entry, case.inputs.get(name)) for name, entry in part.inputs.items()}


def _override(entry: InputSpec, changes: Mapping[str, Any] | None) -> InputSpec:
    return InputSpec.model_validate({**entry.model_dump(), **changes}) if changes else entry


def _draw(entry: InputSpec, sizes: Sizes, draw: torch.Generator) -> Argument:
    if entry.kind == "none":
        return None
    if entry.kind == "function":
        return _function(entry.function)
    if entry.kind == "numbers":
        return torch.tensor(entry.values)
    shape = shape_of(entry.axes, sizes)
    if entry.differentiable:
        drawn = normal(shape, draw) * entry.scale
        if entry.zero_at is not None:
            drawn[..., entry.zero_at, :] = 0.0
        return torch.softmax(drawn, dim=-1) if entry.kind == "shares" else drawn
    if entry.kind == "tokens":
        (below,) = shape_of((entry.high,), sizes)
        return torch.randint(entry.low, below, shape, generator=draw)
    if entry.kind == "padding":
        return _padding(shape, first=0)
    if entry.kind == "scattered":
        return _scattered(shape, draw)
    causal = torch.ones(shape, dtype=torch.bool).tril()
    return causal & _padding(shape, first=1) if entry.kind == "causal_padding" else causal


def _function(name: str) -> Function:
    if name not in FUNCTIONS:
        raise AuthorError(f"there is no function `{name}`; there are {', '.join(FUNCTIONS)}")
    return Function(name)


def _scattered(shape: tuple[int, ...], draw: torch.Generator) -> Tensor:
    """Return a mask without any pattern, in which each query sees about half of the keys, and one at least."""
    allowed = torch.rand(shape, generator=draw, dtype=torch.float64) < 0.5
    first = torch.randint(0, shape[-1], (*shape[:-1], 1), generator=draw)
    return allowed.scatter(-1, first, torch.ones_like(first, dtype=torch.bool))


def _padding(shape: tuple[int, ...], *, first: int) -> Tensor:
    """Return a mask that hides some keys, another number of them for each index of the first axis.

    At odd indices they are the keys from `first` on, at even ones the last keys: what is visible is then not always the
    beginning, and how much of it there is does not tell where. With a causal mask key 0 has to stay.
    """
    keys = shape[-1]
    rows = shape[0] if len(shape) > 1 else 1
    hidden = torch.tensor([keys - max(1, keys - 1 - row % max(keys - 2, 1)) for row in range(rows)])[:, None]
    places = torch.arange(keys)
    behind, between = places < keys - hidden, (places < first) | (places >= first + hidden)
    allowed = torch.where(torch.arange(rows)[:, None] % 2 == 1, between, behind)  # (rows, keys)
    return allowed.view(rows, *(1 for _ in shape[1:-1]), keys) if len(shape) > 1 else allowed[0]
