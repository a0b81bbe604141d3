"""Says where an answer begins to differ from the reference, if no known mistake explains it.

The smallest call that went wrong is run once more in the box, with a recorder that keeps the result of each operation.
Out here the reference runs the same call with its steps watched, and `search` compares the two. Whatever comes out is a
sentence in the report: it gives no points and takes none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from grader.box.leash import Leash
from grader.box.observations import CallSeen
from grader.box.plan import Call, Plan
from grader.box.run import Ending, Run
from grader.checks.evidence import FLOORS, Evidence
from grader.checks.masking import says_nothing
from grader.exercise.catalog import Exercise
from grader.judge.attempt import Outcome
from grader.judge.cause import Location
from grader.judge.location import location
from grader.judge.notebook import place_of
from grader.judge.replay import Replay, echoes, outputs_of, reach
from grader.judge.scene import Node, Scene
from grader.judge.search import search

_MOST_STEPS = 100  # results of steps; a reference with more of them in one call is not looked at
_MOST_RUNS = 200  # of the reference, for one answer; each takes about a millisecond


Runner = Callable[[Plan], Run]


def locate(
    exercise: Exercise, outcome: Outcome, text: str, run: Runner, *, leash: Leash | None = None
) -> Location | None:
    """Return where an answer begins to differ from the reference, in words; None where nothing can be shown.

    Args:
        exercise: whose reference it is held against.
        outcome: what became of the answer.
        text: its source.
        run: runs a plan on it in the box, with its weights where they were found.
        leash: pulling it ends the search.

    Raises:
        Stopped: the leash was pulled.
    """
    scene = look(exercise, outcome, text, run, leash=leash)
    found = search(scene) if scene is not None else None
    if scene is None or found is None:
        return None
    name = scene.replay.plan.calls[0].name.partition("/")[0]
    case = next((case.title for case in exercise.spec.cases if case.name == name), name)
    where = partial(place_of, text=text)
    return location(found, scene.replay.steps.titles, case, where=where, tolerance=scene.tolerance)


def look(exercise: Exercise, outcome: Outcome, text: str, run: Runner, *, leash: Leash | None = None) -> Scene | None:
    """Return what is compared, the answer and the reference on one call; the arguments are those of `locate`."""
    evidence = outcome.evidence
    call = smallest(exercise, evidence)
    if call is None:
        return None
    plan = _alone(evidence.plan, call)
    seen = run(_traced(plan))
    traced = seen.observations.calls.get(call.name)
    if seen.ending is not Ending.FINISHED or traced is None or traced.raised is not None:
        return None
    exact = outcome.coarse is None and not outcome.single  # else its numbers are rounded like float32
    tolerance = FLOORS[call.dtype] if exact else FLOORS["float32"]
    if not _is_as_before(traced, evidence.observed.calls[call.name], tolerance):
        return None
    return _scene(exercise, plan, traced, leash or Leash(), lines=text.count("\n") + 1, tolerance=tolerance)


def smallest(exercise: Exercise, evidence: Evidence) -> Call | None:
    """Return the call with the fewest numbers among those that ended and gave other outputs than they should.

    Cases whose sizes are equal on purpose come last.
    """
    alike = {case.name for case in exercise.spec.cases if case.alike}
    wrong = (call for call in evidence.plan.untrained().calls if _is_wrong(evidence, call))
    return min(wrong, key=lambda call: (call.name.partition("/")[0] in alike, *_size(call)), default=None)


def _size(call: Call) -> tuple[bool, int]:
    """Return what a call is sorted by; where an axis has length one, many mistakes look the same."""
    tensors = [value for value in call.arguments.values() if isinstance(value, Tensor)]
    return any(1 in value.shape for value in tensors), sum(value.numel() for value in tensors)


def _is_wrong(evidence: Evidence, call: Call) -> bool:
    """Return whether a call in evaluation mode gave tensors of the right shapes, and wrong numbers in one of them."""
    seen = evidence.observed.calls.get(call.name)
    kind = evidence.plan.contract(call.part).kind
    if seen is None or seen.raised is not None or call.training or call.reads_weights or kind.brings_a_model:
        return False
    if call.name in evidence.free or says_nothing(call, evidence.observed):
        return False
    got = outputs_of(seen)
    if not all(slot.key in got for slot in call.outputs):
        return False
    return any(_differs(evidence, call, slot.key, got[slot.key]) for slot in call.outputs)


def _differs(evidence: Evidence, call: Call, key: str, got: Tensor) -> bool:
    truth = evidence.truth(call, key)
    if truth is None:
        return False
    close = (got - truth.double()).abs() <= evidence.bound(call, key)
    return not bool((close | (got == truth)).all())


def _alone(plan: Plan, call: Call) -> Plan:
    """Return the plan of the forward pass of `call` and nothing else."""
    only = plan.only(frozenset({call.name}))
    forward = replace(call, upstream=(), wants=(), below=0, strided=False)
    return replace(only, calls=(forward,), begun=())


def _traced(plan: Plan) -> Plan:
    return replace(plan, calls=tuple(replace(call, traced=True) for call in plan.calls))


def _is_as_before(traced: CallSeen, before: CallSeen, tolerance: float) -> bool:
    """Return whether the second run gave what the first did; else nothing that is seen in it says anything."""
    now, then = outputs_of(traced), outputs_of(before)
    return all(
        key in now and torch.allclose(now[key], value, rtol=tolerance, atol=tolerance, equal_nan=True)
        for key, value in then.items()
        if key.startswith("output:")
    )


def _scene(
    exercise: Exercise, plan: Plan, traced: CallSeen, leash: Leash, *, lines: int, tolerance: float
) -> Scene | None:
    inputs = list(_inputs(plan))
    nodes = [*inputs, *_results(traced, lines)]
    replay = Replay(plan.in_double(), exercise.steps(), leash, most=_MOST_RUNS)
    right = replay.run()
    if right is None or not 0 < len(right.order) <= _MOST_STEPS or len(nodes) == len(inputs):
        return None
    moved, blind = reach(replay, right)
    return Scene(
        replay,
        order=right.order,
        places=right.values,
        echoes=echoes(right.values, (node.values for node in inputs)),
        reach=moved,
        blind=blind,
        nodes=nodes,
        outputs=outputs_of(traced),
        tolerance=tolerance,
    )


def _inputs(plan: Plan) -> Iterator[Node]:
    """Yield the arguments that are tensors of real numbers."""
    for name, value in plan.calls[0].arguments.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            yield Node(value.double(), argument=name)


def _results(traced: CallSeen, lines: int) -> Iterator[Node]:
    """Yield the results of operations, each once where it stays the same, from lines that there are."""
    last: Tensor | None = None
    for result in traced.trace:
        repeated = last is not None and last.shape == result.values.shape and torch.equal(last, result.values)
        last = result.values
        if not repeated and result.line <= lines:
            yield Node(result.values, result.line)
