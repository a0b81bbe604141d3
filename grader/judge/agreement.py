"""Whether two observations of one call are the same, to the precision that a verdict is reached in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial

import torch
from torch import Tensor

from grader.box.keys import is_input
from grader.box.observations import CallSeen, Presence, Raised, Seen
from grader.box.plan import Call
from grader.checks.dropout import is_drawn
from grader.checks.evidence import scales

# Relative to a tensor's scale, by the precision that the verdict was reached in.
_AGREEMENT = {"float64": 1e-9, "float32": 1e-5}


def agree(call: Call, one: CallSeen, other: CallSeen, slack: Mapping[str, float]) -> bool:
    """Return whether two calls ended alike and gave the same, to the precision of the verdict and `slack` by tensor."""
    if one is other:
        return True
    if _kind(one.raised) != _kind(other.raised) or one.slots.keys() != other.slots.keys():
        return False
    outputs = [slot.key for slot in call.outputs if slot.key in one.slots]
    rest = [key for key in one.slots if key not in outputs]
    if is_drawn(call):  # only what checks ask of it: whether attention weights are returned before or after dropout is
        outputs = outputs[:1]  # free, and dropout before or after a layer differs in the gradients of its weights alone
        rest = [key for key in rest if is_input(key)] or rest

    def same(key: str, scale: Callable[[], Mapping[str, float]]) -> bool:
        # What a difference is relative to is worked out only where there is one.
        return _same(
            one.slots[key], other.slots[key], lambda: _AGREEMENT[call.dtype] * scale()[key] + slack.get(key, 0.0)
        )

    if not all(same(key, partial(_scale_alone, other, key)) for key in outputs):
        return False
    # How NaN spreads on the way back depends on how a right thing is written: a product keeps it, a fill does not.
    tensors = [one.slots[key].tensor for key in outputs]
    if not rest or any(bool(tensor.isnan().any()) for tensor in tensors if tensor is not None):
        return True
    together = cache(lambda: scales(other))
    return all(same(key, together) for key in rest)


def _scale_alone(seen: CallSeen, key: str) -> dict[str, float]:
    return scales(replace(seen, slots={key: seen.slots[key]}))


def _kind(raised: Raised | None) -> tuple[str, str] | None:
    return (raised.stage, raised.type) if raised else None


def _same(one: Seen, other: Seen, allowed: Callable[[], float]) -> bool:
    if Presence.NONE in (one.presence, other.presence):  # a gradient that never came teaches what zeros teach: nothing
        tensors = [seen.tensor for seen in (one, other) if seen.presence is not Presence.NONE]
        return all(tensor is not None and not bool(tensor.any()) for tensor in tensors)
    if one.tensor is None or other.tensor is None:
        return (one.presence, one.shape) == (other.presence, other.shape)
    if one.dtype != other.dtype:
        return False
    return _close(one.tensor.double(), other.tensor.double(), allowed)


def _close(one: Tensor, other: Tensor, allowed: Callable[[], float]) -> bool:
    """Return whether no element differs by more than that; infinite ones must be equal, and NaN equals NaN.

    Where all differences are finite the largest of them says it, for a third of the time of `torch.allclose`.
    """
    if torch.equal(one, other):
        return True
    if one.shape == other.shape and math.isfinite(gap := float(torch.linalg.vector_norm(one - other, math.inf))):
        return gap <= allowed()
    return torch.allclose(one, other, rtol=0.0, atol=allowed(), equal_nan=True)
