"""Says of NaN what most likely produced it: from where it stands, since nothing of what happened inside is seen."""

from __future__ import annotations

from torch import Tensor

_HIDDEN = "a row in which every key is masked: its softmax computes -inf minus -inf, or 0/0"
_OVERFLOW = "exponentials that are infinite (inf/inf) or all zero (0/0): subtract each row's largest score first"
_PRODUCT = "0 times -inf, for example a mask of zeros and ones multiplied by -inf"


def cause_of_nan(seen: Tensor, expected: Tensor) -> str:
    """Return which numbers of `seen` are NaN where `expected` is not, and what that points at; empty for none."""
    undefined = seen.isnan()
    if not undefined.any():
        return ""
    broken = undefined & ~expected.isnan()
    if not broken.any():
        return ""
    if broken.dim() < 2:
        return f"{_share(broken, 'numbers')} NaN. Look for {_OVERFLOW}; or for {_PRODUCT}"
    if broken.all():
        return f"all of it is NaN. Look for {_PRODUCT}; for inf minus inf; or for {_HIDDEN}"
    rows = broken.all(dim=-1)
    if not (rows == broken.any(dim=-1)).all():
        return f"{_share(broken, 'numbers')} NaN, not whole rows. Look for {_PRODUCT}; for inf minus inf; or for 0/0"
    tables = rows.flatten(0, -2) if rows.dim() > 1 else rows[None]
    if (tables == tables[0]).all():
        same = ", the same in each matrix" if rows.dim() > 1 else ""
        said = f"{_share(rows, 'rows')} NaN{same}, which a mask can cause"
        return f"{said}. Look for {_HIDDEN}. Otherwise look for {_OVERFLOW}"
    said = f"{_share(rows, 'rows')} NaN, different ones in each matrix"
    return f"{said}. Look for {_OVERFLOW}. Otherwise look for {_HIDDEN}, for example by padding"


def _share(broken: Tensor, what: str) -> str:
    count = int(broken.sum())
    return f"{count} of {broken.numel()} {what} {'is' if count == 1 else 'are'}"
