"""Turns what a submission returned into facts, trusting none of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from grader.box.observations import FROZEN, Presence, Seen
from grader.box.plan import DTYPES, TensorSpec

_MISSING = object()
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def returned(result: Any, count: int) -> tuple[Any, ...]:
    """Return exactly `count` values: the result itself for one, its items for several, filled up where short."""
    if count == 1:
        return (result,)
    if isinstance(result, tuple | list):
        items = tuple(result)[:count] if len(result) <= count else (result,)
        return (*items, *(_MISSING for _ in range(count - len(items))))
    return (result, *(_MISSING for _ in range(count - 1)))


def see(value: Any, slot: TensorSpec) -> Seen:
    """Return what is in the place of an output."""
    if value is _MISSING:
        return Seen(Presence.OTHER, what="nothing")
    # A subclass may lie about everything that it is asked; only the two plain types are looked into.
    if type(value) is not Tensor and type(value) is not nn.Parameter:
        return Seen(Presence.OTHER, what=_name(value))
    shape, dtype = tuple(value.shape), _NAMES.get(value.dtype) or str(value.dtype).removeprefix("torch.")
    if value.layout is not torch.strided or value.device.type == "meta":
        return Seen(Presence.OTHER, shape=shape, dtype=dtype, what=f"a {value.layout} tensor on {value.device}")
    if dtype not in slot.dtypes or shape != slot.shape:
        return Seen(Presence.MISSHAPEN, shape=shape, dtype=dtype)
    values = value.detach()
    if not values.is_cpu or values.is_neg():
        values = values.cpu().resolve_neg()
    values = values.clone(memory_format=torch.contiguous_format)
    return Seen(Presence.TENSOR, values, shape, dtype)


def see_gradient(gradient: Tensor | None, slot: TensorSpec, *, frozen: bool = False) -> Seen:
    """Return what is in the place of a gradient; `frozen` says that none was asked for."""
    return Seen(Presence.NONE, what=FROZEN if frozen else "") if gradient is None else see(gradient, slot)


def _name(value: Any) -> str:
    kind = type(value).__name__
    if value is None:
        return "None"
    if isinstance(value, tuple | list | dict):
        return f"a {kind} of {len(value)}"
    return f"a {kind}"
