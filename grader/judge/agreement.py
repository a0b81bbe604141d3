"""Whether two answers gave the same in one call, to the precision of a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from grader.box.observations import CallSeen, Presence, Raised, Seen
from grader.box.plan import Call
from grader.checks.evidence import scales

# Relative to a tensor's scale, by the precision that the verdict was reached in.
_AGREEMENT = {"float64": 1e-9, "float32": 1e-5}


def agree(call: Call, one: CallSeen, other: CallSeen, slack: Mapping[str, float]) -> bool:
    """Return whether two calls gave the same; `slack` says how far beyond the usual each tensor may be off."""
    if _kind(one.raised) != _kind(other.raised) or one.slots.keys() != other.slots.keys():
        return False
    scale = scales(other)
    outputs = [slot.key for slot in call.outputs]
    # How NaN spreads on the way back depends on how a right thing is written: a product keeps it, a fill does not.
    tensors = [one.slots[key].tensor for key in outputs if key in one.slots]
    broken = any(bool(tensor.isnan().any()) for tensor in tensors if tensor is not None)
    keys = outputs if broken else one.slots
    allowed = {key: _AGREEMENT[call.dtype] * scale[key] + slack.get(key, 0.0) for key in keys}
    return all(_same(one.slots[key], other.slots[key], allowed[key]) for key in keys)


def _kind(raised: Raised | None) -> tuple[str, str] | None:
    return (raised.stage, raised.type) if raised else None


def _same(one: Seen, other: Seen, allowed: float) -> bool:
    if Presence.NONE in (one.presence, other.presence):  # a gradient that never came teaches what zeros teach: nothing
        tensors = [seen.tensor for seen in (one, other) if seen.presence is not Presence.NONE]
        return all(tensor is not None and not bool(tensor.any()) for tensor in tensors)
    if one.tensor is None or other.tensor is None:
        return (one.presence, one.shape) == (other.presence, other.shape)
    if one.dtype != other.dtype:
        return False
    return torch.allclose(one.tensor.double(), other.tensor.double(), rtol=0.0, atol=allowed, equal_nan=True)
