"""Finds the parameters of the exercise among those of the author's own, where no name tells them apart.

An author's own parameters have defaults. So those without are the exercise's first ones, in its order. One that has the
default of the exercise stands for that argument, and each of the others for what it can hold, if no other one can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter

from torch import Tensor

from grader.box.plan import Argument, Scalar


def by_defaults(
    left: Mapping[str, Argument], free: Mapping[str, Parameter], defaults: Mapping[str, Scalar]
) -> dict[str, str]:
    """Return the parameter for each argument for which there is one only, whatever the values of this call.

    Args:
        left: arguments that no parameter is called by, with the default of the exercise, or else what is given.
        free: parameters that are called by no argument, more than these, in their order.
        defaults: the arguments that have a default in the exercise.
    """
    needed = [name for name, one in free.items() if one.default is Parameter.empty]
    found = dict(zip(left, needed, strict=False))
    for fits, these in ((_is_equal, defaults), (_is_alike, left), (_is_none, left), (_is_number, left)):
        open_ = {name: value for name, value in left.items() if name in these and name not in found}
        spare = {name: one.default for name, one in free.items() if name not in found.values()}
        found |= _alone(open_, spare, fits)
    return found


def _alone(
    left: Mapping[str, Argument], spare: Mapping[str, object], fits: Callable[[Argument, object], bool]
) -> Iterator[tuple[str, str]]:
    """Yield each argument with the parameter for it, where as many parameters fit as there are arguments like it."""
    holds = {name: [one for one, default in spare.items() if fits(value, default)] for name, value in left.items()}
    for name, held in holds.items():
        alike = [other for other, its in holds.items() if its == held]
        if len(held) == len(alike):
            yield name, held[alike.index(name)]


def _is_equal(value: Argument, default: object) -> bool:
    return _is_alike(value, default) and not isinstance(value, Tensor) and value is not None and value == default


def _is_alike(value: Argument, default: object) -> bool:
    return type(value) is type(default) or (isinstance(value, Tensor) and default is None)


def _is_none(value: Argument, default: object) -> bool:
    return default is None


def _is_number(value: Argument, default: object) -> bool:
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in (value, default))
