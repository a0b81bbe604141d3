"""The words of a plan that mean something without torch, so that an exercise can be read without it."""

from __future__ import annotations

from enum import StrEnum

Scalar = bool | int | float | str | None


class Kind(StrEnum):
    """How an entry point is driven."""

    FUNCTION = "function"
    MODULE = "module"
