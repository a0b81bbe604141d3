"""A function is called; a module is built, and then called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from torch import nn

from grader.box.binding.arguments import call_with
from grader.box.plan import Build, Call, Entry


class PlainFunction:
    """Calls the entry point with the case's arguments."""

    is_class: ClassVar[bool] = False
    moves_weights: ClassVar[bool] = False

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Return the function itself: there is nothing to build."""
        return found

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Call it once."""
        return call_with(
            subject,
            handed,
            order=contract.arguments,
            defaults=contract.defaults,
            described=f"`{contract.name}`",
        )


class PlainModule:
    """Builds the class with the case's sizes, and calls the instance."""

    is_class: ClassVar[bool] = True
    moves_weights: ClassVar[bool] = False

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Build one instance."""
        return call_with(
            found,
            build.arguments,
            order=contract.constructor,
            defaults=contract.defaults,
            described=f"`{contract.name}`",
        )

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Call it once."""
        return call_with(
            forward_of(subject),
            handed,
            order=contract.arguments,
            defaults=contract.defaults,
            described="`forward`",
        )


def forward_of(module: nn.Module) -> Callable[..., Any]:
    """Return the module's call with the signature of its `forward`, so that hooks run and names are seen."""

    def run(*positional: Any, **named: Any) -> Any:
        return module(*positional, **named)

    run.__wrapped__ = module.forward  # type: ignore[attr-defined]  # where inspect.signature looks
    return run
