"""What each known mistake gives on the plain calls of one seed, in a few numbers.

A sketch tells in microseconds which mistakes cannot explain an answer. It is made before anybody hands in, because it
depends on the seed and not on the answer. For each output of a call it holds the number of NaN, the sum of the signs of
the infinities, and two weighted sums of the finite elements. Calls that agree have sketches that agree, unless a module
keeps something from one call to the next; so whoever finds nothing among the likely mistakes still tries the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch import Tensor

from grader.box.keys import BASE, variant_of
from grader.box.observations import CallSeen, Observations, Seen, Stage
from grader.box.plan import Plan
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake
from grader.judge.mistake_runs import MistakeRuns
from grader.judge.sheet import Sheet

_NUMBERS = 4  # of each output
_LOOSE = 1e-7  # relative to the largest element, for each element; calls that agree differ by far less
_LARGEST = 1e150  # of an element, so that sums stay finite
_ENDED = torch.tensor([-1.0, 0.0, 0.0, 0.0], dtype=torch.float64)  # of an output that never came
_NO_TENSOR = torch.tensor([-2.0, 0.0, 0.0, 0.0], dtype=torch.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Sketches:
    """The sketches of one seed.

    Attributes:
        outputs: the calls with the keys of their outputs, in the order of `values`.
        mistakes: the names of the mistakes.
        values: float64, (mistake, output, number); NaN for a mistake that was not run.
    """

    outputs: tuple[tuple[str, str], ...]
    mistakes: tuple[str, ...]
    values: Tensor

    def likely(self, suspects: Collection[Mistake], observed: Observations, calls: Collection[str]) -> list[Mistake]:
        """Return those of `suspects` whose sketches are those of `observed` in all of `calls` that were finished.

        Where there are some, those that were not run may be as well: who left them out would name one of several.
        """
        compared = [name in calls and name in observed.calls for name, _ in self.outputs]
        seen = [
            _sketch(observed.calls[name], key) if used else (_ENDED, 0.0)
            for (name, key), used in zip(self.outputs, compared, strict=True)
        ]
        if not seen:
            return []
        numbers = torch.stack([one for one, _ in seen])
        allowed = torch.tensor([slack for _, slack in seen], dtype=torch.float64)
        near = (self.values - numbers).abs().amax(dim=-1) <= allowed
        agrees = (near | ~torch.tensor(compared)).all(dim=-1)
        if not agrees.any():
            return []
        left = agrees | self.values.isnan().flatten(1).any(dim=1)
        fitting = {name for name, fits in zip(self.mistakes, left.tolist(), strict=True) if fits}
        return [wrong for wrong in suspects if wrong.name in fitting]


def blank_sketches(exercise: Exercise, sheet: Sheet) -> Sketches:
    """Return sketches without numbers, for every known mistake on the plain calls of `sheet`."""
    outputs = tuple((call.name, slot.key) for call in _plain(sheet).calls for slot in call.outputs)
    names = tuple(wrong.name for wrong in exercise.mistakes)
    return Sketches(outputs, names, torch.full((len(names), len(outputs), _NUMBERS), torch.nan, dtype=torch.float64))


def sketch_all(exercise: Exercise, sheet: Sheet, sketches: Sketches, go_on: Callable[[], bool] = lambda: True) -> None:
    """Run each known mistake on the plain calls of `sheet` and fill `sketches` in, as long as `go_on` says yes."""
    runs = MistakeRuns(exercise, exercise.mistakes, _plain(sheet))
    for wrong, row in zip(exercise.mistakes if sketches.outputs else (), sketches.values, strict=False):
        if not go_on():
            return
        given = runs.observe(wrong).calls
        row.copy_(torch.stack([_given(given, name, key) for name, key in sketches.outputs]))


def _plain(sheet: Sheet) -> Plan:
    """Return the plan of the plain calls that count, in evaluation mode, without their backward passes."""
    plan = sheet.plan.untrained()
    unwanted = {build.name for build in plan.builds if build.must_raise}
    calls = tuple(
        replace(call, grad_outputs=(), wants=(), max_elements=0)
        for call in plan.calls
        if variant_of(call.name) == BASE
        and call.dtype == "float64"
        and call.name not in sheet.free
        and call.build not in unwanted
        and not (call.training or call.reads_weights)
    )
    used = {call.build for call in calls}
    return replace(plan, calls=calls, builds=tuple(b for b in plan.builds if b.name in used), initial_of=())


def _given(calls: Mapping[str, CallSeen], name: str, key: str) -> Tensor:
    return _sketch(calls[name], key)[0] if name in calls else _ENDED


def _sketch(seen: CallSeen, key: str) -> tuple[Tensor, float]:
    """Return the numbers of one output, and by how much each of them may differ."""
    if seen.raised is not None and seen.raised.stage is not Stage.BACKWARD:
        return _ENDED, 0.0
    found: Seen | None = seen.slots.get(key)
    if found is None or found.tensor is None:
        return _NO_TENSOR, 0.0
    elements = found.tensor.double().reshape(-1)
    finite = elements.nan_to_num(0.0, 0.0, 0.0).clamp(-_LARGEST, _LARGEST)
    nan, infinite = elements.isnan(), elements.isinf()
    signs = elements.sign().where(infinite, 0.0)
    counts = torch.stack([nan.sum(dtype=torch.float64), signs.sum()])
    size = elements.numel()
    slack = _LOOSE * size * float(finite.abs().max()) if size else 0.0
    return torch.cat([counts, _weights(size) @ finite]), slack


@lru_cache(maxsize=256)
def _weights(size: int) -> Tensor:
    """Return two rows of weights between -1 and 1, the same ones in every process."""
    drawn = torch.rand(2, size, generator=torch.Generator().manual_seed(size), dtype=torch.float64)
    return 2.0 * drawn - 1.0
