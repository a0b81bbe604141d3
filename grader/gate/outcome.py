"""What the gate found out about an exercise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many of how many."""

    good: int = 0
    all: int = 0

    @classmethod
    def of(cls, flags: list[bool]) -> Ratio:
        """Count the flags that are set."""
        return cls(sum(flags), len(flags))

    def __add__(self, other: Ratio) -> Ratio:
        return Ratio(self.good + other.good, self.all + other.all)

    def __str__(self) -> str:
        return f"{self.good}/{self.all}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """What the gate found: complaints in plain sentences, and the figures behind them.

    Attributes:
        caught: known mistakes that lose in the dimension where they must.
        named: known mistakes that are diagnosed as themselves, alone and for certain.
        accepted: right examples with full marks.
        refused: wrong examples that lose where they must.
        trivial: answers made up from nothing, such as zeros, that do not get through.
        seconds: the median of a few grades of the reference.
        dimensions: what points are given for, by name.
    """

    exercise: str
    complaints: tuple[str, ...]
    caught: Ratio = Ratio()
    named: Ratio = Ratio()
    accepted: Ratio = Ratio()
    refused: Ratio = Ratio()
    trivial: Ratio = Ratio()
    seconds: float = 0.0
    dimensions: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there is nothing to complain about."""
        return not self.complaints
