"""What a trap does: it tells somebody, and raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from grader.errors import ForbiddenCall

Told = Callable[[str], None]  # called with the name of the operation, as a student knows it


class Alarm:
    """Where all traps of a process ring; `told` may come later than they do."""

    __slots__ = ("told",)

    def __init__(self) -> None:
        """Tell nobody yet."""
        self.told: Told = _nobody

    def trap(self, called: str) -> Callable[..., NoReturn]:
        """Return a function that takes anything and raises `ForbiddenCall`, after it was told."""

        def trapped(*_arguments: object, **_options: object) -> NoReturn:
            self.told(called)
            raise ForbiddenCall(called)

        return trapped


def _nobody(_called: str) -> None:
    return
