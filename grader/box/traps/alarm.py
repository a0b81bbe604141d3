"""What a trap does: it tells somebody, and raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from grader.errors import ForbiddenCall

Told = Callable[[str], None]  # called with the name of the operation, as a student knows it


class Alarm:
    """Where all traps of a process ring; `told` may come later than they do."""

    __slots__ = ("_untold", "told")

    def __init__(self) -> None:
        """Tell nobody yet."""
        self.told: Told = _nobody
        self._untold: str | None = None

    def trap(self, called: str) -> Callable[..., NoReturn]:
        """Return a function that takes anything and raises `ForbiddenCall`, after it was told."""

        def trapped(*_arguments: object, **_options: object) -> NoReturn:
            self._untold = called  # to tell may take more stack or memory than the submission has left
            self.told(called)
            self._untold = None
            raise ForbiddenCall(called)

        return trapped

    def tell_late(self) -> None:
        """Tell what could not be told when it happened."""
        if self._untold is not None:
            self.told(self._untold)
            self._untold = None


def _nobody(_called: str) -> None:
    return
