"""Runs trusted code in this very process: the reference, known mistakes, and benchmarks. No walls at all."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from grader.box import loading
from grader.box.cancel import CancelToken
from grader.box.drivers import driver
from grader.box.observations import BuildSeen, CallSeen, Event, Observations
from grader.box.observe import Instance, Instances, Load, alone, observe
from grader.box.plan import Build, Plan
from grader.box.run import Ending, Limits, Progress, Run


def observe_all(plan: Plan, load: Load) -> Observations:
    """Return everything that `plan` shows of the entry point that `load` provides."""
    with alone():
        return Observations.of(observe(plan, load))


class InlineBox:
    """A box without walls, for code that is trusted. Forbidden operations are not trapped in it."""

    name = "this process (no sandbox)"

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run `plan` on `source` in place; neither `limits` nor `cancel` is heeded."""
        start, events = time.perf_counter(), list[Event]()
        load = partial(loading.load, source, plan.entries, events.append, bare=plan.bare)
        for event in observe(plan, load):
            events.append(event)
            if progress is not None and isinstance(event, CallSeen):
                progress(event)
        return Run(Observations.of(events), Ending.FINISHED, wall_seconds=time.perf_counter() - start)


class Prebuilt:
    """Trusted code whose modules are built once, and given the weights of each plan that comes.

    Half of what a reference costs is building: a plan has a dozen constructions, and the next plan of the exercise has
    the same ones with other numbers. Only for code that keeps nothing from one call to the next but its parameters: the
    references, of which a test says so.
    """

    def __init__(self, load: Load) -> None:
        self._load = load
        self._namespace: Mapping[str, Any] | None = None
        self._built: dict[Hashable, tuple[BuildSeen, Instance]] = {}

    def observe(self, plan: Plan) -> Observations:
        """Return everything that `plan` shows of the code; its constructions in their order in the plan."""
        with alone():
            told: list[Event] = []
            instances: Instances = {}
            for build in plan.builds:
                if (known := self._built.get(_key(build))) is not None:
                    seen, instances[build.name] = known
                    known[1].binding.write(build.weights)
                    told.append(seen)
            told += observe(plan, self._loaded, instances)
            self._keep(plan, instances, told)
            found = Observations.of(told)
            builds = {build.name: found.builds[build.name] for build in plan.builds if build.name in found.builds}
            return replace(found, builds=builds)

    def _loaded(self) -> Mapping[str, Any]:
        if self._namespace is None:
            self._namespace = self._load()
        return self._namespace

    def _keep(self, plan: Plan, instances: Instances, told: list[Event]) -> None:
        seen = {event.name: event for event in told if isinstance(event, BuildSeen)}
        for build in plan.builds:
            entry, instance = plan.contract(build.part), instances.get(build.name)
            if instance is not None and not (entry.kind.brings_a_model or driver(entry).moves_weights):
                self._built[_key(build)] = seen[build.name], instance


def _key(build: Build) -> Hashable:
    """Return what must be equal for two constructions to differ in nothing but the numbers of their weights."""
    weights = tuple((weight.name, weight.matrix.shape, weight.bias is None) for weight in build.weights)
    return build.name, build.part, build.dtype, build.must_raise, build.pick, tuple(build.arguments.items()), weights
