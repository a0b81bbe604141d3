"""Reads the values that somebody typed for an argument, in linear time, and says what is wrong with them.

Taken are nested lists as Python, JSON, NumPy and PyTorch write them: `[[1, 2.5], [3, -inf]]`, `tensor([1., 2.])`,
`[[True False]]`.
"""

from __future__ import annotations

import math
import re

import torch
from torch import Tensor

from grader.box.plan import Scalar
from grader.errors import Rejected

LONGEST = 8_000  # characters
MOST_NUMBERS = 512  # in one tensor
DEEPEST = 6  # axes
LARGEST_WHOLE = 64  # sizes and counts follow from whole numbers, and time and memory from those
_TOKEN = re.compile(r"\s*(\[|\]|,|[-+]?(?:inf|nan|True|False|true|false|[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+))")
_WRAPPER = re.compile(r"\s*(?:torch\.)?(?:tensor|array)\(")
_WORDS = {"True": 1.0, "true": 1.0, "False": 0.0, "false": 0.0}
_FLAGS = {"True": True, "true": True, "1": True, "False": False, "false": False, "0": False}


def read_tensor(name: str, text: str, like: Tensor, below: int | None = None) -> Tensor:
    """Return the tensor that `text` says, in the dtype of `like` and with as many axes.

    Args:
        name: of the argument, for messages.
        text: nested lists of numbers.
        like: what stands there otherwise.
        below: whole numbers have to be at least 0 and under this.

    Raises:
        Rejected: it is no such tensor; the text says why.
    """
    numbers, shape = _nested(name, text)
    if len(shape) != like.dim():
        raise Rejected(f"`{name}` needs {_axes(like.dim())}; what you typed has {_axes(len(shape))}")
    if not like.dtype.is_floating_point:
        _check_whole(name, numbers, like.dtype is torch.bool, below)
    return torch.tensor(numbers, dtype=torch.float64).reshape(shape).to(like.dtype)


def read_scalar(name: str, text: str, like: Scalar) -> Scalar:
    """Return the scalar that `text` says, of the same type as `like`.

    Raises:
        Rejected: it is none, or too large; the text says why.
    """
    text = text.strip()
    if isinstance(like, str):
        return text[: LONGEST // 8]
    if isinstance(like, bool):
        if text not in _FLAGS:
            raise Rejected(f"`{name}` must be True or False")
        return _FLAGS[text]
    try:
        found = float(text)
    except ValueError:
        raise Rejected(f"`{name}` must be a number") from None
    if isinstance(like, float):
        return found
    largest = max(LARGEST_WHOLE, abs(like or 0))
    if not math.isfinite(found) or found != int(found) or abs(found) > largest:
        raise Rejected(f"`{name}` must be a whole number, at most {largest}")
    return int(found)


def _axes(number: int) -> str:
    return f"{number} {'axis' if number == 1 else 'axes'}"


def _check_whole(name: str, numbers: list[float], flags: bool, below: int | None) -> None:
    largest = 1 if flags else LARGEST_WHOLE if below is None else below - 1
    if any(not math.isfinite(one) or one != int(one) or not 0 <= one <= largest for one in numbers):
        what = "True or False (or 1 or 0)" if flags else f"whole numbers from 0 to {largest}"
        raise Rejected(f"`{name}` takes {what} only")


def _nested(name: str, text: str) -> tuple[list[float], tuple[int, ...]]:
    """Return the numbers of nested lists, in order, and their shape."""
    numbers: list[float] = []
    lengths: list[int] = []  # of the lists that are open
    shape: dict[int, int] = {}  # by depth, once a list of that depth has been closed
    closed = False
    for token in _tokens(name, text):
        if closed:
            raise Rejected(f"`{name}`: something follows after the last bracket")
        if token == "[":
            _enter(name, lengths)
        elif token == "]":
            closed = _leave(name, lengths, shape)
        else:
            _count(name, lengths)
            numbers.append(_WORDS[token] if token in _WORDS else float(token))
    if not closed:
        raise Rejected(f"`{name}`: a bracket is not closed")
    found = tuple(shape[depth] for depth in range(1, len(shape) + 1))
    if math.prod(found) != len(numbers):
        raise Rejected(f"`{name}`: numbers and lists are mixed; each number belongs into the innermost list")
    return numbers, found


def _enter(name: str, lengths: list[int]) -> None:
    if lengths:
        _count(name, lengths)
    if len(lengths) >= DEEPEST:
        raise Rejected(f"`{name}`: more than {DEEPEST} brackets inside each other")
    lengths.append(0)


def _leave(name: str, lengths: list[int], shape: dict[int, int]) -> bool:
    """Close a list; return whether it was the outermost one."""
    if not lengths:
        raise Rejected(f"`{name}`: a bracket is closed that was never opened")
    depth, length = len(lengths), lengths.pop()
    if shape.setdefault(depth, length) != length:
        raise Rejected(f"`{name}`: all rows must be equally long; one has {shape[depth]} entries, another {length}")
    return not lengths


def _count(name: str, lengths: list[int]) -> None:
    if not lengths:
        raise Rejected(f"`{name}`: start with a bracket, as in [[1, 2], [3, 4]]")
    lengths[-1] += 1


def _tokens(name: str, text: str) -> list[str]:
    if len(text) > LONGEST:
        raise Rejected(f"`{name}`: at most {LONGEST} characters can be typed")
    if wrapped := _WRAPPER.match(text):
        text = text[wrapped.end() :].rstrip().removesuffix(")")
    found: list[str] = []
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise Rejected(f"`{name}`: cannot read {text[place : place + 12].strip()!r}; type nested lists of numbers")
        place = match.end()
        found.append(match[1])
    found = [token for token in found if token != ","]
    if sum(token not in "[]" for token in found) > MOST_NUMBERS:
        raise Rejected(f"`{name}`: at most {MOST_NUMBERS} numbers")
    return found
