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
        walk = _Walk(prepared)
        self._layout = _Layout(walk.tensors)
        self._steps = walk.steps
        self.size = self._layout.size
        self.digest = walk.digest

    def numbers(self, prepared: Prepared) -> bytearray:
        """Return the numbers of a seed.

        Raises:
            AuthorError: it has another outline, since the exercise draws more than numbers from a seed.
        """
        walk = _Walk(prepared)
        if walk.digest != self.digest:
            raise AuthorError(f"seed {prepared.seed} gives other calls, shapes or scalars than the seed before it")
        data = bytearray(self.size)
        for place, tensor in zip(self._layout.tensors(data), walk.tensors, strict=True):
            place.copy_(tensor)
        return data

    def filled(self, seed: int, numbers: bytearray) -> Prepared:
        """Return what `numbers` was made of; its tensors are views of `numbers`.

        Raises:
            ValueError: they are too few or too many.
        """
        if len(numbers) != self.size:
            raise ValueError(f"{len(numbers)} bytes of numbers, where the outline needs {self.size}")
        return Prepared(seed, *_made(self._steps, self._layout.tensors(numbers)))


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


@dataclass(frozen=True, slots=True)
class _Step:
    """Makes one thing of `parts`; each of `holes`, (place, number), is for what an earlier step has given."""

    make: Make
    parts: list[Any]
    holes: list[tuple[int, int]]


class _Walk:
    """One walk over a sheet with all that was found for it.

    Attributes:
        tensors: in the order in which they are met.
        steps: how all of it is made once more with other tensors; None stands for the next of those. What holds no
            tensor is shared.
        digest: over everything but the seed and the numbers.
    """

    def __init__(self, prepared: Prepared) -> None:
        self.tensors: list[Tensor] = []
        self.steps: list[_Step | None] = []
        self._met: dict[int, tuple[int | None, str]] = {}
        _, text = self._add((prepared.sheet, prepared.truth, prepared.sketches))
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:16]

    def _add(self, thing: Any) -> tuple[int | None, str]:
        """Add the steps that make `thing`; return the last one's number, None if it holds no tensor, and a text."""
        if id(thing) in self._met:
            return self._met[id(thing)]
        number, text = self._added(thing)
        self._met[id(thing)] = number, text if number is None else f"number {number}"
        return number, text

    def _added(self, thing: Any) -> tuple[int | None, str]:
        if isinstance(thing, Tensor):
            self.tensors.append(thing)
            self.steps.append(None)
            return len(self.steps) - 1, f"{thing.dtype} {tuple(thing.shape)}"
        kind, make, parts = _taken_apart(thing)
        added = [self._add(part) for part in parts]
        text = f"{kind}({', '.join(text for _, text in added)})"
        holes = [(place, number) for place, (number, _) in enumerate(added) if number is not None]
        if not holes:
            return None, text
        kept = [part if number is None else None for part, (number, _) in zip(parts, added, strict=True)]
        self.steps.append(_Step(make, kept, holes))
        return len(self.steps) - 1, text


def _made(steps: Sequence[_Step | None], tensors: Iterable[Tensor]) -> Any:
    """Return what `steps` make of `tensors`."""
    made: list[Any] = []
    following = iter(tensors)
    for step in steps:
        if step is None:
            made.append(next(following))
            continue
        parts = step.parts.copy()
        for place, number in step.holes:
            parts[place] = made[number]
        made.append(step.make(parts))
    return made[-1]


def _taken_apart(thing: Any) -> tuple[str, Make, list[Any]]:
    """Return what names a thing but for its parts, what makes it of them, and the parts."""
    if id(thing) in _CHECK_NAMES:
        return _CHECK_NAMES[id(thing)], tuple, []
    if isinstance(thing, Mapping):
        keys = tuple(thing)
        return repr(keys), lambda parts: dict(zip(keys, parts, strict=True)), list(thing.values())
    if is_dataclass(thing) and not isinstance(thing, type):
        kind = type(thing)
        return kind.__name__, lambda parts: kind(*parts), [getattr(thing, field.name) for field in fields(thing)]
    if isinstance(thing, tuple | list):
        return "", tuple, list(thing)
    return repr(sorted(map(repr, thing)) if isinstance(thing, Set) else thing), tuple, []
