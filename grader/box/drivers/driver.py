"""The port of a driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from grader.box.plan import Build, Call, Entry


class Driver(Protocol):
    """Drives one kind of entry point.

    Attributes:
        is_class: whether the entry point must be a class; otherwise anything that can be called will do.
        moves_weights: whether a call may put other parameters in the place of those that were given their values.
    """

    is_class: ClassVar[bool]
    moves_weights: ClassVar[bool]

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Return the module that the calls of `build` run on.

        Args:
            found: the entry point.
            build: what is wanted of it.
            contract: the names that the contract uses.

        Raises:
            Anything that the submission raises.
        """
        ...

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Return what `subject`, an instance or without builds the entry point itself, gives for one call.

        Args:
            subject: see above.
            handed: the call's arguments, by canonical name.
            call: which call it is.
            contract: the names that the contract uses.

        Raises:
            Anything that the submission raises.
        """
        ...
