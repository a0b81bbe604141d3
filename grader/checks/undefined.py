"""Says of NaN where it stands, and what gives NaN: nothing of what happened inside is seen."""

from __future__ import annotations

from torch import Tensor

_WHAT_GIVES_IT = "0 / 0, 0 · ∞, ∞ / ∞ and ∞ - ∞ give NaN"
_IN_ROWS = f"{_WHAT_GIVES_IT}, and so does a softmax over a row in which every score is -inf, or one is +inf"


def cause_of_nan(seen: Tensor, expected: Tensor) -> str:
    """Return which numbers of `seen` are NaN where `expected` is not, and what gives NaN; empty for none."""
    broken = seen.isnan() & ~expected.isnan()
    if not broken.any():
        return ""
    if broken.dim() < 2:
        return f"{_share(broken, 'numbers')} NaN: {_IN_ROWS}"
    if broken.all():
        return f"all of it is NaN: {_IN_ROWS}"
    rows = broken.all(dim=-1)
    if not (rows == broken.any(dim=-1)).all():
        return f"{_share(broken, 'numbers')} NaN, not whole rows: {_WHAT_GIVES_IT}"
    if rows.dim() < 2:
        return f"{_share(rows, 'rows')} NaN: {_IN_ROWS}"
    tables = rows.flatten(0, -2)
    where = "the same" if (tables == tables[0]).all() else "different ones"
    return f"{_share(rows, 'rows')} NaN, {where} in each matrix: {_IN_ROWS}"


def _share(broken: Tensor, what: str) -> str:
    count = int(broken.sum())
    return f"{count} of {broken.numel()} {what} {'is' if count == 1 else 'are'}"
