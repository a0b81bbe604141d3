"""Matrices of numbers in formulas, shaded by their numbers like the heat maps of a report."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from html import unescape

LEVELS = 5  # of colour beside none
_MATRIX = re.compile(r"<mtable>(?:(?!</?mtable>).)*</mtable>", re.DOTALL)
_CELL = re.compile(r"<mtd>((?:(?!</?mtd>).)*)</mtd>", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_PLAIN = {"<mn>", "</mn>", "<mo>", "</mo>", "<mi>", "</mi>", "<mrow>", "</mrow>", "<mrow />"}
_SIGNS = {**dict.fromkeys("⋮⋯⋱…", 0.0), "\u221e": math.inf, "-\u221e": -math.inf}
_LEAST = 2  # rows, and columns


def shaded(math_ml: str) -> str:
    """Return a formula with a class at each cell of its matrices of numbers: how large it is in its matrix."""
    return _MATRIX.sub(lambda matrix: _matrix(matrix[0]), math_ml)


def _matrix(table: str) -> str:
    numbers = [_number(cell) for cell in _CELL.findall(table)]
    known = [one for one in numbers if one is not None]
    rows = table.count("<mtr>")
    if rows < _LEAST or len(numbers) < _LEAST * rows or len(known) < len(numbers) or len(set(known)) < _LEAST:
        return table
    most = max((abs(one) for one in known if math.isfinite(one)), default=0.0) or 1.0
    left = iter(known)
    return _CELL.sub(lambda cell: f'<mtd class="{_class(next(left), most)}">{cell[1]}</mtd>', table)


def _number(cell: str) -> float | None:
    """Return what a cell holds, as `-1/2` or an infinity; zero for dots, None for what is no number."""
    if set(_TAG.findall(cell)) - _PLAIN:
        return None  # a fraction, a power
    text = unescape(_TAG.sub("", cell)).replace("\u2212", "-").replace(" ", "").strip()
    if text in _SIGNS:
        return _SIGNS[text]
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        return None


def _class(number: float, most: float) -> str:
    if math.isinf(number):
        return "gym-hatch"
    return f"gym-shade-{round(LEVELS * abs(number) / most)}" + (" gym-below" if number < 0 else "")
