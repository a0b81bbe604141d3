"""Says where an answer begins to differ from the reference.

A small call that went wrong is run once more in the box, with a recorder that keeps the result of each operation. Out
here the reference runs the same call with its steps watched, and `search` compares the two. Where that names no step,
`symptoms` and `backward` look at what else is wrong: an exception, a shape, what is kept between calls, a gradient.
Whatever comes out is a sentence in the report: it gives no points and takes none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.box.cancel import CancelToken
from grader.box.keys import is_output
from grader.box.observations import CallSeen, Traced
from grader.box.plan import FLOATS, Call, Plan
from grader.checks.evidence import FLOORS
from grader.exercise.catalog import Exercise
from grader.judge import backward, behaviour, symptoms
from grader.judge.attempt import Outcome
from grader.judge.bounded import within
from grader.judge.cause import Location
from grader.judge.effort import USUAL, Effort
from grader.judge.location import location
from grader.judge.replay import Replay, echoes, outputs_of, reach
from grader.judge.retrace import Retrace, Runner, is_close
from grader.judge.scene import Node, Scene
from grader.judge.search import Found, search
from grader.judge.stages import stages
from grader.judge.text import clean

_MOST_STEPS = 100  # results of steps; a reference with more of them in one call is not looked at
_MOST_CALLS = 3  # that went wrong and are looked at
_MOST_WORK = 200_000  # for the steps beside each other, in units of `bounded`
_FINE = 1e-13  # relative: rounding leads less far in small calls, and what shows in gradients alone is far larger
_SYMPTOMS = (
    behaviour.kept,
    symptoms.failure,
    symptoms.misfit,
    behaviour.undefined,
    behaviour.trained,
    backward.lost,
    behaviour.written,
    symptoms.refusal,
)


@dataclass(frozen=True, slots=True, eq=False)
class Departure:
    """Where the numbers of one call begin to differ from the reference's."""

    call: Call
    scene: Scene
    found: Found


def locate(
    exercise: Exercise,
    outcome: Outcome,
    text: str,
    run: Runner,
    *,
    effort: int = USUAL.location,
    cancel: CancelToken | None = None,
) -> Location | None:
    """Return where an answer begins to differ from the reference, in words; None where nothing can be shown.

    Args:
        exercise: whose reference it is held against.
        outcome: what became of the answer.
        text: its source.
        run: runs a plan on it in the box, with its weights where they were found.
        effort: what may be done, in units of `effort`.
        cancel: ends the search.

    Raises:
        Stopped: it was cancelled.
    """
    again = Retrace(exercise, outcome, text, run, cancel or CancelToken())
    departed = departure(again, effort)
    if departed is not None and departed.found.first is not None:
        # Where sizes are one, or equal, what fails elsewhere may go through, and look like another mistake.
        first = (symptoms.failure, symptoms.misfit) if again.is_odd(departed.call) else ()
        return next((one for look in first if (one := look(again)) is not None), None) or _told(again, departed)
    told = (look(again) for look in _SYMPTOMS)
    found = next((one for one in told if one is not None), None)
    return found or (_told(again, departed) if departed is not None else None)


def _told(again: Retrace, departed: Departure) -> Location:
    scene, found, case = departed.scene, departed.found, again.title(departed.call)
    said = location(found, scene.replay.steps.titles, case, where=again.where, tolerance=scene.tolerance)
    said = _named_extra(again, said)
    # With a bound of its own: what is only shown must not cost what is said.
    shown = within(_MOST_WORK, lambda: stages(scene, found, again.where)) or ()
    return replace(said, case=case if shown else "", stages=shown)


def _named_extra(again: Retrace, said: Location) -> Location:
    """Return a location whose title is the cause where its line uses a parameter that the exercise does not have."""
    source = again.text.splitlines()[said.line - 1] if said.line else ""
    unused = (path for build in again.evidence.observed.builds.values() for path in build.unused)
    names = {path.partition(" ")[0].partition(".")[0] for path in unused}
    used = next((name for name in attributes(source) if name in names), None)
    if used is None or said.line is None:
        return said
    name = clean(used, limit=40)
    title = f"`self.{name}` is a parameter that the exercise does not have: see {again.where(said.line)}"
    cause = (
        f"`self.{name}` is no weight of the exercise, so it kept your initial values. Store fixed numbers in a buffer "
        "(`register_buffer`); leave out what is to be trained."
    )
    return replace(said, title=title, message=f"{cause} {said.message}")


def attributes(line: str) -> list[str]:
    """Return the names of a module's attributes that a line of its class uses."""
    return re.findall(r"\bself\.(\w+)", line)


def departure(again: Retrace, most: int = USUAL.location) -> Departure | None:
    """Return the first wrong call of which a step can be named, of a few; else one of which right numbers can be."""
    right_only: Departure | None = None
    left = most
    wrong = wrong_calls(again)
    fine = 0.0 if wrong else _FINE
    for call in (wrong or backward.slightly_off(again))[:_MOST_CALLS]:
        effort = Effort(min(left, most * 2 // 3))
        scene = look(again, call, effort, tolerance=fine)
        found = search(scene) if scene is not None else None
        left -= effort.done
        if scene is None or found is None:
            continue
        if found.first is not None and (not fine or _is_whole(scene, found)):
            return Departure(call, scene, found)
        if found.first is None and not fine:
            right_only = right_only or Departure(call, scene, found)
    return right_only


def _is_whole(scene: Scene, found: Found) -> bool:
    """Return whether the whole output follows from the numbers that differ."""
    return found.first is not None and (found.whole or not any(scene.reach[place] for place in found.first.nodes))


def wrong_calls(again: Retrace) -> list[Call]:
    """Return the calls that ended and gave other numbers than they should: the smallest of each kind, then the others.

    Two calls are of one kind if they have the same dtype, tensors and flags.
    """
    wrong = [call for call in again.counted() if _is_wrong(again, call)]
    wrong.sort(key=lambda call: call.dtype != "float64")  # what rounding hides is told from nothing
    kinds: dict[tuple[object, ...], Call] = {}
    for call in wrong:
        kinds.setdefault(_kind(again, call), call)
    first = list(kinds.values())
    return [*first, *(call for call in wrong if call not in first)]


def _kind(again: Retrace, call: Call) -> tuple[object, ...]:
    build = again.evidence.plan.build_of(call)
    values = [*call.arguments.items(), *(build.arguments.items() if build is not None else ())]
    # Sizes and probabilities are of no kind; flags, names and what is left out are.
    flags = tuple((name, value) for name, value in values if isinstance(value, bool | str) or value is None)
    tensors = tuple(name for name, value in values if isinstance(value, Tensor))
    return (call.dtype, flags, tensors)


def _is_wrong(again: Retrace, call: Call) -> bool:
    """Return whether a call in evaluation mode gave tensors of the right shapes, and wrong numbers in one of them."""
    seen = again.evidence.observed.calls.get(call.name)
    if seen is None or seen.raised is not None or call.training or again.says_nothing(call):
        return False
    got = outputs_of(seen)
    return all(slot.key in got for slot in call.outputs) and any(
        _differs(again, call, slot.key, got[slot.key]) for slot in call.outputs
    )


def _differs(again: Retrace, call: Call, key: str, got: Tensor) -> bool:
    truth = again.evidence.truth(call, key)
    return truth is not None and not is_close(got, truth, again.evidence.bound(call, key))


def look(again: Retrace, call: Call, effort: Effort, *, tolerance: float = 0.0) -> Scene | None:
    """Return what is compared, the answer and the reference on one call; None where nothing can be.

    `tolerance` is relative to the largest magnitude of a tensor; that of the verdict if it is zero.
    """
    traced = again.alone(call)
    if traced is None or traced.raised is not None:
        return None
    tolerance = tolerance or max(again.tolerance, FLOORS[call.dtype])
    if not _is_as_before(traced, again.evidence.observed.calls[call.name], tolerance):
        return None
    lines = again.text.count("\n") + 1
    replay = Replay(_forward(again.evidence.plan, call).in_double(), again.exercise.steps(), again.cancel, effort)
    return _scene(replay, traced, lines=lines, tolerance=tolerance)


def _forward(plan: Plan, call: Call) -> Plan:
    """Return the plan of the forward pass of `call` and nothing else."""
    only = plan.only(frozenset({call.name}))
    forward = replace(call, grad_outputs=(), wants=(), max_elements=0, non_contiguous=False)
    return replace(only, calls=(forward,), initial_of=())


def _is_as_before(traced: CallSeen, before: CallSeen, tolerance: float) -> bool:
    """Return whether the second run gave what the first did; else nothing that is seen in it says anything."""
    now, then = outputs_of(traced), outputs_of(before)
    return all(
        key in now and torch.allclose(now[key], value, rtol=tolerance, atol=tolerance, equal_nan=True)
        for key, value in then.items()
        if is_output(key)
    )


def _scene(replay: Replay, traced: CallSeen, *, lines: int, tolerance: float) -> Scene | None:
    inputs = list(_inputs(replay.plan))
    nodes = [*inputs, *_results(traced, lines)]
    right = replay.begin()
    if right is None or not 0 < len(right.order) <= _MOST_STEPS or len(nodes) == len(inputs):
        return None
    if len(right.order) * replay.effort.done > 2 * replay.effort.most:  # two runs so far; one for each result
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
        outputs={key: value for key, value in outputs_of(traced).items() if is_output(key)},
        tolerance=tolerance,
    )


def _inputs(plan: Plan) -> Iterator[Node]:
    """Yield the arguments that are tensors of real numbers."""
    for name, value in plan.calls[0].arguments.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            yield Node(value.double(), argument=name)


def _results(traced: CallSeen, lines: int) -> Iterator[Node]:
    """Yield the results of operations, each once where it stays the same, from lines that there are."""
    last: Traced | None = None
    for result in traced.trace:
        repeated = last is not None and last.line in result.lines and _is_same(last.values, result.values)
        last = result
        if not repeated and result.line <= lines and result.dtype in FLOATS:
            yield Node(result.values, result.line, lines=result.lines, caller=result.caller)


def _is_same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one, other)
