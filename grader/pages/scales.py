"""The scale of an axis: where it begins and ends, and whether it is logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_DECADES = 20.0  # largest over smallest number; from here on a straight axis shows only the largest


@dataclass(frozen=True, slots=True)
class Scale:
    """From `least` to `most`, which differ; `log`: equal factors are equally long."""

    least: float
    most: float
    log: bool = False

    @classmethod
    def of(cls, values: Sequence[float], *, around_zero: bool, straight: bool = False) -> Scale:
        """Return the scale on which `values` can be read.

        Args:
            values: numbers on the axis.
            around_zero: whether a straight scale holds zero.
            straight: whether it is never logarithmic.
        """
        if not values:
            return cls(0.0, 1.0)
        least, most = min(values), max(values)
        if not straight and least > 0 and most / least >= _DECADES:
            return cls(least, most, log=True)
        if around_zero:
            least, most = min(least, 0.0), max(most, 0.0)
        return cls(least, most) if most > least else cls(least - 0.5, most + 0.5)
