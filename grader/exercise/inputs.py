"""From a case and a seed to tensors. Only the parent makes them; the sandbox receives them ready.

Everything is drawn in float64 on the CPU from generators that depend on the seed and on a name, so that adding a case
to an exercise leaves the tensors of the others as they were.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.box.observe import default_dtype
from grader.box.plan import Argument, Build, Scalar, Slot, Weight
from grader.errors import AuthorError
from grader.exercise.spec import CaseSpec, InputSpec, Sizes, Spec, WeightSpec


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One case with its tensors.

    Attributes:
        construct: the constructor's arguments; empty for a function.
        arguments: the call's, by canonical name.
        weights: canonical weights with their values; shared by all cases of one construction.
        outputs, upstream: announced outputs, and a gradient for each (None: none).
        wants: arguments whose gradients are compared.
        decode: if set, the output times it, (width, [head,] key), shows what training-mode dropout did to each weight.
    """

    name: str
    title: str
    sizes: Sizes
    construct: Mapping[str, Scalar]
    arguments: Mapping[str, Argument]
    weights: tuple[Weight, ...]
    outputs: tuple[Slot, ...]
    upstream: tuple[Tensor | None, ...]
    wants: tuple[str, ...]
    axes: Mapping[str, tuple[str, ...]]
    dtype: str = "float64"
    made: bool = False
    decode: Tensor | None = None

    def with_matrix(self, name: str, matrix: Tensor, bias: Tensor | None = None) -> tuple[Weight, ...]:
        """Return the weights with the matrix of `name` exchanged, and its bias if one is given."""
        return tuple(
            replace(w, matrix=matrix, bias=w.bias if bias is None else bias) if w.name == name else w
            for w in self.weights
        )

    def build(self) -> Build | None:
        """Return the construction that the case runs on, None for a function."""
        if not self.construct:
            return None
        name = ", ".join(f"{key}={value}" for key, value in self.construct.items())
        name += f" in {self.dtype}" if self.dtype != "float64" else ""
        name += f" for {self.name}" if self.made else ""
        return Build(name, self.construct, self.weights, self.dtype)


Make = Callable[[Case, torch.Generator], Case]


def make_case(spec: Spec, case: CaseSpec, *, seed: int, make: Make | None = None) -> Case:
    """Draw the tensors of `case` from `seed`; `make`, if given, has the last word."""
    draw = generator(seed, case.name)
    construct = _construct(spec, case)
    scope: Sizes = {**case.sizes, **{k: v for k, v in construct.items() if type(v) is int}}
    inputs = {name: _override(entry, case.inputs.get(name)) for name, entry in spec.inputs.items()}
    arguments = {name: _draw(entry, scope, draw) for name, entry in inputs.items()}
    outputs = tuple(Slot(f"output:{name}", r.axes, shape_of(r.axes, scope)) for name, r in spec.returns.items())
    made = Case(
        name=case.name,
        title=case.title,
        sizes=scope,
        construct=construct,
        arguments={**arguments, **case.arguments},
        weights=_weights(spec, construct, scope, seed),
        outputs=outputs,
        upstream=tuple(
            normal(slot.shape, draw) if r.upstream else None
            for slot, r in zip(outputs, spec.returns.values(), strict=True)
        ),
        wants=tuple(name for name, entry in inputs.items() if entry.differentiable),
        axes={name: entry.axes for name, entry in inputs.items()},
        dtype=case.dtype,
        made=make is not None,
    )
    if make is None:
        return made
    with default_dtype("float64"):
        return make(made, draw)


def generator(seed: int, name: str) -> torch.Generator:
    """Return a generator for `name` under `seed`; different names draw independently."""
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    made = torch.Generator()
    made.manual_seed(int.from_bytes(digest, "little") >> 1)
    return made


def normal(shape: tuple[int, ...], draw: torch.Generator) -> Tensor:
    """Return standard normal numbers in float64."""
    return torch.randn(shape, generator=draw, dtype=torch.float64)


def shape_of(axes: tuple[str, ...], sizes: Sizes) -> tuple[int, ...]:
    """Return the sizes of `axes`: names, numbers, products of them, or `...` for leading axes."""
    shape: list[int] = []
    for axis in axes:
        if axis == "...":
            leading = sizes.get("...", [])
            shape += leading if isinstance(leading, list) else [leading]
        else:
            shape.append(math.prod(_size(name.strip(), sizes) for name in axis.split("*")))
    return tuple(shape)


def _size(name: str, sizes: Sizes) -> int:
    size = int(name) if name.isdigit() else sizes.get(name)
    if not isinstance(size, int):
        raise AuthorError(f"axis `{name}` has no size in a case; give it one number in the case's `sizes`")
    return size


def _construct(spec: Spec, case: CaseSpec) -> dict[str, Scalar]:
    given: dict[str, Scalar] = {}
    for name in spec.entry.constructor:
        if name in case.constructor:
            given[name] = case.constructor[name]
        elif isinstance(size := case.sizes.get(name), int):
            given[name] = size
    return given


def _override(entry: InputSpec, changes: Mapping[str, str | float | list[str]] | None) -> InputSpec:
    return InputSpec.model_validate({**entry.model_dump(), **changes}) if changes else entry


def _draw(entry: InputSpec, sizes: Sizes, draw: torch.Generator) -> Argument:
    if entry.kind == "none":
        return None
    shape = shape_of(entry.axes, sizes)
    if entry.kind == "normal":
        return normal(shape, draw) * entry.scale
    mask = torch.ones(shape, dtype=torch.bool)
    if entry.kind in ("causal", "causal_padding"):
        mask = mask.tril()
    if entry.kind in ("padding", "causal_padding"):
        mask = mask & _padding(shape)
    return mask


def _padding(shape: tuple[int, ...]) -> Tensor:
    """Return a mask that hides a tail of the keys, of another length for each index of the first axis."""
    keys = shape[-1]
    rows = shape[0] if len(shape) > 1 else 1
    kept = torch.tensor([max(1, keys - 1 - row % max(keys - 2, 1)) for row in range(rows)])
    allowed = torch.arange(keys) < kept[:, None]  # (rows, keys)
    return allowed.view(rows, *(1 for _ in shape[1:-1]), keys) if len(shape) > 1 else allowed[0]


def _weights(spec: Spec, construct: Mapping[str, Scalar], sizes: Sizes, seed: int) -> tuple[Weight, ...]:
    known = {**spec.entry.defaults, **construct}
    draw = generator(seed, f"weights {sorted((k, str(v)) for k, v in construct.items())}")
    return tuple(_weight(name, entry, known, sizes=sizes, draw=draw) for name, entry in spec.weights.items())


def _weight(
    name: str, entry: WeightSpec, known: Mapping[str, Scalar], *, sizes: Sizes, draw: torch.Generator
) -> Weight:
    size_in, size_out = shape_of((entry.inputs, entry.outputs), sizes)
    # Unit-variance inputs then give unit-variance outputs, and logits that are neither flat nor saturated.
    matrix = normal((size_in, size_out), draw) / math.sqrt(size_in)
    biased = known.get(entry.bias, False) if isinstance(entry.bias, str) else entry.bias
    bias = normal((size_out,), draw) / 2
    heads = _size(entry.heads, sizes) if entry.heads else 1
    return Weight(name, matrix, bias if biased else None, heads)
