"""The words of a plan that mean something without torch, so that an exercise can be read without it."""

from __future__ import annotations

from enum import StrEnum

Scalar = bool | int | float | str | None


class Kind(StrEnum):
    """What an entry point is, and so how it is driven, unless its exercise brings a driver of its own."""

    FUNCTION = "function"
    MODULE = "module"
    TRAIN = "train"  # a function or a layer, inside a model of ours that is trained
    INSPECT = "inspect"  # a function that is given a model of ours

    @property
    def trains(self) -> bool:
        """Whether its calls train, so that two right answers part after a while, by rounding alone."""
        return self is Kind.TRAIN

    @property
    def brings_a_model(self) -> bool:
        """Whether what is built is a model of ours, whose weights are no business of the student's."""
        return self in (Kind.TRAIN, Kind.INSPECT)


class Holding(StrEnum):
    """How a module holds a weight of the contract."""

    PROJECTION = "projection"  # a linear map: nn.Linear, nn.Parameter, fused, per head
    TABLE = "table"  # rows that are looked up: nn.Embedding, or nn.Parameter of the same shape
    EXACT = "exact"  # a parameter of this very name and shape
