"""The words of a plan that mean something without torch, so that an exercise can be read without it."""

from __future__ import annotations

from enum import StrEnum

Scalar = bool | int | float | str | None
LEFT = ("hooks", "parameters", "modes", "gradients", "frozen")  # counts of what was left behind in a model of ours


class Kind(StrEnum):
    """How an entry point is driven; `grader/box/drivers/` has a driver for each."""

    FUNCTION = "function"
    MODULE = "module"
    DECODE = "decode"  # a module that is fed a sequence in chunks, with the cache that it gave back
    TRANSFER = "transfer"  # a function that copies weights between two modules of ours
    TRAIN = "train"  # a function or a layer, inside a model of ours that is trained
    HOOKS = "hooks"  # a function that is given a model of ours
    NAMES = "names"  # a function that returns a list of names

    @property
    def trains(self) -> bool:
        """Whether its calls train, so that two right answers part after a while, by rounding alone."""
        return self is Kind.TRAIN

    @property
    def brings_a_model(self) -> bool:
        """Whether what is built is a model of ours, whose weights are no business of the student's."""
        return self in (Kind.TRAIN, Kind.HOOKS)


class Holding(StrEnum):
    """How a module holds a weight of the contract."""

    PROJECTION = "projection"  # a linear map: nn.Linear, nn.Parameter, fused, per head
    TABLE = "table"  # rows that are looked up: nn.Embedding, or nn.Parameter of the same shape
    EXACT = "exact"  # a parameter of this very name and shape
