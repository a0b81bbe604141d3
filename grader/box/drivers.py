"""How an entry point is driven: the plain drivers, and where an exercise's own one comes from.

A driver turns what a submission defines into something that can be called (`construct`), and calls it (`run`). What
`run` returns is taken for the outputs of the contract, in their order; gradients flow back through it.

An exercise's own driver, and the models that it puts a submission into, lie in its `lab.py` and hold code that may
answer another exercise. So a lab is no part of the process that runs submissions. Each job brings the source of the lab
that its plan names and of what that imports (`carried`), and the child executes it before the submission is loaded.
Elsewhere it is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Protocol

from torch import nn

from grader.box.binding.arguments import call_with
from grader.box.kinds import Kind
from grader.box.plan import Build, Call, Entry, Plan
from grader.errors import GraderFault

LABS = "grader.exercise.labs"
TRAVELLING = ("grader.box.snapshot", "grader.box.train")  # what labs share; it is loaded where a lab is, and only there


@cache  # so that a child needs no import any more once its submission runs
def _driver(kind: Kind, name: str) -> Driver:
    if not name:
        return PlainModule() if kind is Kind.MODULE else PlainFunction()
    exercise, _, wanted = name.partition(".")
    made: Driver = getattr(import_module(f"{LABS}.{exercise}.lab"), wanted)()
    return made


def driver(entry: Entry) -> Driver:
    """Return what drives an entry point."""
    return _driver(entry.kind, entry.driver)


def prepare(plan: Plan) -> None:
    """Import all that `plan` needs: later nothing of ours can be imported."""
    for entry in (plan.entry, *plan.parts.values()):
        driver(entry)


def carried(plan: Plan) -> dict[str, str]:
    """Return the source of each module that a job must bring along for `plan`, in the order of their imports.

    Raises:
        GraderFault: the plan trains, and holds what the trained model is to be asked: code that trains reads its job.
    """
    held_out = {call.held_out for call in plan.calls if plan.contract(call.part).kind.trains}
    if len(held_out) > 1:
        raise GraderFault("a job that trains must not hold the sequences that are held out")
    names = (entry.driver.partition(".")[0] for entry in (plan.entry, *plan.parts.values()) if entry.driver)
    return {name: text for lab in names for name, text in _sources(f"{LABS}.{lab}.lab").items()}


@cache
def _sources(module: str) -> Mapping[str, str]:
    """Return the source of a module that travels, after those that it imports and that travel as well, by name."""
    spec = find_spec(module)
    assert spec is not None, f"there is no {module}"
    assert spec.origin is not None
    text, found = Path(spec.origin).read_text(encoding="utf-8"), dict[str, str]()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.module in TRAVELLING:
            found |= _sources(node.module)
    return {**found, module: text}


class Driver(Protocol):
    """Drives one kind of entry point.

    Attributes:
        is_class: whether the entry point must be a class; otherwise anything that can be called will do.
        moves_weights: whether a call may put other parameters in the place of those that were given their values.
    """

    is_class: ClassVar[bool]
    moves_weights: ClassVar[bool]

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Return what the calls of `build` run on, made of the entry point; raises whatever that raises."""
        ...

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Return what one call gives of its arguments, by canonical name; raises whatever the submission raises.

        `subject` is what `construct` gave, or without builds the entry point itself.
        """
        ...


class PlainFunction:
    """Calls the entry point with the case's arguments."""

    is_class: ClassVar[bool] = False
    moves_weights: ClassVar[bool] = False

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Return the function itself: there is nothing to build."""
        return found

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Call it once."""
        named = f"`{contract.name}`"
        return call_with(subject, handed, order=contract.arguments, defaults=contract.defaults, described=named)


class PlainModule:
    """Builds the class with the case's sizes, and calls the instance."""

    is_class: ClassVar[bool] = True
    moves_weights: ClassVar[bool] = False

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Build one instance."""
        given, named = build.arguments, f"`{contract.name}`"
        return call_with(found, given, order=contract.constructor, defaults=contract.defaults, described=named)

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Call it once."""
        forward, order = forward_of(subject), contract.arguments
        return call_with(forward, handed, order=order, defaults=contract.defaults, described="`forward`")


def forward_of(module: nn.Module) -> Callable[..., Any]:
    """Return the module's call with the signature of its `forward`, so that hooks run and names are seen."""

    def run(*positional: Any, **named: Any) -> Any:
        return module(*positional, **named)

    run.__wrapped__ = module.forward  # type: ignore[attr-defined]  # where inspect.signature looks
    return run
