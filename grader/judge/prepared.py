"""A sheet with what the reference gives for it, found before anybody hands in.

All but the numbers is the same for every seed of an exercise: its outline, which each process finds for itself. So what
is kept of a seed is numbers alone, and no file says what is done with them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from grader.box.observations import Observations
from grader.checks.registry import CHECKS
from grader.errors import AuthorError
from grader.judge.sheet import Sheet
from grader.judge.sketches import Sketches

Make = Callable[[list[Any]], Any]

_ALIGNMENT = 8  # bytes; of the largest element
_CHECK_NAMES = {id(check): name for name, check in CHECKS.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What a submission is compared with.

    Attributes:
        seed: what the tensors of the sheet were drawn from.
        sheet: the sheet.
        truth: what the reference gives for its plan, as `observe_reference` returns it.
        sketches: what the known mistakes give, as far as they were run.
    """

    seed: int
    sheet: Sheet
    truth: tuple[Observations, Observations]
    sketches: Sketches


class Outline:
    """What is the same for every seed of an exercise, in this process.

    Attributes:
        size: the bytes that the numbers of one seed take.
        digest: names the outline in every process.
    """

    def __init__(self, prepared: Prepared) -> None:
        """Take the outline of any seed."""
        described = _Description(prepared)
        self._layout = _Layout(described.tensors)
        self._recipe = _Recipe(_content(prepared), described.tensors)
        self.size = self._layout.size
        self.digest = described.digest

    def numbers(self, prepared: Prepared) -> bytearray:
        """Return the numbers of a seed.

        Raises:
            AuthorError: it has another outline, since the exercise draws more than numbers from a seed.
        """
        described = _Description(prepared)
        if described.digest != self.digest:
            raise AuthorError(f"seed {prepared.seed} gives other calls, shapes or scalars than the seed before it")
        data = bytearray(self.size)
        for place, tensor in zip(self._layout.tensors(data), described.tensors, strict=True):
            place.copy_(tensor)
        return data

    def filled(self, seed: int, numbers: bytearray) -> Prepared:
        """Return what `numbers` was made of; its tensors are views of `numbers`.

        Raises:
            ValueError: they are too few or too many.
        """
        if len(numbers) != self.size:
            raise ValueError(f"{len(numbers)} bytes of numbers, where the outline needs {self.size}")
        return Prepared(seed, *self._recipe.made_with(self._layout.tensors(numbers)))


class _Layout:
    """Where the numbers of tensors lie, one tensor after the other.

    Attributes:
        size: the bytes of all of them.
    """

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        self.size = 0
        self._places: list[tuple[torch.dtype, tuple[int, ...], tuple[int, ...], int]] = []
        for tensor in tensors:
            strides = torch.empty(tensor.shape, device="meta").stride()
            self._places.append((tensor.dtype, tuple(tensor.shape), strides, self.size // tensor.itemsize))
            self.size += -(-tensor.nbytes // _ALIGNMENT) * _ALIGNMENT

    def tensors(self, data: bytearray) -> list[Tensor]:
        """Return the tensors whose numbers are in `data`, in memory that they share with it."""
        kinds = {kind for kind, *_ in self._places}
        whole = {kind: torch.frombuffer(data, dtype=kind) if data else torch.empty(0, dtype=kind) for kind in kinds}
        return [whole[kind].as_strided(shape, strides, offset) for kind, shape, strides, offset in self._places]


class _Description:
    """A digest over everything but the seed and the numbers, and the tensors in the order in which they are met."""

    def __init__(self, prepared: Prepared) -> None:
        self.tensors: list[Tensor] = []
        self._met: dict[int, int] = {}
        text = repr(self._of(_content(prepared)))
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:16]

    def _of(self, thing: Any) -> Any:
        if isinstance(thing, Tensor):
            return self._tensor(thing)
        if id(thing) in _CHECK_NAMES:
            return _CHECK_NAMES[id(thing)]
        if isinstance(thing, Mapping):
            return [(key, self._of(thing[key])) for key in sorted(thing, key=repr)]
        if isinstance(thing, Set):
            return sorted(map(repr, thing))
        if is_dataclass(thing):
            return type(thing).__name__, *map(self._of, _parts(thing))
        return [self._of(one) for one in thing] if isinstance(thing, tuple | list) else thing

    def _tensor(self, tensor: Tensor) -> Any:
        number = self._met.setdefault(id(tensor), len(self.tensors))
        if number == len(self.tensors):
            self.tensors.append(tensor)
        return number, str(tensor.dtype), tuple(tensor.shape)


@dataclass(frozen=True, slots=True)
class _Step:
    """Makes one thing of `parts`; each of `holes`, (place, number), is for a tensor or for what was made before."""

    make: Make
    parts: list[Any]
    holes: list[tuple[int, int]]


class _Recipe:
    """How something is made once more with other tensors; what holds none of them is shared."""

    def __init__(self, thing: Any, tensors: Sequence[Tensor]) -> None:
        self._first = len(tensors)
        self._steps: list[_Step] = []
        self._numbers: dict[int, int | None] = {id(tensor): number for number, tensor in enumerate(tensors)}
        self._add(thing)
        self._numbers.clear()  # of things that may be gone by now

    def made_with(self, tensors: Sequence[Tensor]) -> Any:
        """Return the thing with `tensors` in the places of those that it had."""
        made: list[Any] = list(tensors)
        for step in self._steps:
            parts = step.parts.copy()
            for place, number in step.holes:
                parts[place] = made[number]
            made.append(step.make(parts))
        return made[-1]

    def _add(self, thing: Any) -> int | None:
        """Add the steps that make `thing`; return its number, None where it holds no tensor."""
        if id(thing) in self._numbers:
            return self._numbers[id(thing)]
        make, parts = _taken_apart(thing)
        numbers = [self._add(part) for part in parts]
        holes = [(place, number) for place, number in enumerate(numbers) if number is not None]
        if holes:
            kept = [part if number is None else None for part, number in zip(parts, numbers, strict=True)]
            self._steps.append(_Step(make, kept, holes))
        self._numbers[id(thing)] = self._first + len(self._steps) - 1 if holes else None
        return self._numbers[id(thing)]


def _content(prepared: Prepared) -> tuple[Any, ...]:
    """Return everything but the seed."""
    return prepared.sheet, prepared.truth, prepared.sketches


def _taken_apart(thing: Any) -> tuple[Make, list[Any]]:
    """Return what makes `thing` of its parts, and the parts."""
    if isinstance(thing, Mapping):
        keys = tuple(thing)
        return lambda parts: dict(zip(keys, parts, strict=True)), list(thing.values())
    if is_dataclass(thing) and not isinstance(thing, type):
        kind = type(thing)
        return lambda parts: kind(*parts), _parts(thing)
    return tuple, list(thing) if isinstance(thing, tuple | list) else []


def _parts(thing: Any) -> list[Any]:
    return [getattr(thing, field.name) for field in fields(thing)]
