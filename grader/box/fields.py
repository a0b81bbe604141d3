"""Reads the fields of the JSON in a frame, trusting none of them: whatever is not as announced is a `BadAnswer`."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from typing import Any, TypeVar

from grader.box.observations import Blame, Raised, Stage
from grader.box.places import without_places
from grader.box.plan import MOST_CHOICES
from grader.errors import BadAnswer

Member = TypeVar("Member", bound=StrEnum)


def parse(body: bytes) -> dict[str, Any]:
    """Return the object that JSON says."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadAnswer("a frame that must hold JSON does not") from error
    if not isinstance(data, dict):
        raise BadAnswer("a frame that must hold a JSON object holds something else")
    return data


def raised(data: Any) -> Raised:
    """Return an exception; texts are cut, places on this machine are taken out, a line that is none is dropped."""
    if not isinstance(data, dict):
        raise BadAnswer("an exception is not an object")
    return Raised(
        stage=member(Stage, data.get("stage")),
        blame=member(Blame, data.get("blame")),
        type=text(data.get("type", ""), 100),
        message=without_places(text(data.get("message", ""), 2000)),
        line=line(data.get("line")),
        bases=names(data.get("bases", [])),
    )


def line(data: Any) -> int | None:
    """Return a line of a submission, None for whatever is none."""
    return data if type(data) is int and 0 < data < 1_000_000 else None


def member(kind: type[Member], value: Any) -> Member:
    """Return the member of an enumeration that has this value."""
    name = text(value, 40)
    try:
        return kind(name)
    except ValueError as error:
        raise BadAnswer(f"{name!r} is not a {kind.__name__.lower()}") from error


def text(value: Any, limit: int) -> str:
    """Return a string, or a number as text, cut to `limit` characters; a nested value may be too deep to write out."""
    if isinstance(value, list | dict):
        raise BadAnswer("a list or an object stands in the place of a text")
    return str(value)[:limit]


def size(data: Any) -> int | None:
    """Return a size that a tensor can have, or None."""
    if data is not None and (type(data) is not int or not 0 <= data < 1 << 63):
        raise BadAnswer("a size is not one that a tensor can have")
    return data


def choices(data: Any) -> int:
    """Return a number of assignments that a construction can have."""
    if type(data) is not int or not 1 <= data <= MOST_CHOICES:
        raise BadAnswer("a number of assignments is not one that a construction can have")
    return data


def moments(data: Any) -> dict[str, tuple[float, float]]:
    """Return the mean and the standard deviation of each weight."""
    if not isinstance(data, dict) or len(data) > 100:
        raise BadAnswer("the moments of the weights are not an object, or too many")
    pairs = [pair for pair in data.values() if isinstance(pair, list) and [type(x) for x in pair] == [float, float]]
    if len(pairs) < len(data) or not all(math.isfinite(x) for pair in pairs for x in pair):
        raise BadAnswer("the moments of a weight are not two finite numbers")
    return {name[:100]: (pair[0], pair[1]) for name, pair in zip(data, pairs, strict=True)}


def names(data: Any) -> tuple[str, ...]:
    """Return a list of names, each cut."""
    if not isinstance(data, list) or len(data) > 100:
        raise BadAnswer("a list of names is not a list, or too long")
    return tuple(text(name, 200) for name in data)
