"""A choice from a list that goes through all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def evenly(items: Sequence[T], most: int) -> Sequence[T]:
    """Return at most `most` of the items, at equal distances, in their order."""
    return items[:: max(1, len(items) // most)][:most] if most else ()
