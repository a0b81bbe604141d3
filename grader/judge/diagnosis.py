"""Names the mistake: the known one whose observations are the student's, or the two.

Every known mistake runs the same plan as the student's code did. One that agrees on every call, outputs and gradients,
to the precision of the verdict, explains the submission. Where none does, two mistakes on different steps of the
reference are tried together. A mistake of the exercise's own goes before one that is only offered to it. The diagnosis
is certain if the run was complete and reached in float64, and the search came to its end; if nothing agrees, or several
things do, nothing is said about causes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from torch import Tensor

from grader.box.cancel import CancelToken
from grader.box.keys import case_of
from grader.box.observations import Event, Observations, Stage
from grader.box.observe import observe
from grader.box.plan import Call
from grader.checks.evidence import Evidence
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake
from grader.exercise.spec import Dimension
from grader.judge.effort import USUAL, Effort
from grader.judge.pairs import Lineup, Probe
from grader.judge.recall import Memory, begun, plan_key
from grader.judge.report import Diagnosis
from grader.judge.target import Target, target_of

_PROBES = 4  # cases on which a pair has to agree before it is tried on all


def diagnose(
    exercise: Exercise,
    evidence: Evidence,
    known: Mapping[str, Observations] | None = None,
    lost: Collection[Dimension] = tuple(Dimension),
    *,
    cancel: CancelToken | None = None,
    memory: Memory | None = None,
    among: Collection[str] = (),
    effort: Effort | None = None,
) -> tuple[Diagnosis, ...]:
    """Return the known mistake that explains what was seen, or the two; none where none does, or where several would.

    Args:
        exercise: whose mistakes they are.
        evidence: what was seen.
        known: by mistake, what it gives on the whole plan, where that was observed before.
        lost: the dimensions that lost points; a mistake always loses in its own.
        cancel: ends the search.
        memory: what searches with the same exercise and seed have found so far; this one adds to it.
        among: the names of the mistakes that are tried; all of them if empty.
        effort: what may be done; as much as on one's own machine if left out.

    Raises:
        Stopped: it was cancelled.
    """
    target = target_of(evidence, effort or Effort(USUAL.search), known=known, cancel=cancel, memory=memory)
    suspects = [wrong for wrong in exercise.mistakes if wrong.dimension in lost and (not among or wrong.name in among)]
    found = _explanations(exercise, target, suspects)
    if len(found) != 1:
        return ()
    calls = (call for call in target.plan.calls if _was_built(evidence, call))
    exact = all(call.dtype == "float64" for call in target.plan.calls)
    whole = not target.effort.spent and all(call.name in evidence.observed.calls for call in calls)
    certain = exact and whole
    return tuple(Diagnosis(wrong.name, wrong.title, wrong.message, certain) for wrong in found[0])


def explanations(
    exercise: Exercise, evidence: Evidence, known: Mapping[str, Observations] | None = None
) -> tuple[tuple[Mistake, ...], ...]:
    """Return every known mistake that explains what was seen; where none does, every two that do so together.

    The arguments are those of `diagnose`.
    """
    return _explanations(exercise, target_of(evidence, Effort(USUAL.search), known=known), exercise.mistakes)


def _own_first(found: tuple[tuple[Mistake, ...], ...]) -> tuple[tuple[Mistake, ...], ...]:
    """Return the exercise's own mistakes of those found; those that are only offered to it where there are none."""
    return tuple(wrong for wrong in found if not wrong[0].offered) or found


def _explanations(exercise: Exercise, target: Target, suspects: Sequence[Mistake]) -> tuple[tuple[Mistake, ...], ...]:
    probes = [_probe(target, call) for call in _wrong_calls(target)]
    if target.known or not probes or _begins_right(target):
        alone = _confirmed(exercise, target, ((wrong,) for wrong in suspects))
        if alone or not probes:
            return _own_first(alone)
    lineup = Lineup(exercise, suspects, probes, effort=target.effort, memory=target.memory)
    ways = (lineup.alone(offered=False), lineup.alone(offered=True), lineup.together())
    return next((found for likely in ways if (found := _confirmed(exercise, target, likely))), ())


def _confirmed(
    exercise: Exercise, target: Target, likely: Iterator[tuple[Mistake, ...]]
) -> tuple[tuple[Mistake, ...], ...]:
    """Return those of `likely` that explain everything that was seen."""
    in_time = takewhile(lambda _: not target.effort.spent, likely)
    return tuple(wrong for wrong in in_time if _explains(_events(exercise, wrong, target), target))


def _wrong_calls(target: Target) -> list[Call]:
    """Return of each case the cheapest call that is wrong, the cheapest first, and no more than are needed."""
    wrong: dict[str, Call] = {}
    for call in sorted(target.plan.calls, key=_cost):
        if call.name in target.observed.calls and not target.is_right(call):
            wrong.setdefault(case_of(call.name), call)
    return list(wrong.values())[:_PROBES]


def _begins_right(target: Target) -> bool:
    """Return whether each module's first call is right: what is kept between calls shows later, and in no probe."""
    first = {call.build: call for call in reversed(target.plan.calls)}
    return all(target.is_right(call) for call in first.values())


def _probe(target: Target, call: Call) -> Probe:
    """Return one call to try mistakes on; without its backward pass where its outputs are wrong already."""
    outputs = {slot.key for slot in call.outputs}

    def forward(observations: Observations) -> Observations:
        seen = observations.calls[call.name]
        slots = {key: slot for key, slot in seen.slots.items() if key in outputs}
        kept = None if seen.raised and seen.raised.stage is Stage.BACKWARD else seen.raised
        return replace(observations, calls={call.name: replace(seen, slots=slots, raised=kept)})

    whole = replace(target, plan=target.plan.only(frozenset({call.name})))
    short = replace(whole.plan, calls=(replace(call, grad_outputs=(), wants=()),))
    half = replace(target, plan=short, observed=forward(target.observed), right=forward(target.right))
    chosen = whole if half.is_right(short.calls[0]) else half
    return Probe(chosen.plan, lambda events: _compare(events, chosen), forward=chosen is half)


def _compare(events: Iterator[Event], target: Target) -> tuple[bool, bool]:
    """Return whether `events` are what was seen, and whether they differ from what is right."""
    target.cancel.check()
    found = list(events)
    agrees = all(target.agrees(event) for event in found)
    return agrees, not all(target.is_as_right(event) for event in found)


def _cost(call: Call) -> int:
    return sum(value.numel() for value in call.arguments.values() if isinstance(value, Tensor))


def _was_built(evidence: Evidence, call: Call) -> bool:
    built = evidence.observed.builds.get(call.build) if call.build else None
    return built is None or built.raised is None


def _explains(events: Iterator[Event], target: Target) -> bool:
    """Return whether `events` are what was seen, on every call that was finished; stops at the first miss.

    They must differ from the right answer somewhere on what was seen: else they explain nothing.
    """
    target.cancel.check()
    differs = False
    for event in events:
        target.effort.event()
        if not target.agrees(event):
            return False
        differs = differs or (target.was_seen(event) and not target.is_as_right(event))
    return differs


def _events(exercise: Exercise, wrong: tuple[Mistake, ...], target: Target) -> Iterator[Event]:
    if len(wrong) > 1 or (before := target.known.get(wrong[0].name)) is None:
        yield from _run(exercise, wrong, target)
        return
    # Calls first: nearly all mistakes differ in one of them, and few in what is seen of a construction.
    yield from (before.calls[call.name] for call in target.plan.calls if call.name in before.calls)
    yield from (before.builds[build.name] for build in target.plan.builds if build.name in before.builds)


def _run(exercise: Exercise, wrong: tuple[Mistake, ...], target: Target) -> Iterator[Event]:
    key = ("whole", plan_key(target.plan), *(one.name for one in wrong))
    return begun(target.memory, key, lambda: observe(target.plan, exercise.reference(*wrong)))
