"""Says where an answer's gradients begin to be wrong, going back from its outputs, if its numbers are right.

The answer runs once more with its backward pass, and the gradient of each result is kept. A result that is one of the
reference's nodes has a gradient there too. What is said is shown as for numbers: the reference, with the answer's
gradient sent back in the place of its own, ends up with all the gradients that the answer ends up with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.box.keys import is_output
from grader.box.observations import CallSeen, Traced
from grader.box.plan import Call
from grader.checks.evidence import FLOORS
from grader.exercise.steps import Node
from grader.judge.explain.alignment import MOST_NODES, arrangements, is_distinctive, repeats_of, same, sums_agree
from grader.judge.explain.budget import Effort
from grader.judge.explain.trace import Replay, Replayed, WrongAnswer, is_close
from grader.judge.report import Location

_MOST_CALLS = 2  # that are looked at
_FAR = 1e-4  # relative to a gradient's scale; far above what cancels between results that agree to 1e-9
_EFFORT = 6_000  # for each of them


def lost(answer: WrongAnswer) -> Location | None:
    """Return where the gradients of a call begin to be wrong whose outputs are right."""
    for call in [call for call in _calls(answer) if _is_far_off(answer, call)][:_MOST_CALLS]:
        compared = _compare(answer, call)
        if compared is not None and (location := _at_a_node(compared) or _at_a_leaf(compared)) is not None:
            return location
    return None


def slightly_off(answer: WrongAnswer) -> list[Call]:
    """Return the calls with right outputs and gradients that are off by little: rounding decides where that shows."""
    return [call for call in _calls(answer) if not _is_far_off(answer, call)]


def _calls(answer: WrongAnswer) -> Iterator[Call]:
    """Yield the calls in evaluation mode with right outputs and a wrong gradient, the smallest first."""
    for call in answer.counted():
        seen = answer.seen(call)
        if call.grad_outputs and not call.training and seen is not None and _has_wrong_gradient(answer, call, seen):
            yield call


def _truths(answer: WrongAnswer, call: Call) -> dict[str, Tensor]:
    slots = answer.evidence.plan.slots(call)[len(call.outputs) :]
    truths = ((slot.key, answer.evidence.truth(call, slot.key)) for slot in slots)
    return {key: truth for key, truth in truths if truth is not None}


def _has_wrong_gradient(answer: WrongAnswer, call: Call, seen: CallSeen) -> bool:
    if answer.is_wrong(call, seen):
        return False
    return any(answer.evidence.has_gradient(call, key) for key in _wrong_keys(answer, call, seen))


def _wrong_keys(answer: WrongAnswer, call: Call, seen: CallSeen) -> Iterator[str]:
    for key, truth in _truths(answer, call).items():
        given = seen.slots[key].tensor
        if given is None or not is_close(given, truth, answer.evidence.bound(call, key)):
            yield key


def _is_far_off(answer: WrongAnswer, call: Call) -> bool:
    """Return whether a gradient is off by so much that what is right on the way there cannot be off by rounding."""
    seen, truths = answer.evidence.observed.calls[call.name], _truths(answer, call)
    for key in _wrong_keys(answer, call, seen):
        given, far = seen.slots[key].tensor, _FAR * max(answer.evidence.scale(call, key), 1e-300)
        if given is None or not is_close(given, truths[key], far):
            return True
    return False


@dataclass(frozen=True, slots=True, eq=False)
class _Back:
    """What came back to a node in the answer: the line of the result, and the gradient, None for none."""

    line: int
    gradient: Tensor | None


@dataclass(frozen=True, eq=False)
class _Compared:
    """One call of the answer beside the reference.

    Attributes:
        right: what the reference gives, with its gradients.
        back: by node, what came back to each of the answer's results that are that.
        tolerance: relative to the largest magnitude of a tensor.
    """

    answer: WrongAnswer
    call: Call
    seen: CallSeen
    replay: Replay
    right: Replayed
    back: dict[Node, list[_Back]]
    tolerance: float

    def wrong(self, gradients: Mapping[str, Tensor]) -> list[str]:
        """Return the inputs and weights where the answer has others than `gradients`; none is as good as zeros."""
        wrong = []
        for key, truth in _truths(self.answer, self.call).items():
            zeros, given, other = torch.zeros_like(truth), self.seen.slots[key].tensor, gradients.get(key)
            one, other = (zeros if value is None else value for value in (given, other))
            if not is_close(one, other, self.answer.evidence.bound(self.call, key)):
                wrong.append(key)
        return wrong

    def right_at(self, node: Node) -> list[_Back]:
        """Return those that came back to a node as they do in the reference."""
        truth = self.right.gradients[node]
        return [b for b in self.back[node] if b.gradient is not None and same(b.gradient, truth, self.tolerance)]

    def changed(self, nodes: Sequence[Node], keys: Sequence[str]) -> list[str]:
        """Return which gradients are others where none comes back to these nodes."""
        after, before = self.without(nodes), self.right.outputs
        if after is None:
            return []
        both = [(key, before[key], after.outputs.get(key)) for key in keys if key in before]
        return [key for key, then, now in both if now is None or not torch.equal(then, now)]

    def without(self, nodes: Sequence[Node]) -> Replayed | None:
        """Return what the reference gives where no gradient comes back to these nodes."""
        return self.replay.run(sent={node: torch.zeros_like(self.right.values[node]) for node in nodes})

    def title(self, node: Node) -> str:
        """Return what a node's step does."""
        return self.replay.steps.titles[node.step]


def _compare(answer: WrongAnswer, call: Call) -> _Compared | None:
    seen = answer.traced_alone(call)
    if seen is None or not _has_wrong_gradient(answer, call, seen):
        return None
    plan = answer.evidence.plan.only(frozenset({call.name})).in_double()
    plan = replace(plan, calls=(replace(plan.calls[0], max_elements=0, non_contiguous=False),), initial_of=())
    replay = Replay(plan, answer.exercise.steps(), answer.cancel, Effort(_EFFORT))
    right = replay.begin(sent={})
    if right is None or not 0 < len(right.gradients) <= MOST_NODES:
        return None
    tolerance = answer.tolerance if call.dtype == "float64" else FLOORS[call.dtype]
    back, repeats = dict[Node, list[_Back]](), repeats_of(right.values)
    for node, truth in right.values.items():
        if node in right.gradients and node not in repeats and is_distinctive(truth):
            several = [one for result in seen.trace if (one := _back(result, truth, tolerance)) is not None]
            back |= {node: several} if several else {}
    return _Compared(answer, call, seen, replay, right, back, tolerance)


def _back(result: Traced, truth: Tensor, tolerance: float) -> _Back | None:
    """Return what came back to a result of the answer's in the arrangement of `truth`; None if it is something else."""
    if result.values.numel() != truth.numel() or not sums_agree(result.values, truth, tolerance):
        return None
    for index, arrangement in enumerate(arrangements(result.values, truth.shape)):
        if same(arrangement.values, truth, tolerance):
            if result.gradient is None:
                return _Back(result.line, None)
            return _Back(result.line, list(arrangements(result.gradient, truth.shape))[index].values)
    return None


def _at_a_node(compared: _Compared) -> Location | None:
    """Return the last node that gets a wrong gradient which explains all the others."""
    for node in reversed(compared.back):
        for back in compared.back[node] if not compared.right_at(node) else ():
            if compared.replay.effort.spent:
                return None
            sent = torch.zeros_like(compared.right.values[node]) if back.gradient is None else back.gradient
            after = compared.replay.run(sent={node: sent})
            if after is not None and not compared.wrong(after.outputs):
                return _location_of_node(compared, node, back)
    return None


def _location_of_node(compared: _Compared, node: Node, back: _Back) -> Location:
    answer = compared.answer
    where = answer.where(back.line)
    is_none = back.gradient is None or not bool(back.gradient.any())
    what = "no gradient reaches them" if is_none else "their gradient is wrong"
    case = f"In the case “{answer.title(compared.call)}”"
    right = f"{case} the results of {where} are right (“{compared.title(node)}”), but {what}."
    if (cut := _cut(compared, node.step, right)) is not None:
        return cut
    truths = (answer.evidence.truth(compared.call, slot.key) for slot in compared.call.outputs)
    if any(truth is not None and torch.equal(truth, compared.right.values[node]) for truth in truths):
        after = "around that line, or for a decorator: these numbers are what you return"
    else:
        nodes = list(compared.back)
        later = (one for one in nodes[nodes.index(node) + 1 :] if one.step != node.step)
        title = next((compared.title(one) for one in later if compared.right_at(one)), "")
        after = "in what is computed from them" + (f", before “{title}”, whose gradient is right" if title else "")
    look = "Look for `detach()`, `.data`, `no_grad`, `.item()` or a new tensor" if is_none else "Look"
    title = f"{'No' if is_none else 'A wrong'} gradient reaches {where}"
    return Location(node.step, title, f"{right} {look} {after}.", back.line)


def _cut(compared: _Compared, step: str, right: str) -> Location | None:
    """Return the lines that an output is computed from, that come from what needs a gradient, and pass none on."""
    outputs = [slot.tensor for key, slot in compared.seen.slots.items() if is_output(key) and slot.tensor is not None]
    trace = compared.seen.trace
    first = (next((one for one in trace if is_close(one.values, output, 0.0)), None) for output in outputs)
    leading = frozenset[int]().union(*(one.lines for one in first if one is not None))
    cutting = {one.line for one in trace if one.cuts}
    if not cutting:
        return None
    lines = sorted(cutting & leading or cutting)
    where = " and ".join(map(compared.answer.where, lines))
    what = "is computed from numbers that need a gradient, and passes none on to them"
    message = f"{right} What {where} gives {what}, as after `detach()`, `.data` or `no_grad`."
    return Location(step, f"The gradient is cut at {where}", message, lines[0])


def _at_a_leaf(compared: _Compared) -> Location | None:
    """Return the first step that passes its gradient on to a weight or an input in the reference, and not here.

    All ways back to there must lead through results whose gradients are right.
    """
    right = {node: compared.right_at(node) for node in compared.back}
    if not all(right.values()):
        return None
    after = compared.without(list(right))
    outputs = after.outputs if after is not None else compared.right.outputs
    wrong = [key for key in compared.wrong(_truths(compared.answer, compared.call)) if not _is_any(outputs.get(key))]
    for node in right:
        if compared.replay.effort.spent:
            return None
        if fed := compared.changed([node], wrong):
            near = [one for one in right if one.step == node.step and compared.changed([one], fed[:1])]
            keys = set(compared.changed(near, wrong))
            return _location_of_leaf(
                compared, node, {right[one][0].line for one in near}, [k for k in fed if k in keys]
            )
    return None


def _is_any(values: Tensor | None) -> bool:
    return values is not None and bool(values.any())


def _location_of_leaf(compared: _Compared, node: Node, lines: set[int], keys: Sequence[str]) -> Location:
    names = ", ".join(f"`{key.partition(':')[2]}`" for key in keys)
    is_none = not any(_is_any(compared.seen.slots[key].tensor) for key in keys)
    where = " and ".join(map(compared.answer.where, sorted(lines)))
    what = "no gradient is passed on" if is_none else "the gradient that is passed on is wrong"
    right = (
        f"In the case “{compared.answer.title(compared.call)}” the gradient of {where} is right "
        f"(“{compared.title(node)}”), but {what} from there to {names}."
    )
    title = f"{'No' if is_none else 'A wrong'} gradient goes from {where} to {names}"
    message = f"{right} Look for `no_grad` or a new tensor between the two."
    return _cut(compared, node.step, right) or Location(node.step, title, message, min(lines))
