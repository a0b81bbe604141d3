"""The reference step by step: what each of its steps gives, and what follows where one gives something else.

A step is a function of the reference's module, or a method of a class there, but for the entry points themselves: the
same steps that mistakes replace.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from grader.exercise.mistakes import functions_of, load

_SHAPE = re.compile(r", \([^()]*\)$")  # the shape at the end of a docstring's first line


@dataclass(frozen=True, slots=True)
class Node:
    """One tensor that a step gives: which call of the step it is from, and which of the tensors returned there."""

    step: str
    turn: int = 0
    part: int = 0


Values = Mapping[Node, Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class StepTrace:
    """What the steps of one run gave: the nodes of all results in their order, and the values of real tensors.

    `gradients` are those that came back to results in a backward pass.
    """

    order: list[Node]
    values: dict[Node, Tensor]
    gradients: dict[Node, Tensor]


class Steps:
    """One reference, executed afresh, whose steps are watched; belongs to one thread."""

    def __init__(self, reference: CodeType, entries: Collection[str]) -> None:
        """Watch the steps of `reference`, whose entry points are called `entries`."""
        self._module = load(reference)
        self._trace = StepTrace([], {}, {})
        self._sent: Values | None = None
        self._values: Values = {}
        self._perturbed: Node | None = None
        self._turns: Counter[str] = Counter()
        self._objects: list[Tensor] = []  # as they were given, kept so that they can be told apart
        self._made: dict[int, list[Node]] = defaultdict(list)  # by object: all that are given stay alive meanwhile
        self._running: list[str] = []
        self.titles: dict[str, str] = {}
        self.inside: dict[str, set[str]] = defaultdict(set)  # the steps that run inside of each, as far as was seen
        self.takers: dict[Node, set[str]] = defaultdict(set)  # the steps that are handed each result
        for owner, name, function, step in list(functions_of(self._module)):
            is_entry = step in entries or (name == "forward" and step.partition(".")[0] in entries)
            if not is_entry and not name.startswith("__"):
                self.titles[step] = title_of(function)
                setattr(owner, name, self._watched(step, function))

    @property
    def namespace(self) -> Mapping[str, Any]:
        """What the reference defines; what is called in there is watched."""
        return self._module.__dict__

    def watch(
        self,
        run: Callable[[], object],
        values: Values | None = None,
        perturbed: Node | None = None,
        *,
        sent: Values | None = None,
    ) -> StepTrace:
        """Return what steps give while `run` goes on, with `values` in the place of their own, or one `perturbed`.

        With `sent`, gradients are watched as well, and those in it are sent back in the place of a result's own.
        """
        self._trace, self._turns = StepTrace([], {}, {}), Counter()
        self._values, self._perturbed, self._sent = values or {}, perturbed, sent
        try:
            run()
        finally:
            self._objects.clear()
            self._made.clear()
        return self._trace

    def _watched(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def watched(*arguments: Any, **options: Any) -> Any:
            inside = len(self._objects)
            self._take(step, arguments)
            for outer in self._running:
                self.inside[outer].add(step)
            self._running.append(step)
            try:
                result = function(*arguments, **options)
            finally:
                self._running.pop()
            turn = self._turns[step]
            self._turns[step] += 1
            if isinstance(result, tuple):
                return tuple(self._note(Node(step, turn, part), value, inside) for part, value in enumerate(result))
            return self._note(Node(step, turn), result, inside)

        return watched

    def _take(self, step: str, arguments: tuple[Any, ...]) -> None:
        """Take note of whose results a step is handed."""
        for one in arguments:
            for node in self._made.get(id(one), ()):
                self.takers[node].add(step)

    def _note(self, node: Node, value: Any, inside: int) -> Any:
        """Take note of what a step gives, unless a step inside of it gave the same tensor."""
        if isinstance(value, str):
            return value  # a name that was checked and handed on: nothing that an answer's numbers could differ in
        is_tensor = isinstance(value, Tensor)
        if is_tensor and any(value is other for other in self._objects[inside:]):
            return value
        if node in self._values:
            value = self._values[node].to(value)
        if node == self._perturbed:
            value = perturb(value)
        if is_tensor:
            self._objects.append(value)
            self._made[id(value)].append(node)
            if value.is_floating_point():
                self._trace.values[node] = value.detach().to(torch.float64).clone()
            if self._sent is not None and value.requires_grad:
                value.register_hook(partial(self._came_back, node, self._trace.gradients, self._sent.get(node)))
        self._trace.order.append(node)
        return value

    @staticmethod
    def _came_back(node: Node, kept: dict[Node, Tensor], sent: Tensor | None, gradient: Tensor) -> Tensor | None:
        kept[node] = gradient.detach().to(torch.float64).clone()
        return sent.to(gradient) if sent is not None else None


def perturb(value: Any) -> Any:
    """Return other values of the same kind, so that it shows what depends on them.

    Raises:
        TypeError: there are none, as of None.
    """
    if isinstance(value, Tensor):
        if value.dtype == torch.bool:
            return ~value
        steps = torch.linspace(0.5, 1.5, value.numel(), dtype=torch.float64).reshape(value.shape)
        return (
            value + (steps * magnitude(value.detach().double())).to(value) if value.is_floating_point() else value + 1
        )
    if isinstance(value, list):
        return [perturb(one) for one in value]
    return not value if isinstance(value, bool) else value * 1.5 + 0.5 if isinstance(value, float) else value + 1


def magnitude(values: Tensor) -> float:
    """Return the largest finite magnitude, at least the smallest positive number."""
    finite = values[values.isfinite()]
    return max(float(finite.abs().max()) if finite.numel() else 0.0, 1e-300)


def title_of(function: Callable[..., Any]) -> str:
    """Return what a step does, the first line of its docstring, without a shape at its end."""
    first = inspect.cleandoc(function.__doc__ or "").partition("\n")[0].rstrip(".")
    return _SHAPE.sub("", first)
