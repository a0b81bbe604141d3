"""Says where an answer's gradients begin to be wrong, going back from its outputs, if its numbers are right.

The answer runs once more with its backward pass, and the gradient of each result is kept. A result that is one of the
reference's steps has a gradient there too. What is said is shown as for numbers: the reference, with the answer's
gradient sent back in the place of its own, ends up with all the gradients that the answer ends up with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.box.keys import is_output
from grader.box.observations import CallSeen, Traced
from grader.box.plan import Call
from grader.checks.evidence import FLOORS
from grader.exercise.steps import Place
from grader.judge.arrangements import arrangements, may_be, same
from grader.judge.cause import Location
from grader.judge.effort import Effort
from grader.judge.replay import Replay, Replayed, echoes, is_telling
from grader.judge.retrace import Retrace, is_close

_MOST_CALLS = 2  # that are looked at
_MOST_STEPS = 100  # results of steps; a reference with more of them in one call is not looked at
_FAR = 1e-4  # relative to a gradient's scale; far above what cancels between results that agree to 1e-9
_EFFORT = 6_000  # for each of them


@dataclass(frozen=True, slots=True, eq=False)
class _Back:
    """What came back to the result of a step in the answer: the line of the result, and the gradient, None for none."""

    line: int
    gradient: Tensor | None


@dataclass(frozen=True, eq=False)
class _ComparedCall:
    """One call of the answer beside the reference.

    Attributes:
        right: what the reference gives, with its gradients.
        back: by step's result, what came back to each of the answer's results that are that.
        tolerance: relative to the largest magnitude of a tensor.
    """

    again: Retrace
    call: Call
    seen: CallSeen
    replay: Replay
    right: Replayed
    back: dict[Place, list[_Back]]
    tolerance: float

    def explains(self, gradients: Mapping[str, Tensor]) -> bool:
        """Return whether gradients of inputs and weights are what the answer has."""
        return all(self.agrees(key, gradients.get(key)) for key in _keys(self.again, self.call))

    def agrees(self, key: str, gradient: Tensor | None) -> bool:
        """Return whether the answer has `gradient` at an input or a weight; none is as good as zeros."""
        truth, found = self.again.evidence.truth(self.call, key), self.seen.slots[key].tensor
        assert truth is not None
        zeros = torch.zeros_like(truth)
        one, other = (zeros if value is None else value for value in (found, gradient))
        return is_close(one, other, self.again.evidence.bound(self.call, key))

    def is_right(self, key: str) -> bool:
        """Return whether the answer has the right gradient at an input or a weight."""
        return self.agrees(key, self.again.evidence.truth(self.call, key))

    def fits(self, place: Place, back: _Back) -> bool:
        """Return whether what came back to a step's result is what comes back in the reference."""
        return back.gradient is not None and same(back.gradient, self.right.gradients[place], self.tolerance)


def lost(again: Retrace) -> Location | None:
    """Return where the gradients of a call begin to be wrong whose outputs are right."""
    for call in [call for call in _calls(again) if _is_far_off(again, call)][:_MOST_CALLS]:
        compared = _look(again, call)
        if compared is not None and (told := _at_a_step(compared) or _at_a_leaf(compared)) is not None:
            return told
    return None


def _keys(again: Retrace, call: Call) -> list[str]:
    """Return the gradients that are compared."""
    slots = again.evidence.plan.slots(call)[len(call.outputs) :]
    return [slot.key for slot in slots if again.evidence.truth(call, slot.key) is not None]


def _calls(again: Retrace) -> Iterator[Call]:
    """Yield the calls in evaluation mode with right outputs and a wrong gradient, the smallest first."""
    for call in again.counted():
        seen = again.evidence.observed.calls.get(call.name)
        if call.grad_outputs and not call.training and seen is not None and _is_astray(again, call, seen):
            yield call


def slightly_off(again: Retrace) -> list[Call]:
    """Return the calls with right outputs and gradients that are off by little: rounding decides where that shows."""
    return [call for call in _calls(again) if not _is_far_off(again, call)]


def _is_far_off(again: Retrace, call: Call) -> bool:
    """Return whether a gradient is off by so much that what is right on the way there cannot be off by rounding."""
    seen = again.evidence.observed.calls[call.name]
    for key in _keys(again, call):
        found, truth = seen.slots[key].tensor, again.evidence.truth(call, key)
        assert truth is not None
        far = _FAR * max(again.evidence.scale(call, key), 1e-300)
        if _is_off(again, call, key, seen) and (found is None or not is_close(found, truth, far)):
            return True
    return False


def _is_astray(again: Retrace, call: Call, seen: CallSeen) -> bool:
    if again.is_wrong(call, seen):
        return False
    return any(_is_off(again, call, key, seen) for key in _keys(again, call) if again.evidence.has_gradient(call, key))


def _is_off(again: Retrace, call: Call, key: str, seen: CallSeen) -> bool:
    found, truth = seen.slots[key].tensor, again.evidence.truth(call, key)
    assert truth is not None
    return found is None or not is_close(found, truth, again.evidence.bound(call, key))


def _look(again: Retrace, call: Call) -> _ComparedCall | None:
    seen = again.alone(call)
    if seen is None or not _is_astray(again, call, seen):
        return None
    plan = again.evidence.plan.only(frozenset({call.name})).in_double()
    plan = replace(plan, calls=(replace(plan.calls[0], max_elements=0, non_contiguous=False),), initial_of=())
    replay = Replay(plan, again.exercise.steps(), again.cancel, Effort(_EFFORT))
    right = replay.begin(sent={})
    if right is None or not 0 < len(right.gradients) <= _MOST_STEPS:
        return None
    tolerance = again.tolerance if call.dtype == "float64" else FLOORS[call.dtype]
    return _ComparedCall(again, call, seen, replay, right, _backs(right, seen.trace, tolerance), tolerance)


def _backs(right: Replayed, trace: tuple[Traced, ...], tolerance: float) -> dict[Place, list[_Back]]:
    repeated = echoes(right.values, iter(()))
    found: dict[Place, list[_Back]] = {}
    for place, truth in right.values.items():
        if place in right.gradients and place not in repeated and is_telling(truth):
            found[place] = [back for result in trace if (back := _back(result, truth, tolerance)) is not None]
    return {place: backs for place, backs in found.items() if backs}


def _back(result: Traced, truth: Tensor, tolerance: float) -> _Back | None:
    """Return what came back to a result of the answer's in the layout of `truth`; None if it is something else."""
    if result.values.numel() != truth.numel() or not may_be(result.values, truth, tolerance):
        return None
    for index, way in enumerate(arrangements(result.values, truth.shape)):
        if same(way.values, truth, tolerance):
            if result.gradient is None:
                return _Back(result.line, None)
            laid_out = list(arrangements(result.gradient, truth.shape))[index]
            return _Back(result.line, laid_out.values)
    return None


def _at_a_step(compared: _ComparedCall) -> Location | None:
    """Return the last step whose result gets a wrong gradient that explains all the others."""
    for place in reversed(compared.back):
        if any(compared.fits(place, back) for back in compared.back[place]):
            continue
        for back in compared.back[place]:
            if compared.replay.spent:
                return None
            sent = torch.zeros_like(compared.right.values[place]) if back.gradient is None else back.gradient
            after = compared.replay.run(sent={place: sent})
            if after is not None and compared.explains(after.outputs):
                return _told_step(compared, place, back)
    return None


def _told_step(compared: _ComparedCall, place: Place, back: _Back) -> Location:
    again = compared.again
    line = again.where(back.line)
    title = compared.replay.steps.titles[place.step]
    is_none = back.gradient is None or not bool(back.gradient.any())
    what = "no gradient reaches them" if is_none else "their gradient is wrong"
    right = f"In the case “{again.title(compared.call)}” the results of {line} are right (“{title}”), but {what}."
    if cuts := _cuts(compared):
        return Location(
            place.step,
            f"The gradient is cut at {_listed(compared, cuts)}",
            f"{right} {_told_cuts(compared, cuts)}",
            cuts[0],
        )
    later = _still_right(compared, place)
    until = f", before “{later}”, whose gradient is right" if later else ""
    after = "around that line, or for a decorator: these numbers are what you return"
    if not _is_returned(compared, place):
        after = f"in what is computed from them{until}"
    look = "Look for `detach()`, `.data`, `no_grad`, `.item()` or a new tensor" if is_none else "Look"
    return Location(
        place.step, f"{'No' if is_none else 'A wrong'} gradient reaches {line}", f"{right} {look} {after}.", back.line
    )


def _cuts(compared: _ComparedCall) -> list[int]:
    """Return the lines of what an output is computed from that come from what needs a gradient, and pass none on."""
    outputs = [slot.tensor for key, slot in compared.seen.slots.items() if is_output(key) and slot.tensor is not None]
    trace = compared.seen.trace
    first = (next((one for one in trace if is_close(one.values, output, 0.0)), None) for output in outputs)
    leading = frozenset[int]().union(*(one.lines for one in first if one is not None))
    cuts = {one.line for one in trace if one.cuts}
    return sorted(cuts & leading or cuts)


def _listed(compared: _ComparedCall, lines: list[int]) -> str:
    return " and ".join(compared.again.where(line) for line in lines)


def _told_cuts(compared: _ComparedCall, cuts: list[int]) -> str:
    """Say of lines that a gradient ends there."""
    told = "is computed from numbers that need a gradient, and passes none on to them"
    return f"What {_listed(compared, cuts)} gives {told}, as after `detach()`, `.data` or `no_grad`."


def _is_returned(compared: _ComparedCall, place: Place) -> bool:
    """Return whether the numbers of a place are an output: nothing is computed from them any more."""
    truths = (compared.again.evidence.truth(compared.call, slot.key) for slot in compared.call.outputs)
    value = compared.right.values[place]
    return any(truth is not None and truth.shape == value.shape and torch.equal(truth, value) for truth in truths)


def _still_right(compared: _ComparedCall, place: Place) -> str:
    """Return what the next step does whose result has the right gradient."""
    places = list(compared.back)
    later = (one for one in places[places.index(place) + 1 :] if one.step != place.step)
    found = next((one for one in later if any(compared.fits(one, back) for back in compared.back[one])), None)
    return compared.replay.steps.titles[found.step] if found is not None else ""


def _at_a_leaf(compared: _ComparedCall) -> Location | None:
    """Return the first step that passes its gradient on to a weight or an input in the reference, and not here.

    All ways back to there must lead through results whose gradients are right.
    """
    right = {place: [one for one in backs if compared.fits(place, one)] for place, backs in compared.back.items()}
    if not all(right.values()):
        return None
    wrong = _fed_by(
        compared, list(right), [key for key in _keys(compared.again, compared.call) if not compared.is_right(key)]
    )
    for place in right:
        if compared.replay.spent:
            return None
        if fed := _changed(compared, [place], wrong):
            near = [one for one in right if one.step == place.step and _changed(compared, [one], fed[:1])]
            lines = [right[one][0].line for one in near]
            return _told_leaf(
                compared, place.step, lines, [key for key in fed if key in _changed(compared, near, wrong)]
            )
    return None


def _fed_by(compared: _ComparedCall, places: list[Place], keys: list[str]) -> list[str]:
    """Return which gradients come through these places alone."""
    after = compared.replay.run(sent={place: torch.zeros_like(compared.right.values[place]) for place in places})
    outputs = after.outputs if after is not None else compared.right.outputs
    return [key for key in keys if key not in outputs or not bool(outputs[key].any())]


def _changed(compared: _ComparedCall, places: list[Place], keys: list[str]) -> list[str]:
    """Return which gradients are others where none comes back to these places."""
    after = compared.replay.run(sent={place: torch.zeros_like(compared.right.values[place]) for place in places})
    return [key for key in keys if after is not None and not _same_outputs(compared, key, after)]


def _same_outputs(compared: _ComparedCall, key: str, after: Replayed) -> bool:
    before, now = compared.right.outputs.get(key), after.outputs.get(key)
    return before is None or (now is not None and torch.equal(before, now))


def _told_leaf(compared: _ComparedCall, step: str, lines: list[int], keys: list[str]) -> Location:
    again = compared.again
    names = ", ".join(f"`{key.partition(':')[2]}`" for key in keys)
    found = [compared.seen.slots[key].tensor for key in keys]
    is_none = all(tensor is None or not bool(tensor.any()) for tensor in found)
    where = _listed(compared, sorted(set(lines)))
    what = "no gradient is passed on" if is_none else "the gradient that is passed on is wrong"
    cuts = _cuts(compared)
    right = (
        f"In the case “{again.title(compared.call)}” the gradient of {where} is right "
        f"(“{compared.replay.steps.titles[step]}”), but {what} from there to {names}."
    )
    if cuts:
        told = f"The gradient is cut at {_listed(compared, cuts)}"
        return Location(step, told, f"{right} {_told_cuts(compared, cuts)}", cuts[0])
    title = f"{'No' if is_none else 'A wrong'} gradient goes from {where} to {names}"
    return Location(step, title, f"{right} Look for `no_grad` or a new tensor between the two.", min(lines))
