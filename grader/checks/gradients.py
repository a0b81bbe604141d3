"""Gradients: they arrive at every input and weight, and are the right ones."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from grader.box.keys import call_name
from grader.box.observations import FROZEN, Presence, Seen
from grader.box.plan import Call, TensorSpec
from grader.checks.compare import difference, same
from grader.checks.evidence import Evidence, Item, Trait, Work, base_call, magnitude
from grader.checks.explain import explain
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.registry import check
from grader.exercise.spec import Dimension

TRAINED = "trained"  # the variant of a call whose numbers are chance: only whether gradients arrive is asked of it
_FROZEN = "it does not ask for one (`requires_grad=False`, `requires_grad_(False)`), so it cannot be trained"
_UNREACHED = (
    "either your output does not depend on it, or the graph is cut on the way (detach, .data, no_grad, item, numpy, "
    "Variable, a new tensor)"
)
_FLAT = (
    "either your output does not depend on it, or something on the way has gradient zero, such as `round`, `sign`, "
    "`clamp` or a softmax that gives 1 to one score"
)
_KEPT_GRAPH = "backward through the graph a second time"  # of an earlier call; that something is kept is told elsewhere


def gradient_slots(call: Call, evidence: Evidence) -> tuple[TensorSpec, ...]:
    """Return the gradients that `call` sends back."""
    return evidence.once(("gradients", call.name), lambda: evidence.plan.slots(call)[len(call.outputs) :])


def _flow_work(item: Item) -> Work:
    base = base_call(item.case, backward=True)
    trained = replace(base, name=call_name(item.case.name, TRAINED), training=True)
    return Work((base, trained) if _is_trained(item) else (base,))


@check("gradient_flow", "gradient flow", Dimension.GRADIENTS, work=_flow_work, traits=[Trait.SHOWS_GRADIENTS])
def judge_flow(item: Item, evidence: Evidence) -> Finding:
    """A finite gradient, not zero, must arrive wherever the reference has one, and one at all in training mode."""
    call = evidence.call(item, "base")
    seen = evidence.seen(call)
    if seen.raised is not None:
        return failed(explain(seen.raised))
    for slot in gradient_slots(call, evidence):
        if (text := blocked(slot, seen.slots[slot.key])) and evidence.has_gradient(call, slot.key):
            return failed(f"{text}{_spoilt(call, evidence, slot)}")
    text = _lost_in_training(evidence.call(item, TRAINED), evidence) if _is_trained(item) else ""
    later = "in evaluation mode all gradients are there, but in a later call, in training mode, "
    return failed(f"{later}{text}") if text else PASSED


@check(
    "gradient_values",
    "gradient values",
    Dimension.GRADIENTS,
    work=lambda item: Work((base_call(item.case, backward=True),)),
    needs=("shape", "values", "gradient_flow"),
    traits=[Trait.SHOWS_GRADIENTS],
)
def judge_values(item: Item, evidence: Evidence) -> Finding:
    """Every element of every gradient must equal the reference's, for a random upstream gradient."""
    call = evidence.call(item, "base")
    seen = evidence.seen(call)
    if seen.raised is not None:
        return failed(explain(seen.raised))
    wrong = (_wrong(slot, seen.slots[slot.key], call, evidence) for slot in gradient_slots(call, evidence))
    text = next(filter(None, wrong), "")
    return failed(text) if text else PASSED


def _is_trained(item: Item) -> bool:
    """Return whether the gradients of a case are looked at in training mode too: the first, and one with dropout."""
    given = item.case.construct
    return bool(given) and (item.case.name == item.spec.cases[0] or bool(given.get("dropout")))


def _lost_in_training(call: Call, evidence: Evidence) -> str:
    """Return which gradient does not arrive in training mode; empty where all do, or where other checks say why not.

    Only whether there is one is asked: what dropout made of it is chance.
    """
    if evidence.problem(call) is not None:
        return ""
    seen = evidence.seen(call)
    if seen.raised is not None:
        return "" if _KEPT_GRAPH in seen.raised.message else explain(seen.raised)
    missing = (
        blocked(slot, seen.slots[slot.key])
        for slot in gradient_slots(call, evidence)
        if seen.slots[slot.key].presence is Presence.NONE and evidence.has_gradient(call, slot.key)
    )
    return next(missing, "")


def blocked(slot: TensorSpec, seen: Seen) -> str:
    """Return why a gradient does not do its work; empty if it does."""
    if seen.tensor is not None and 0.0 < magnitude(seen.tensor) < math.inf:
        return ""
    name = f"`{slot.name}`"
    if seen.presence is Presence.NONE:
        return f"no gradient reaches {name}: {_FROZEN if seen.what == FROZEN else _UNREACHED}"
    if seen.tensor is None:
        return f"the gradient of {name} has shape {seen.shape} and dtype {seen.dtype}, which cannot be compared"
    if not bool(torch.isfinite(seen.tensor).all()):
        return f"the gradient of {name} contains NaN or infinite numbers"
    if not bool(seen.tensor.any()):
        return f"the gradient of {name} is zero everywhere: {_FLAT}"
    return ""


def _spoilt(call: Call, evidence: Evidence, slot: TensorSpec) -> str:
    """Return where NaN in a gradient comes from, as far as the outputs tell; empty where there is none."""
    found = evidence.seen(call).slots[slot.key].tensor
    if found is None or not bool(found.isnan().any()):
        return ""
    if any(bool(evidence.output(call, output).isnan().any()) for output in call.outputs):
        return ", and so does your output; look for one cause of both"
    return (
        ", although your output has none. In the backward pass 0 times inf is NaN: look for a `torch.where` or "
        "`nan_to_num` that hides an earlier NaN or infinity, or for a square root, a norm or a logarithm of 0"
    )


def _wrong(slot: TensorSpec, seen: Seen, call: Call, evidence: Evidence) -> str:
    truth = evidence.truth(call, slot.key)
    if truth is None:
        return ""
    if seen.tensor is None:
        return blocked(slot, seen) if evidence.has_gradient(call, slot.key) else ""
    if same(seen.tensor, truth):
        return ""
    bound = evidence.bound(call, slot.key)
    return difference(f"gradient of {slot.name}", seen.tensor, truth, bound=bound, slot=slot)
