"""What known mistakes gave before: for searches that go through the same mistakes, with the same exercise and seed.

What a mistake gives depends on the plan and not on the submission that is held against it. Students have seeds of their
own, so only the gate and the tests of the examples remember.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from itertools import count
from typing import Any, TypeVar

from grader.box.observations import Event
from grader.box.plan import Plan

_Found = TypeVar("_Found")
Memory = dict[Hashable, Any]


def plan_key(plan: Plan) -> Hashable:
    """Return what tells a plan from the others of the same exercise and seed."""
    calls = tuple((call.name, call.dtype, bool(call.grad_outputs)) for call in plan.calls)
    return calls, tuple((build.name, build.dtype) for build in plan.builds)


class Begun:
    """The events of a run that goes on only as far as somebody looks, and does nothing twice."""

    def __init__(self, run: Iterator[Event]) -> None:
        self._run = run
        self._told: list[Event] = []

    def events(self) -> Iterator[Event]:
        """Yield the events from the first one on."""
        for place in count():
            if place == len(self._told):
                if (event := next(self._run, None)) is None:
                    return
                self._told.append(event)
            yield self._told[place]


def recalled(memory: Memory | None, key: Hashable, make: Callable[[], _Found]) -> _Found:
    """Return what `make` gives; a memory has it under `key` after the first time."""
    if memory is None:
        return make()
    if key not in memory:
        memory[key] = make()
    found: _Found = memory[key]
    return found


def begun(memory: Memory | None, key: Hashable, run: Callable[[], Iterator[Event]]) -> Iterator[Event]:
    """Return the events of `run`; a memory has what was seen of it under `key`."""
    return run() if memory is None else recalled(memory, key, lambda: Begun(run())).events()
