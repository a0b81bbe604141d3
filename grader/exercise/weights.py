"""Draws the values of weights: the contract's, of whatever kind, and those that a model of ours begins with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from grader.box.plan import Holding, Scalar, Weight
from grader.exercise.drawing import generator, normal, shape_of, size_of
from grader.exercise.spec import PartSpec, Sizes, WeightSpec


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """What a weight is drawn from: the construction's arguments, the sizes, and a generator."""

    known: Mapping[str, Scalar]
    sizes: Sizes
    generator: torch.Generator

    def numbers(self, *shape: int, spread: float) -> Tensor:
        """Return normal numbers with standard deviation `spread`."""
        return normal(shape, self.generator) * spread


def draw_weights(spec: PartSpec, construct: Mapping[str, Scalar], sizes: Sizes, seed: int) -> tuple[Weight, ...]:
    """Return the weights of one construction, the same for every case that has it."""
    known = {**spec.entry.defaults, **construct}
    draw = _Draw(known, sizes, generator(seed, f"weights {sorted((k, str(v)) for k, v in construct.items())}"))
    entries = ((name, entry) for name, entry in spec.weights.items() if _applies(entry, known))
    return tuple(weight for name, entry in entries for weight in _KINDS[entry.kind](entry.name or name, entry, draw))


def _applies(entry: WeightSpec, known: Mapping[str, Scalar]) -> bool:
    return all(known.get(name) == value for name, value in entry.when.items())


def _projection(name: str, entry: WeightSpec, draw: _Draw) -> Iterator[Weight]:
    size_in, size_out = shape_of((entry.inputs, entry.outputs), draw.sizes)
    # Unit-variance inputs then give unit-variance outputs, and logits that are neither flat nor saturated.
    matrix = draw.numbers(size_in, size_out, spread=1 / math.sqrt(size_in))
    bias = draw.numbers(size_out, spread=0.5)
    by = entry.bias if isinstance(entry.bias, str) else ""
    biased = draw.known.get(by, False) if by else entry.bias
    heads = size_of(entry.heads, draw.sizes) if entry.heads else 1
    yield Weight(
        name, matrix, bias if biased else None, heads, either=entry.either, ordered=entry.ordered, biased_by=by
    )


def _table(name: str, entry: WeightSpec, draw: _Draw) -> Iterator[Weight]:
    rows, width = shape_of((entry.inputs, entry.outputs), draw.sizes)
    yield Weight(name, draw.numbers(rows, width, spread=1.0), holding=Holding.TABLE)


def _norm(name: str, entry: WeightSpec, draw: _Draw) -> Iterator[Weight]:
    (width,) = shape_of((entry.inputs,), draw.sizes)
    yield Weight(f"{name}.weight", 1 + draw.numbers(width, spread=0.5), holding=Holding.EXACT)
    yield Weight(f"{name}.bias", draw.numbers(width, spread=0.5), holding=Holding.EXACT)


def _lstm(name: str, entry: WeightSpec, draw: _Draw) -> Iterator[Weight]:
    """Yield an LSTM's weights under torch's names; four gates lie one above the other in each."""
    size_in, width, layers = shape_of((entry.inputs, entry.outputs, entry.layers), draw.sizes)
    directions = ("", "_reverse") if entry.bidirectional else ("",)
    for layer in range(layers):
        below = width * len(directions) if layer else size_in
        for direction in directions:
            for kind, size in (("ih", below), ("hh", width)):
                matrix = draw.numbers(4 * width, size, spread=1 / math.sqrt(size))
                yield Weight(f"{name}.weight_{kind}_l{layer}{direction}", matrix, holding=Holding.EXACT)
            for kind in ("ih", "hh"):
                bias = draw.numbers(4 * width, spread=0.5)
                yield Weight(f"{name}.bias_{kind}_l{layer}{direction}", bias, holding=Holding.EXACT)


_KINDS = {"projection": _projection, "table": _table, "norm": _norm, "lstm": _lstm}


# ---- a model of ours


def initial_weights(model: nn.Module, draw: torch.Generator, prefix: str = "") -> tuple[Weight, ...]:
    """Return fresh values for every parameter of `model`, in float64, under `prefix` and its own name.

    Embeddings are standard normal, other matrices have the variance 1 / (3 inputs) of PyTorch's own linear layers,
    biases are 0 and what a norm multiplies with is 1.
    """
    return tuple(
        Weight(f"{prefix}{name}.{leaf}".replace("..", "."), _initial_value(part, value, draw), holding=Holding.EXACT)
        for name, part in model.named_modules()
        for leaf, value in part.named_parameters(recurse=False)
    )


def _initial_value(part: nn.Module, value: Tensor, draw: torch.Generator) -> Tensor:
    shape = tuple(value.shape)
    if isinstance(part, nn.Embedding):
        return normal(shape, draw)
    if len(shape) > 1:
        return normal(shape, draw) / math.sqrt(3 * shape[-1])
    gain = isinstance(part, nn.LayerNorm) and value is part.weight
    return torch.full(shape, float(gain), dtype=torch.float64)
