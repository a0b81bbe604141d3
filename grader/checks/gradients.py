"""Gradient flow: gradients arrive at every input and weight, and are the right ones."""

from __future__ import annotations

from typing import ClassVar

import torch

from grader.box.observations import Presence, Seen
from grader.box.plan import Call, Slot
from grader.checks.compare import difference
from grader.checks.evidence import Evidence, Item, Work, base_call
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.trouble import explain
from grader.exercise.spec import Dimension


def gradient_slots(call: Call, evidence: Evidence) -> tuple[Slot, ...]:
    """Return the gradients that `call` sends back."""
    return evidence.plan.slots(call)[len(call.outputs) :]


class GradientFlow:
    """A finite gradient that is not zero arrives wherever the reference has one."""

    dimension: ClassVar = Dimension.GRADIENTS
    title: ClassVar[str] = "gradients arrive"
    needs: ClassVar[tuple[str, ...]] = ("shape",)

    def work(self, item: Item) -> Work:
        """Call once, with a backward pass."""
        return Work((base_call(item.case, backward=True),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Look at each gradient by itself."""
        call = evidence.call(item, "base")
        if (trouble := evidence.trouble(call)) is not None:
            return trouble
        seen = evidence.seen(call)
        if seen.raised is not None:
            return failed(explain(seen.raised))
        for slot in gradient_slots(call, evidence):
            if evidence.has_gradient(call, slot.key) and (text := _blocked(slot, seen.slots[slot.key])):
                return failed(text)
        return PASSED


class GradientValues:
    """Every element of every gradient equals the reference's, for a random upstream gradient."""

    dimension: ClassVar = Dimension.GRADIENTS
    title: ClassVar[str] = "gradient values"
    needs: ClassVar[tuple[str, ...]] = ("shape", "values", "gradient_flow")

    def work(self, item: Item) -> Work:
        """Call once, with a backward pass."""
        return Work((base_call(item.case, backward=True),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare element by element."""
        call = evidence.call(item, "base")
        if (trouble := evidence.trouble(call)) is not None:
            return trouble
        seen = evidence.seen(call)
        if seen.raised is not None:
            return failed(explain(seen.raised))
        for slot in gradient_slots(call, evidence):
            if text := _wrong(slot, seen.slots[slot.key], call, evidence):
                return failed(text)
        return PASSED


class NoParameters:
    """The module holds no parameter beside the contract's weights: what is fixed must not be trained."""

    dimension: ClassVar = Dimension.GRADIENTS
    title: ClassVar[str] = "nothing to train"
    needs: ClassVar[tuple[str, ...]] = ("shape",)

    def work(self, item: Item) -> Work:
        """Call once, so that the module is built."""
        return Work((base_call(item.case),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Look for parameters that no weight of the contract claimed."""
        call = evidence.call(item, "base")
        if (trouble := evidence.trouble(call)) is not None:
            return trouble
        built = evidence.built(call)
        if built is None or not built.unused:
            return PASSED
        listed = ", ".join(built.unused)
        return failed(f"an optimiser would change {listed}; what is fixed belongs in a buffer (`register_buffer`)")


def _blocked(slot: Slot, seen: Seen) -> str:
    """Return why a gradient does not do its work; empty if it does."""
    name = f"`{slot.name}`"
    if seen.presence is Presence.NONE:
        cuts = "detach, .data, no_grad, item, numpy, Variable, a new tensor"
        return f"no gradient reaches {name}: somewhere the graph is cut ({cuts})"
    if seen.tensor is None:
        return f"the gradient of {name} has shape {seen.shape} and dtype {seen.dtype}, which cannot be compared"
    if not bool(torch.isfinite(seen.tensor).all()):
        return f"the gradient of {name} has NaN or infinite entries"
    if not bool(seen.tensor.any()):
        return f"the gradient of {name} is zero everywhere: it does not influence your output"
    return ""


def _wrong(slot: Slot, seen: Seen, call: Call, evidence: Evidence) -> str:
    truth = evidence.truth(call, slot.key)
    if truth is None:
        return ""
    if seen.tensor is None:
        return _blocked(slot, seen) if evidence.has_gradient(call, slot.key) else ""
    bound = evidence.bound(call, slot.key)
    return difference(f"gradient of {slot.name}", seen.tensor, truth, bound=bound, slot=slot)
