"""Runs known mistakes one after the other on one plan, in modules that are built once.

Half of what a mistake costs would be building modules and giving them their weights. Most mistakes replace a step that
no constructor runs, so they are run in the modules of the reference; those in which a mistake leaves a mark are built
anew for the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from grader.box.observations import BuildSeen, Event, Observations
from grader.box.observe import Instance, Instances, alone, observe
from grader.box.plan import Plan
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake

_Marks = list[tuple[str, object]]
# What `state_dict` has, hooks, and `training`, which every call sets: no mark that the next call would see.
_OF_EVERY_MODULE = frozenset(vars(nn.Module()))


class MistakeRuns:
    """The mistakes of one exercise on one plan; belongs to one thread."""

    def __init__(self, exercise: Exercise, suspects: Sequence[Mistake], plan: Plan) -> None:
        self._plan, self._building = plan, replace(plan, calls=())
        self._patchable = exercise.patchable()
        self._kept, self._clean = Instances(), dict[str, _Marks]()
        self._built: dict[str, BuildSeen] = {}
        # Steps that run in a constructor leave their mark in the instance.
        self.early = self._patchable.steps_run(suspects, self._build)

    def observe(self, wrong: Mistake) -> Observations:
        """Return everything that the plan shows of one mistake."""
        with alone():
            return Observations.of(self.examine(wrong)[0])

    def examine(self, wrong: Mistake) -> tuple[list[Event], bool]:
        """Return what one mistake gives, and whether its calls leave a mark in an instance."""
        with self._patchable.replaced((wrong,)) as namespace:
            if wrong.replaces in self.early:
                instances = Instances()
                built = list(observe(self._building, lambda: namespace, instances))
                clean = _all_marks(instances)
            else:
                self._build(namespace)
                instances, built, clean = self._kept, [*self._built.values()], self._clean
            events = [*built, *observe(self._plan, lambda: namespace, instances)]
        marked = {name for name, instance in instances.items() if instance and _marks(instance) != clean[name]}
        if instances is self._kept:
            self._drop(marked)
        return events, bool(marked)

    def try_out(self, wrong: tuple[Mistake, ...], *, anew: bool) -> list[Event]:
        """Return what mistakes give together; in modules of their own if `anew`."""
        with self._patchable.replaced(wrong) as namespace:
            return list(observe(self._plan, lambda: namespace, Instances() if anew else self._kept))

    def _build(self, namespace: Mapping[str, Any]) -> None:
        """Build what is not kept."""
        missing = {build.name for build in self._building.builds} - self._kept.keys()
        if missing:
            for event in observe(self._building, lambda: namespace, self._kept):
                if isinstance(event, BuildSeen):
                    self._built[event.name] = event
            self._clean |= _all_marks({name: self._kept.get(name) for name in missing})

    def _drop(self, names: set[str]) -> None:
        for name in names:
            del self._kept[name]


def _all_marks(instances: Instances) -> dict[str, _Marks]:
    return {name: _marks(instance) for name, instance in instances.items() if instance is not None}


def _marks(instance: Instance) -> _Marks:
    """Return what calls might change in an instance: attributes and tensors, as they can be compared."""
    attributes = (
        (key, _plain(value))
        for part in instance.module.modules()
        for key, value in vars(part).items()
        if key not in _OF_EVERY_MODULE
    )
    frozen = [(key, value.requires_grad) for key, value in instance.module.named_parameters()]
    return [*attributes, *frozen, *((key, _plain(value)) for key, value in instance.module.state_dict().items())]


def _plain(value: object) -> object:
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return [(_plain(key), _plain(one)) for key, one in value.items()]
    return value if isinstance(value, bool | int | float | str | None) else type(value).__name__
