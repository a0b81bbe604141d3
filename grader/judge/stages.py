"""The steps of the reference on the case where an answer begins to differ, with the answer's own numbers beside them.

Steps are shown that have one of the usual names, and the first that differs. What an answer has for a step that comes
after that one is what the reference gives with the answer's numbers put in. The proof of the place proves these too, as
long as the answer's outputs come of them in the end; else they must be among its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.checks.compare import index_of
from grader.exercise.steps import Place, Values, magnitude
from grader.judge.arrangements import matches
from grader.judge.cause import Standing, StepSeen
from grader.judge.figures import cells
from grader.judge.scene import Node, Scene
from grader.judge.search import Found

LARGEST = 10  # rows or columns of a stage
MOST = 10  # stages of one report
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
_HIDDEN_BY = 40.0  # as in `arrangements`


def stages(scene: Scene, found: Found, where: Callable[[int], str]) -> tuple[StepSeen, ...]:
    """Return the steps, in the order of the reference; `where` puts a line into words."""
    told = _Told(scene, found, where, _after(scene, found), _lead(scene, found))
    return tuple([*told.arguments(), *told.steps()][:MOST])


def _after(scene: Scene, found: Found) -> Values:
    """Return what the steps of the reference give with the answer's numbers put in."""
    ran = scene.replay.run(found.first.values) if found.first is not None else None
    return ran.values if ran is not None else {}


def _lead(scene: Scene, found: Found) -> tuple[int, ...]:
    """Return the example, and the head, in which the first step that differs is furthest off."""
    if found.first is None:
        return ()
    place = next(iter(found.first.nodes))
    off = (found.first.values[place] - scene.places[place]).nan_to_num(torch.inf).abs()
    if off.dim() <= 2:
        return ()
    most = int(off.flatten(-2).amax(dim=-1).argmax())
    return index_of(most, off.shape[:-2])


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """What is needed to tell a step: see `stages`."""

    scene: Scene
    found: Found
    where: Callable[[int], str]
    after: Values
    lead: tuple[int, ...]

    def arguments(self) -> Iterator[StepSeen]:
        """Yield the queries, keys and values that a call was given."""
        for node in self.scene.nodes:
            if (name := _ARGUMENTS.get(node.argument)) and node.values.dim() > 1:
                matrix = _rounded(self._cut(node.values))
                yield StepSeen(name, f"The argument `{node.argument}`", "given", matrix, matrix)

    def steps(self) -> Iterator[StepSeen]:
        """Yield the steps that are shown."""
        split = any(place.step == "split" and place not in self.scene.echoes for place in self.scene.places)
        for place, truth in self.scene.places.items():
            name = _name(place, split=split)
            is_first = self.found.first is not None and place in self.found.first.nodes
            if truth.dim() > 0 and (is_first or (name and place not in self.scene.echoes)):
                yield self._stage(place, name, truth)

    def _stage(self, place: Place, name: str, truth: Tensor) -> StepSeen:
        standing, values, node = self._yours(place, truth)
        expected, yours = self._cut(truth), None if values is None else self._cut(values)
        wrong = () if yours is None else cells(_differs(yours, expected, self.scene.tolerance))
        return StepSeen(
            name,
            self.scene.replay.steps.titles[place.step],
            standing,
            _rounded(expected),
            () if yours is None else _rounded(yours),
            wrong,
            self.where(node.line) if node is not None and node.line else "",
        )

    def _yours(self, place: Place, truth: Tensor) -> tuple[Standing, Tensor | None, Node | None]:
        """Return how a step stands, the answer's numbers for it, and the tensor that holds them; None for unknown."""
        first, scene = self.found.first, self.scene
        if first is not None and place in first.nodes:
            return "first", first.values[place], first.nodes[place]
        now = self.after.get(place)
        if now is not None and now.shape == truth.shape and bool(_differs(now, truth, scene.tolerance).any()):
            node = self._holder(now)
            return ("follows", now, node) if node is not None or self.found.whole else ("unknown", None, None)
        if place in scene.found:
            return "right", truth, scene.found[place]
        return ("inside" if place in scene.settled else "unknown"), None, None

    def _holder(self, values: Tensor) -> Node | None:
        """Return the answer's tensor that has these numbers."""
        tolerance = self.scene.tolerance
        results = (node for node in self.scene.nodes if node.line)
        return next((node for node in results if matches(node.values, values, tolerance, total=node.total)), None)

    def _cut(self, values: Tensor) -> Tensor:
        """Return the one matrix of a tensor that is drawn, its upper left corner."""
        matrix = values if values.dim() > 1 else values.unsqueeze(0)
        for axis in range(matrix.dim() - 2):
            chosen = self.lead[axis] if axis < len(self.lead) else 0
            matrix = matrix[min(chosen, matrix.shape[0] - 1)]
        return matrix[:LARGEST, :LARGEST].double()


def _name(place: Place, *, split: bool) -> str:
    """Return what a step's result is called; where heads are split, queries, keys and values are those of a head."""
    step = place.step.rpartition(".")[2]
    if step == "split" and place.turn < len(_PROJECTED):
        return _PROJECTED[place.turn]
    if step == "project" and not split and place.part < len(_PROJECTED):
        return _PROJECTED[place.part]
    return _NAMES.get(step, "")


def _differs(yours: Tensor, expected: Tensor, tolerance: float) -> Tensor:
    """Return which numbers differ; where -inf is expected, anything far below the others will do."""
    allowed = tolerance * magnitude(expected)
    near = (yours == expected) | ((yours - expected).abs() <= allowed) | (yours.isnan() & expected.isnan())
    visible = yours[expected.isfinite() & yours.isfinite()]
    least = float(visible.min()) if visible.numel() else 0.0
    return ~(near | ((expected == -torch.inf) & (yours <= least - _HIDDEN_BY)))


def _rounded(matrix: Tensor) -> tuple[tuple[float, ...], ...]:
    """Return a matrix with five digits a cell."""
    return tuple(tuple(float(f"{value:.5g}") for value in row) for row in matrix.tolist())
