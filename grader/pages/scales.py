"""The scale of an axis: where it begins and ends, whether it is logarithmic, and which numbers are written on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_DECADES = 20.0  # largest over smallest number; from here on a straight axis shows only the largest
_TICKS = 5
_STEPS = (1.0, 2.0, 5.0, 10.0)


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

    def share(self, value: float) -> float:
        """Return how far along the axis `value` is, 0 to 1."""
        if self.log:
            return math.log(value / self.least) / math.log(self.most / self.least)
        return (value - self.least) / (self.most - self.least)

    def ticks(self) -> list[tuple[float, str]]:
        """Return round numbers on the axis with their texts, at most half a dozen."""
        found = self._decades() if self.log else self._steps()
        return [(value, _text(value)) for value in found]

    def _steps(self) -> list[float]:
        rough = (self.most - self.least) / _TICKS
        size = 10 ** math.floor(math.log10(rough))
        step = next(size * factor for factor in _STEPS if size * factor >= rough * (1 - 1e-9))
        first = math.ceil(self.least / step - 1e-9)
        return [index * step for index in range(first, math.floor(self.most / step + 1e-9) + 1)]

    def _decades(self) -> list[float]:
        low, high = math.ceil(math.log10(self.least) - 1e-9), math.floor(math.log10(self.most) + 1e-9)
        every = 1 + max(0, high - low) // (_TICKS + 1)
        return [10.0**exponent for exponent in range(low, high + 1, every)]


def _text(value: float) -> str:
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value:,.6g}" if abs(value) < 1e4 else f"{value:,.0f}"
