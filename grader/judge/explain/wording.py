"""Puts into words where an answer begins to differ from the reference; what is quoted is the reference's or ours.

Beside the sentences stand the steps of the reference on that case, with the answer's own numbers: those that have one
of the usual names, and the first that differs. What an answer has for a step that comes after that one is what the
reference gives with the answer's numbers put in. The proof of that step proves these too, as long as the answer's
outputs come of them in the end; else they must be among its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.checks.compare import index_of
from grader.exercise.steps import Node, Values, magnitude
from grader.judge.explain.alignment import (
    HIDDEN_BY,
    Alignment,
    TracedTensor,
    same,
    same_numbers,
)
from grader.judge.explain.search import Divergence, RightOnly
from grader.judge.figures import cells
from grader.judge.report import Location, Standing, StepSeen
from grader.judge.text import capitalised

_MOST_STEPS = 2  # that one sentence names
_MOST_RIGHT = 2  # results that are right
_MOST_EARLIER = 2  # lines that may be wrong already
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_NO_MORE = (
    "Nothing computed from them equals a later result of the reference, so check what your code does with them next."
)
Where = Callable[[int], str]  # a line of the source in words


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """Words for one case.

    Attributes:
        alignment: the answer beside the reference on that case.
        case: its title.
        where: puts a line into words.
    """

    alignment: Alignment
    case: str
    where: Where

    def right_only(self, result: RightOnly) -> Location:
        """Return what the student is told where only right results can be shown."""
        last = max((tensor.line for tensor in result.right.values() if tensor.line), default=None)
        title = f"Your results are right up to {self.where(last)}" if last else "Your results are right at first"
        message = f"In the case “{self.case}”: {self._right(result)} {_NO_MORE}"
        return Location("", f"{title}, in the case “{self.case}”", message)

    def divergence(self, first: Divergence) -> Location:
        """Return what the student is told of the first step that differs."""
        line = min((line for node in first.wrong if (line := first.tensors[node].line)), default=None)
        if first.is_left_behind:
            said = [self._left_behind(first)]
        else:
            shared = f"{capitalised(self._lines(first.shared))} gives right results as well: check what it is given."
            said = [self._differs(first), shared if first.shared and not first.duplicates else "", self._right(first)]
        if first.missing:
            early = ", was computed before the call" if 0 in first.lines else ""
            said.append(
                f"Before that, nothing in your code equals {self._steps(first.missing)}: "
                f"it is part of another line{early}, or wrong as well."
            )
        if first.whole:
            said.append("The steps after it are right.")
        message = " ".join([f"In the case “{self.case}”, {said[0]}", *(text for text in said[1:] if text)])
        return Location(first.step, self._title(first), message, first.shared.get(line or 0) or line)

    def _title(self, first: Divergence) -> str:
        wrong = {first.tensors[node].line for node in first.wrong} - {0}
        where = self._lines(wrong)
        title = f"Your results become wrong at {where}"
        if first.is_left_behind:
            if wrong and first.is_moved:
                right = self._lines(tensor.line for tensor in first.bypassed.values())
                return f"The result of {where} is used where that of {right} belongs"
            return f"A right result is changed, or not used{f': see {where}' if where else ''}"
        if first.bypassed:
            return title
        if not where:
            return "A step is missing, or changes nothing: your code uses an argument unchanged"
        if first.is_left_out:
            return f"A step is missing after {where}, or changes nothing"
        if first.duplicates:
            return f"{capitalised(self._lines(first.duplicates))} give the same numbers"
        if first.exchanged:
            return f"{title}, or the results of {self._lines(first.exchanged)} are swapped before"
        if any(first.shared.values()):
            return f"{title}, called from {self._lines(first.shared.values())}"
        earlier = first.lines - wrong
        if first.shared or 0 in earlier or len(earlier) > _MOST_EARLIER:
            return f"{title} or earlier"
        return f"{title}, or already at {self._lines(earlier)}" if earlier else title

    def _differs(self, first: Divergence) -> str:
        what, sources = self._step_and_part(first), self._sources(first.tensors[node] for node in first.wrong)
        if first.is_left_out:
            return f"instead of {what}, your code uses the numbers of {sources} unchanged."
        if first.duplicates:
            lines = self._lines(first.duplicates)
            return f"{lines} give the same numbers, and one of them should give those for {what}."
        return f"the numbers for {what}, at {sources}, are wrong{self._how(first, 'they')}."

    def _left_behind(self, first: Divergence) -> str:
        what, origins = self._step_and_part(first), {origin.step for origin in first.origins.values()}
        if len(origins) == 1 and first.origins.keys() == first.tensors.keys():
            what = self._quoted(origins.pop())  # what merely passes its numbers on is not where they were made
        right = self._lines(tensor.line for tensor in first.bypassed.values())
        return (
            f"your numbers for {what} are right ({right}), but your code goes on "
            f"with other numbers, at {self._sources(first.tensors.values())}{self._how(first, 'these')}."
        )

    def _how(self, first: Divergence, they: str) -> str:
        """Return which other step's numbers they are, or in what way they differ; empty where neither can be told."""
        pairs = [(first.values[node], truth) for node, truth in first.expected.items()]
        other = {node.step for node in first.stands_for.values()}
        is_one = len(first.stands_for) == len(pairs) and len(other) == 1 and first.step not in other
        if is_one and not all(same_numbers(*pair) for pair in pairs):  # a mere other arrangement is no other step's
            return f": {they} equal the right numbers for {self._quoted(other.pop())}"
        said = difference(pairs, self.alignment.tolerance)
        return f": they {said}" if said else ""

    def _right(self, result: Divergence | RightOnly) -> str:
        lines: dict[str, list[int]] = {}
        for node, tensor in result.right.items():
            lines.setdefault(node.step, []).extend([tensor.line] if tensor.line else [])
        said = [f"{self._quoted(step)} ({self._lines(numbers)})" for step, numbers in lines.items() if numbers]
        return f"Right until then: {_enumerated(said[-_MOST_RIGHT:])}." if said else ""

    def _step_and_part(self, first: Divergence) -> str:
        parts = sorted({node.part for node in first.tensors})
        step = self._quoted(first.step)
        if first.parts < 2 or len(parts) == first.parts or parts[-1] >= len(_ORDINALS):
            return step
        return f"{step} (the {_enumerated([_ORDINALS[part] for part in parts])} of its {first.parts} results)"

    def _steps(self, steps: Sequence[str]) -> str:
        more = [f"{len(steps) - _MOST_STEPS} more"] if len(steps) > _MOST_STEPS else []
        return _enumerated([*map(self._quoted, steps[:_MOST_STEPS]), *more])

    def _quoted(self, step: str) -> str:
        return f"“{self.alignment.replay.steps.titles[step]}”"

    def _sources(self, tensors: Iterable[TracedTensor]) -> str:
        """Return where tensors come from: lines, or arguments by their names in the contract."""
        several = list(tensors)
        lines = self._lines(tensor.line for tensor in several)
        arguments = dict.fromkeys(f"the argument `{tensor.argument}`" for tensor in several if tensor.argument)
        return _enumerated([*([lines] if lines else []), *arguments])

    def _lines(self, lines: Iterable[int]) -> str:
        return _enumerated([self.where(line) for line in sorted(set(lines)) if line])


def _enumerated(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


Pairs = Sequence[tuple[Tensor, Tensor]]  # the answer's tensor and the reference's, of one shape


def difference(pairs: Pairs, tolerance: float) -> str:
    """Return how the first of each pair differs from the second, as the end of a sentence about them; often nothing."""
    for way in (_nan, _factor, _offset, _transposed, _hidden, _sums, _elsewhere):
        said = {way(values, truth, tolerance) for values, truth in pairs}
        if len(said) == 1 and (text := said.pop()):
            return text
    return ""


def _nan(values: Tensor, truth: Tensor, tolerance: float) -> str:
    return "hold NaN" if bool(values.isnan().any()) and not bool(truth.isnan().any()) else ""


def _factor(values: Tensor, truth: Tensor, tolerance: float) -> str:
    used = truth.isfinite() & (truth != 0)
    if int(used.sum()) < 3:
        return ""
    largest = truth[used].abs().argmax()
    factor = float(values[used][largest] / truth[used][largest])
    if factor in (0.0, 1.0) or factor != factor or not same(values, truth * factor, tolerance):
        return ""
    few = f"{factor:.4g}"
    return f"are {factor:.10g} times the reference's" if few == "1" else f"are {few} times the reference's"


def _offset(values: Tensor, truth: Tensor, tolerance: float) -> str:
    used = truth.isfinite()
    if int(used.sum()) < 3:
        return ""
    offset = float((values - truth)[used].median())
    if offset == 0 or offset != offset or not same(values, truth + offset, tolerance):
        return ""
    return f"are each {abs(offset):.4g} {'more' if offset > 0 else 'less'} than the reference's"


def _transposed(values: Tensor, truth: Tensor, tolerance: float) -> str:
    if truth.dim() < 2 or truth.shape[-1] != truth.shape[-2] or not same(values.transpose(-2, -1), truth, tolerance):
        return ""
    return "are transposed"


def _hidden(values: Tensor, truth: Tensor, tolerance: float) -> str:
    """Say that all that is wrong is which places are hidden, by -inf in scores or by 0 in weights."""
    hides = -torch.inf if bool((truth == -torch.inf).any()) else 0.0
    hidden, hides_too = truth == hides, values == hides
    shown, lost = int((hidden & ~hides_too).sum()), int((hides_too & ~hidden).sum())
    either = hidden | hides_too
    if not (shown or lost) or not same(values.masked_fill(either, 0.0), truth.masked_fill(either, 0.0), tolerance):
        return ""
    name = "-inf" if hides else "0"
    said = [f"differ in {shown} of the {int(hidden.sum())} places that must be {name}"] if shown else []
    said += [f"are {name} in {lost} places that must not be"] if lost else []
    return " and ".join(said) + ", and are right everywhere else"


def _sums(values: Tensor, truth: Tensor, tolerance: float) -> str:
    """Say along which axis weights add up to one, if not along the last."""
    if truth.dim() < 2 or not _adds_up(truth, -1, tolerance) or _adds_up(values, -1, tolerance):
        return ""
    others = (axis for axis in range(-2, -truth.dim() - 1, -1) if truth.shape[axis] > 1)
    axis = next((axis for axis in others if _adds_up(values, axis, tolerance)), None)
    if axis is None:
        return "do not add up to one along each row (the last axis), as the reference's do"
    name = "down each column (axis -2)" if axis == -2 else f"along axis {axis}"
    return f"add up to one {name}, and not along each row (the last axis)"


def _adds_up(values: Tensor, axis: int, tolerance: float) -> bool:
    sums = values.sum(axis)
    return bool((values >= 0).all()) and torch.allclose(
        sums, torch.ones_like(sums), rtol=0.0, atol=max(tolerance, 1e-9) * 10
    )


def _elsewhere(values: Tensor, truth: Tensor, tolerance: float) -> str:
    return "are the reference's numbers in different places" if same_numbers(values, truth, tolerance) else ""


LARGEST_STAGE = 10  # rows or columns
MOST_STAGES = 10  # of one report
_PROJECTED = ("queries", "keys", "values")
_NAMES = {
    "scores_of": "scores",
    "scale": "scaled",
    "hide_future": "masked",
    "apply_mask": "masked",
    "normalise": "weights",
    "mix": "output",
}
_ARGUMENTS = {"query": "queries", "key": "keys", "value": "values"}


def stages(alignment: Alignment, result: Divergence | RightOnly, where: Where) -> tuple[StepSeen, ...]:
    """Return the steps, in the order of the reference, one example and one head of each; `where` words a line."""
    after, shown = None, tuple[int, ...]()
    if isinstance(result, Divergence):
        after, node = alignment.with_values(result.values), next(iter(result.tensors))
        off = (result.values[node] - alignment.expected[node]).nan_to_num(torch.inf).abs()
        if off.dim() > 2:  # the example, and the head, in which the first step that differs is furthest off
            shown = index_of(int(off.flatten(-2).amax(dim=-1).argmax()), off.shape[:-2])
    stage = _Stages(alignment, result, where, after.values if after is not None else {}, shown)
    return tuple([*stage.arguments(), *stage.steps()][:MOST_STAGES])


@dataclass(frozen=True, slots=True, eq=False)
class _Stages:
    """What is needed to show a step: see `stages`.

    `after` is what the reference gives with the answer's numbers put in, `shown` the example and head that are drawn.
    """

    alignment: Alignment
    result: Divergence | RightOnly
    where: Where
    after: Values
    shown: tuple[int, ...]

    def arguments(self) -> Iterator[StepSeen]:
        """Yield the queries, keys and values that a call was given."""
        for tensor in self.alignment.tensors:
            if (name := _ARGUMENTS.get(tensor.argument)) and tensor.values.dim() > 1:
                matrix = _rounded(self._cut(tensor.values))
                yield StepSeen(name, f"The argument `{tensor.argument}`", "given", matrix, matrix)

    def steps(self) -> Iterator[StepSeen]:
        """Yield the steps that are shown."""
        new = [node for node in self.alignment.expected if node not in self.alignment.repeats]
        split = any(node.step == "split" for node in new)
        first = self.result.tensors if isinstance(self.result, Divergence) else {}
        for node, truth in self.alignment.expected.items():
            name = _name(node, split=split)
            if truth.dim() > 0 and (node in first or (name and node in new)):
                yield self._stage(node, name, truth)

    def _stage(self, node: Node, name: str, truth: Tensor) -> StepSeen:
        standing, values, tensor = self._yours(node, truth)
        expected, yours = self._cut(truth), None if values is None else self._cut(values)
        wrong = () if yours is None else cells(differs(yours, expected, self.alignment.tolerance))
        return StepSeen(
            name,
            self.alignment.replay.steps.titles[node.step],
            standing,
            _rounded(expected),
            () if yours is None else _rounded(yours),
            wrong,
            self.where(tensor.line) if tensor is not None and tensor.line else "",
        )

    def _yours(self, node: Node, truth: Tensor) -> tuple[Standing, Tensor | None, TracedTensor | None]:
        """Return how a step stands, the answer's numbers for it, and the tensor that holds them; None for unknown."""
        alignment, tolerance, whole = self.alignment, self.alignment.tolerance, False
        if isinstance(self.result, Divergence):
            whole = self.result.whole
            if node in self.result.tensors:
                return "first", self.result.values[node], self.result.tensors[node]
        now = self.after.get(node)
        if now is not None and now.shape == truth.shape and bool(differs(now, truth, tolerance).any()):
            results = (one for one in alignment.tensors if one.line)
            tensor = next((one for one in results if alignment.arrangement(one, now)), None)
            return ("follows", now, tensor) if tensor is not None or whole else ("unknown", None, None)
        if node in alignment.matched:
            return "right", truth, alignment.matched[node]
        return ("inside" if node in alignment.confirmed else "unknown"), None, None

    def _cut(self, values: Tensor) -> Tensor:
        """Return the one matrix of a tensor that is drawn, its upper left corner."""
        matrix = values if values.dim() > 1 else values.unsqueeze(0)
        for axis in range(matrix.dim() - 2):
            chosen = self.shown[axis] if axis < len(self.shown) else 0
            matrix = matrix[min(chosen, matrix.shape[0] - 1)]
        return matrix[:LARGEST_STAGE, :LARGEST_STAGE].double()


def _name(node: Node, *, split: bool) -> str:
    """Return what a node is called; where heads are split, queries, keys and values are those of a head."""
    step = node.step.rpartition(".")[2]
    if step == "split" and node.turn < len(_PROJECTED):
        return _PROJECTED[node.turn]
    if step == "project" and not split and node.part < len(_PROJECTED):
        return _PROJECTED[node.part]
    return _NAMES.get(step, "")


def differs(yours: Tensor, expected: Tensor, tolerance: float) -> Tensor:
    """Return which numbers differ; where -inf is expected, anything far below the others will do."""
    allowed = tolerance * magnitude(expected)
    near = (yours == expected) | ((yours - expected).abs() <= allowed) | (yours.isnan() & expected.isnan())
    visible = yours[expected.isfinite() & yours.isfinite()]
    least = float(visible.min()) if visible.numel() else 0.0
    return ~(near | ((expected == -torch.inf) & (yours <= least - HIDDEN_BY)))


def _rounded(matrix: Tensor) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(f"{value:.5g}") for value in row) for row in matrix.tolist())
