"""How an entry point is driven: one driver a kind, one file a driver, and never an exercise's name.

A driver turns what a submission defines into something that can be called (`construct`), and calls it (`run`). What
`run` returns is taken for the outputs of the contract, in their order; gradients flow back through it.

Some drivers, and the models that they put a submission into, hold code that would answer another exercise. So only the
plain ones are part of the process that runs submissions. Each job brings the source of what else it needs (`carried`),
and the child executes that before the submission is loaded. Elsewhere they are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol

from torch import nn

from grader.box.binding.arguments import call_with
from grader.box.kinds import Kind
from grader.box.plan import Build, Call, Entry, Plan
from grader.errors import GraderFault

# By the place of their class, and not by the class, so that none is imported where nobody asks for it.
DRIVERS: Mapping[Kind, str] = {
    Kind.FUNCTION: "grader.box.drivers.PlainFunction",
    Kind.MODULE: "grader.box.drivers.PlainModule",
    Kind.DECODE: "grader.box.drivers.decode.Decode",
    Kind.TRAIN: "grader.box.drivers.train.Train",
    Kind.HOOKS: "grader.box.drivers.hooks.Hooks",
    Kind.NAMES: "grader.box.drivers.hooks.NamesDriver",
    Kind.TRANSFER: "grader.box.drivers.transfer.Transfer",
}
MODELS: Mapping[str, str] = {
    "copier": "grader.box.copier.Copier",
    "translator": "grader.box.translator.Translator",
    "reader": "grader.box.drivers.hooks.Reader",
}
# The modules that travel with a job, each with those that it imports of the others.
TRAVELLING: Mapping[str, tuple[str, ...]] = {
    "grader.box.models": (),
    "grader.box.snapshot": (),
    "grader.box.drivers.decode": (),
    "grader.box.drivers.train": ("grader.box.models",),
    "grader.box.drivers.hooks": ("grader.box.snapshot",),
    "grader.box.drivers.transfer": ("grader.box.snapshot",),
    "grader.box.copier": ("grader.box.models",),
    "grader.box.translator": ("grader.box.models",),
}
_ROOT = Path(__file__).resolve().parents[3]


@cache  # so that a child needs no import any more once its submission runs
def driver(kind: Kind) -> Driver:
    """Return the driver of `kind`."""
    made: Driver = _found(DRIVERS[kind])()
    return made


@cache  # as above
def model(name: str) -> Callable[..., Any]:
    """Return the class of the model called `name`."""
    made: Callable[..., Any] = _found(MODELS[name])
    return made


def prepare(plan: Plan) -> None:
    """Import all that `plan` needs: later nothing of ours can be imported."""
    for kind in _kinds(plan):
        driver(kind)
    for name in _models(plan):
        model(name)


def carried(plan: Plan) -> dict[str, str]:
    """Return the source of each module that a job must bring along for `plan`, in the order of their imports.

    Raises:
        GraderFault: the plan trains, and holds what the trained model is to be asked: code that trains reads its job.
    """
    held_out = {call.held_out for call in plan.calls if plan.contract(call.part).kind.trains}
    if len(held_out) > 1:
        raise GraderFault("a job that trains must not hold the sequences that are held out")
    places = (*(DRIVERS[kind] for kind in _kinds(plan)), *(MODELS[name] for name in _models(plan)))
    modules = [place.rpartition(".")[0] for place in places]
    needed = (name for module in modules if module in TRAVELLING for name in (*TRAVELLING[module], module))
    return {name: _source(name) for name in dict.fromkeys(needed)}


def _kinds(plan: Plan) -> Iterable[Kind]:
    return dict.fromkeys(entry.kind for entry in (plan.entry, *plan.parts.values()))


def _models(plan: Plan) -> Iterable[str]:
    wanted = (build for build in plan.builds if plan.contract(build.part).kind.brings_a_model)
    return dict.fromkeys(str(build.arguments["model"]) for build in wanted)


def _found(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(import_module(module), name)


def _source(module: str) -> str:
    return _ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")


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
