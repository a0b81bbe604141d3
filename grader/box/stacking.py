"""Makes several calls as one, on a larger batch, where they differ in the numbers of their inputs alone.

Who treats the samples of a batch apart gives the same either way, and the larger batch costs little more than one call.
Whether a submission does so is looked at each time: the larger batch begins and ends with the inputs of a call that was
made by itself before. Whatever mixes samples, tells them apart by their place, or takes one batch size only, gives
something else for one of these two, or raises. Then the larger batch does not count, and each call is made by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import torch
from torch import Tensor

from grader.box.keys import BASE, SlotKey, call_name, case_of, variant_of
from grader.box.observations import CallSeen, Presence, Seen
from grader.box.plan import Argument, Call, TensorSpec

# Relative to the largest magnitude: rounding, which may differ with the place in a batch, and far below what a check
# of who sees whom takes for a change.
_ROUNDING = 1e-13
_STACKED_DTYPE = "float64"  # what is rounded more must not differ by the place in a batch


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """The plain call of a case, made by itself, and what it gave."""

    call: Call
    seen: CallSeen


Bases = dict[str, Base]  # by the name of the call


def groups(calls: Sequence[Call]) -> Iterator[tuple[Call, ...]]:
    """Yield the calls in their order; those together that may be made as one."""
    for kind, group in groupby(calls, _kind):
        together = tuple(group)
        yield from [together] if kind is not None else [(call,) for call in together]


def _kind(call: Call) -> tuple[object, ...] | None:
    """Return what calls that are made as one have in common; None for one that is always made by itself."""
    if not call.batched or call.dtype != _STACKED_DTYPE:
        return None
    return case_of(call.name), call.build, call.part, call.batched, tuple(call.arguments)


def observe_group(calls: Sequence[Call], bases: Bases, observe_one: Callable[[Call], CallSeen]) -> Iterator[CallSeen]:
    """Yield what each of `calls`, a group, gives; `bases` are the plain calls that were made, these then included."""
    base = bases.get(call_name(case_of(calls[0].name)))
    if base is not None and len(calls) > 1 and _fits(base, calls[0]):
        parts = _unstack(observe_one(_stack(calls, base)), calls, base)
        if parts is not None:
            yield from parts
            return
    for call in calls:
        seen = observe_one(call)
        if variant_of(call.name) == BASE:
            bases[call.name] = Base(call, seen)
        yield seen


def _fits(base: Base, call: Call) -> bool:
    """Return whether the plain call can stand beside `call` in one batch: its outputs are what they should be."""
    same = (base.call.build, base.call.part, base.call.dtype) == (call.build, call.part, call.dtype)
    if not same or base.seen.raised is not None or base.seen.modified:
        return False
    return all(base.seen.slots[slot.key].tensor is not None for slot in call.outputs)


def _stack(calls: Sequence[Call], base: Base) -> Call:
    """Return one call in place of `calls`, which begins and ends with the inputs of `base`."""
    ends = (base.call, *calls, base.call)
    return replace(
        calls[0],
        arguments={name: _stacked(name, ends) for name in calls[0].arguments},
        outputs=tuple(replace(slot, shape=_larger(slot, len(ends))) for slot in calls[0].outputs),
    )


def _unstack(seen: CallSeen, calls: Sequence[Call], base: Base) -> list[CallSeen] | None:
    """Return what each of `calls` gave, of what the one in their place gave; None where that does not count."""
    if seen.raised is not None or seen.modified:
        return None
    parts: dict[SlotKey, list[Tensor]] = {}
    for slot in calls[0].outputs:
        whole, alone = seen.slots[slot.key].tensor, base.seen.slots[slot.key].tensor
        if whole is None or alone is None or whole.dtype != alone.dtype:
            return None
        first, *parts[slot.key], last = whole.view(len(calls) + 2, *slot.shape)
        if not _agree(torch.stack((first, last)), alone):
            return None
    return [_part(call, {key: tensors[number] for key, tensors in parts.items()}) for number, call in enumerate(calls)]


def _stacked(name: str, calls: Sequence[Call]) -> Argument:
    if name not in calls[1].batched:
        return calls[1].arguments[name]
    return torch.cat([value for call in calls if isinstance(value := call.arguments[name], Tensor)])


def _larger(slot: TensorSpec, times: int) -> tuple[int, ...]:
    return (times * slot.shape[0], *slot.shape[1:])


def _agree(ends: Tensor, alone: Tensor) -> bool:
    """Return whether the same inputs gave the same at both ends of the batch as by themselves, but for rounding."""
    if not alone.is_floating_point():
        return bool((ends == alone).all())
    bound = _ROUNDING * float(alone.abs().max()) if alone.numel() else 0.0
    return bool(((ends - alone).abs() <= bound).all())  # never where anything is infinite or NaN


def _part(call: Call, tensors: Mapping[SlotKey, Tensor]) -> CallSeen:
    slots: dict[str, Seen] = {
        slot.key: Seen(Presence.TENSOR, tensors[slot.key], slot.shape, str(tensors[slot.key].dtype).partition(".")[2])
        for slot in call.outputs
    }
    return CallSeen(call.name, slots)
