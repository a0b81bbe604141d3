"""Makes several calls as one, on a larger batch, where they differ in the numbers of their inputs alone.

Who treats the samples of a batch apart gives the same either way, and the larger batch costs little more than one call.
Whether a submission does so is looked at each time: the inputs of a call that was made by itself before stand in the
larger batch as well, among others that are there for nothing else. Whoever mixes samples, tells them apart by their
place, or takes one batch size only, gives something else for these inputs, or raises. Then the larger batch does not
count, and each call is made by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

import torch
from torch import Tensor

from grader.box.keys import BASE, call_name, case_of, variant_of
from grader.box.observations import CallSeen
from grader.box.plan import Argument, Call

# Relative to the largest magnitude: rounding, which may differ with the place in a batch, and far below what a check
# of who sees whom takes for a change.
_ROUNDING = 1e-13
_PLACE_OF_BASE, _FIRST = 1, 3  # in the larger batch, see `_order`
_BATCH_AND_WIDTH = 2  # axes
_WORTH_IT = 3  # calls; fewer cost less by themselves
_STACKED_DTYPE = "float64"  # what is rounded more must not differ by the place in a batch


@dataclass(frozen=True, slots=True, eq=False)
class PlainCall:
    """The plain call of a case, made by itself, and what it gave."""

    call: Call
    seen: CallSeen


PlainCalls = dict[str, PlainCall]  # by the name of the call
_Any = TypeVar("_Any")


def groups(calls: Sequence[Call]) -> Iterator[tuple[Call, ...]]:
    """Yield the calls in their order; those together that may be made as one."""
    for kind, group in groupby(calls, _kind):
        together = tuple(group)
        yield from [together] if kind is not None else [(call,) for call in together]


def _kind(call: Call) -> tuple[object, ...] | None:
    """Return what calls that are made as one have in common; None for one that is always made by itself."""
    special = (call.grad_outputs, call.traced, call.max_elements, call.non_contiguous, call.reads_weights)
    if not call.batched or call.dtype != _STACKED_DTYPE or any(special):
        return None
    return case_of(call.name), call.build, call.part, call.training, call.seed, call.batched, tuple(call.arguments)


def observe_group(
    calls: Sequence[Call], plain: PlainCalls, observe_one: Callable[[Call], CallSeen]
) -> Iterator[CallSeen]:
    """Yield what each of `calls`, a group, gives; `plain` are the plain calls that were made, these then included."""
    base = plain.get(call_name(case_of(calls[0].name)))
    if base is not None and len(calls) >= _WORTH_IT and _fits(base, calls[0]):
        parts = _unstack(observe_one(_stack(calls, base)), calls, base)
        if parts is not None:
            yield from parts
            return
    for call in calls:
        seen = observe_one(call)
        if variant_of(call.name) == BASE:
            plain[call.name] = PlainCall(call, seen)
        yield seen


def _fits(base: PlainCall, call: Call) -> bool:
    """Return whether the plain call can stand beside `call` in one batch: its outputs are what they should be."""
    how = [(one.build, one.part, one.dtype, one.training, one.seed, one.arguments.keys()) for one in (base.call, call)]
    if how[0] != how[1] or base.seen.raised is not None or base.seen.modified:
        return False
    return all(base.seen.slots[slot.key].tensor is not None for slot in call.outputs)


def _stack(calls: Sequence[Call], base: PlainCall) -> Call:
    """Return one call in place of `calls`, in whose batch `base` is second; see `_order`."""
    count = len(_order(calls, base.call, base.call))
    return replace(
        calls[0],
        arguments={name: _stacked(name, calls, base) for name in calls[0].arguments},
        outputs=tuple(replace(slot, shape=(count * slot.shape[0], *slot.shape[1:])) for slot in calls[0].outputs),
    )


def _order(calls: Sequence[_Any], base: _Any, other: _Any) -> tuple[_Any, ...]:
    """Return what stands in the larger batch, in its order.

    The plain call has different neighbours, none of its inputs stand first or last, and it has no mirror image.
    """
    return (other, base, other, *calls, other, other)


def _stacked(name: str, calls: Sequence[Call], base: PlainCall) -> Argument:
    own = base.call.arguments[name]
    if name not in calls[0].batched or not isinstance(own, Tensor):
        return calls[0].arguments[name]
    values = [value for call in calls if isinstance(value := call.arguments[name], Tensor)]
    return torch.cat(_order(values, own, _rolled(own)))


def _rolled(value: Tensor) -> Tensor:
    """Return other inputs of the same kind: the same numbers in other places; a mask as it is."""
    if value.dtype == torch.bool or value.dim() < _BATCH_AND_WIDTH:
        return value
    return value.roll(1, dims=-1) if value.dim() == _BATCH_AND_WIDTH else value.roll((1, 1), dims=(1, -1))


def _unstack(seen: CallSeen, calls: Sequence[Call], base: PlainCall) -> list[CallSeen] | None:
    """Return what each of `calls` gave, of what the one in their place gave; None where that does not count."""
    if seen.raised is not None or seen.modified:
        return None
    wholes: dict[str, Tensor] = {}
    for slot in calls[0].outputs:
        whole, alone = seen.slots[slot.key].tensor, base.seen.slots[slot.key].tensor
        if whole is None or alone is None or whole.dtype != alone.dtype:
            return None
        wholes[slot.key] = whole.view(-1, *slot.shape)
        if not _agree(wholes[slot.key][_PLACE_OF_BASE], alone):
            return None
    return [
        CallSeen(call.name, {key: replace(base.seen.slots[key], tensor=whole[place]) for key, whole in wholes.items()})
        for place, call in enumerate(calls, _FIRST)
    ]


def _agree(together: Tensor, alone: Tensor) -> bool:
    """Return whether the same inputs gave the same in the larger batch as by themselves, but for rounding."""
    if not alone.is_floating_point():
        return torch.equal(together, alone)
    bound = _ROUNDING * float(alone.abs().max()) if alone.numel() else 0.0
    return bool(((together - alone).abs() <= bound).all())  # never where anything is infinite or NaN
