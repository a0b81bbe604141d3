"""Names the mistake: the known one whose observations are the student's, or the two.

Every known mistake runs the same plan as the student's code did. One that agrees on every call, outputs and gradients,
to the precision of the verdict, explains the submission. Where none does, two mistakes on different steps of the
reference are tried together. A mistake of the exercise's own goes before one that is only offered to it. The diagnosis
is certain if the run was complete and reached in float64; if nothing agrees, or several things do, nothing is said
about causes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from grader.box.cancel import CancelToken
from grader.box.keys import case_of
from grader.box.observations import BuildSeen, CallSeen, Event, Observations, Stage
from grader.box.observe import observe
from grader.box.plan import Call, Plan
from grader.checks.evidence import ROUNDING_MARGIN, Evidence
from grader.checks.initial import alike
from grader.checks.masking import says_nothing
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake
from grader.exercise.spec import Dimension
from grader.judge.agreement import agree
from grader.judge.effort import Effort
from grader.judge.pairs import Lineup, Probe
from grader.judge.recall import Memory, begun, plan_key, recalled
from grader.judge.report import Diagnosis

_PAIRS = 100_000  # units of work; see `effort`
_PROBES = 4  # cases on which a pair has to agree before it is tried on all


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """What a mistake is compared with.

    Attributes:
        plan: the calls that are looked at.
        observed, right: what the submission gave, and what the reference gives in the same precision.
        subtle: every plain call is right, so what modules hold and refuse is looked at as well.
        known: what some mistakes give, from before.
        begun: the weights whose initial values are checked.
        cancel: checked before each mistake, and each two, that are tried.
        memory: what earlier searches found, with the same exercise and seed.
        slack: by call and tensor, how far rounding alone may lead beyond the usual; nothing in float64.
        effort: what may be done to try two mistakes together.
    """

    plan: Plan
    observed: Observations
    right: Observations
    subtle: bool
    known: Mapping[str, Observations]
    initial_of: frozenset[str]
    cancel: CancelToken
    memory: Memory | None
    slack: Mapping[str, Mapping[str, float]]
    effort: Effort


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
        effort: what may be done to try two mistakes together; as much as usual if left out.

    Raises:
        Stopped: it was cancelled.
    """
    target = replace(_set(exercise, evidence, known or {}, cancel), memory=memory, effort=effort or pairs_effort())
    suspects = [wrong for wrong in exercise.mistakes if wrong.dimension in lost and (not among or wrong.name in among)]
    found = _explanations(exercise, target, suspects)
    if len(found) != 1:
        return ()
    calls = (call for call in target.plan.calls if _was_built(evidence, call))
    exact = all(call.dtype == "float64" for call in target.plan.calls)
    certain = exact and all(call.name in evidence.observed.calls for call in calls)
    return tuple(Diagnosis(wrong.name, wrong.title, wrong.message, certain) for wrong in found[0])


def pairs_effort() -> Effort:
    """Return what may be done to try two mistakes together, for one submission."""
    return Effort(_PAIRS)


def explanations(
    exercise: Exercise, evidence: Evidence, known: Mapping[str, Observations] | None = None
) -> tuple[tuple[Mistake, ...], ...]:
    """Return every known mistake that explains what was seen; where none does, every two that do so together.

    The arguments are those of `diagnose`.
    """
    return _explanations(exercise, _set(exercise, evidence, known or {}), exercise.mistakes)


def _set(
    exercise: Exercise, evidence: Evidence, known: Mapping[str, Observations], cancel: CancelToken | None = None
) -> _Target:
    dtype = "float64" if any(call.dtype == "float64" for call in evidence.plan.calls) else "float32"
    compared = (
        call
        for call in evidence.plan.untrained().calls
        if call.name not in evidence.free and not says_nothing(call, evidence.observed)
    )
    # What must be refused is told by its construction: in the reference the call behind it never comes.
    unwanted = {build.name for build in evidence.plan.builds if build.must_raise}
    calls = {call.name: call for call in compared if call.dtype == dtype and call.build not in unwanted}
    right = evidence.expected if dtype == "float64" else evidence.rounded
    slack = {} if dtype == "float64" else _slack(evidence, calls)
    plain = {name for name, call in calls.items() if not call.training}
    # Random draws agree only by luck, so training mode is looked at only where the mistake shows nowhere else.
    subtle = all(_is_right(calls[name], evidence.observed, right, slack) for name in plain)
    plan = evidence.plan.only(frozenset(calls if subtle else plain))
    refused = tuple(build for build in evidence.plan.builds if build.must_raise) if subtle else ()
    initial_of = frozenset(evidence.plan.initial_of if subtle else ())
    plan = replace(plan, builds=(*plan.builds, *refused))
    cancel = cancel or CancelToken()
    return _Target(plan, evidence.observed, right, subtle, known, initial_of, cancel, None, slack, pairs_effort())


def _slack(evidence: Evidence, names: Collection[str]) -> dict[str, dict[str, float]]:
    """Return how far a right answer may round, as the verdict allows it: large scores lose digits in float32."""

    def errors(name: str) -> Iterator[tuple[str, float]]:
        for key, seen in evidence.rounded.calls[name].slots.items():
            truth = evidence.expected.calls[name].slots[key].tensor
            if seen.tensor is not None and truth is not None and truth.numel():
                error = (seen.tensor.double() - truth.double()).abs().nan_to_num(0.0, 0.0, 0.0)
                yield key, ROUNDING_MARGIN * float(error.max())

    return {name: dict(errors(name)) for name in names if name in evidence.rounded.calls}


def _explanations(exercise: Exercise, target: _Target, suspects: Sequence[Mistake]) -> tuple[tuple[Mistake, ...], ...]:
    probes = [_probe(target, call) for call in _wrong_calls(target)]
    if target.known or not probes or _begins_right(target):
        alone = tuple((wrong,) for wrong in suspects if _explains(_events(exercise, wrong, target), target))
        if alone or not probes:
            return tuple(found for found in alone if not found[0].offered) or alone
    lineup = Lineup(exercise, suspects, probes, effort=target.effort, memory=target.memory)
    ways = (lineup.alone(offered=False), lineup.alone(offered=True), lineup.together())
    return next((found for likely in ways if (found := _confirmed(exercise, target, likely))), ())


def _confirmed(
    exercise: Exercise, target: _Target, likely: Iterator[tuple[Mistake, ...]]
) -> tuple[tuple[Mistake, ...], ...]:
    """Return those of `likely` that explain everything that was seen."""
    return tuple(wrong for wrong in likely if _explains(_run(exercise, wrong, target), target))


def _wrong_calls(target: _Target) -> list[Call]:
    """Return of each case the cheapest call that is wrong, the cheapest first, and no more than are needed."""
    wrong: dict[str, Call] = {}
    for call in sorted(target.plan.calls, key=_cost):
        if call.name in target.observed.calls and not _is_right(call, target.observed, target.right, target.slack):
            wrong.setdefault(case_of(call.name), call)
    return list(wrong.values())[:_PROBES]


def _begins_right(target: _Target) -> bool:
    """Return whether each module's first call is right: what is kept between calls shows later, and in no probe."""
    first = {call.build: call for call in reversed(target.plan.calls)}
    return all(_is_right(call, target.observed, target.right, target.slack) for call in first.values())


def _probe(target: _Target, call: Call) -> Probe:
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
    chosen = whole if _is_right(short.calls[0], half.observed, half.right, half.slack) else half
    return Probe(chosen.plan, lambda events: _compare(events, chosen), forward=chosen is half)


def _compare(events: Iterator[Event], target: _Target) -> tuple[bool, bool]:
    """Return whether `events` are what was seen, and whether they differ from what is right."""
    target.cancel.check()
    found = list(events)
    agrees = all(_agrees(event, target, target.observed) for event in found)
    return agrees, not all(_agrees(event, target, target.right) for event in found)


def _agrees(event: Event, target: _Target, other: Observations) -> bool:
    if isinstance(event, BuildSeen):
        built = other.builds.get(event.name)
        return built is None or _built_alike(built, event, target)
    if isinstance(event, CallSeen):
        seen = other.calls.get(event.name)
        return seen is None or _alike(target.plan.call(event.name), seen, event, target)
    return False


def _cost(call: Call) -> int:
    return sum(value.numel() for value in call.arguments.values() if isinstance(value, Tensor))


def _was_built(evidence: Evidence, call: Call) -> bool:
    built = evidence.observed.builds.get(call.build) if call.build else None
    return built is None or built.raised is None


def _is_right(
    call: Call, observed: Observations, right: Observations, slack: Mapping[str, Mapping[str, float]]
) -> bool:
    seen = observed.calls.get(call.name)
    return seen is not None and agree(call, seen, right.calls[call.name], slack.get(call.name, {}))


def _explains(events: Iterator[Event], target: _Target) -> bool:
    """Return whether `events` are what was seen, on every call that was finished; stops at the first miss.

    They must differ from the right answer somewhere on what was seen: else they explain nothing.
    """
    target.cancel.check()
    differs = False
    for event in events:
        if not _agrees(event, target, target.observed):
            return False
        differs = differs or (_was_seen(event, target) and not _agrees(event, target, target.right))
    return differs


def _was_seen(event: Event, target: _Target) -> bool:
    return isinstance(event, BuildSeen) or (isinstance(event, CallSeen) and event.name in target.observed.calls)


def _events(exercise: Exercise, wrong: Mistake, target: _Target) -> Iterator[Event]:
    if (before := target.known.get(wrong.name)) is None:
        yield from _run(exercise, (wrong,), target)
        return
    # Calls first: nearly all mistakes differ in one of them, and few in what is seen of a construction.
    yield from (before.calls[call.name] for call in target.plan.calls if call.name in before.calls)
    yield from (before.builds[build.name] for build in target.plan.builds if build.name in before.builds)


def _run(exercise: Exercise, wrong: tuple[Mistake, ...], target: _Target) -> Iterator[Event]:
    key = ("whole", plan_key(target.plan), *(one.name for one in wrong))
    return begun(target.memory, key, lambda: observe(target.plan, exercise.reference(*wrong)))


def _built_alike(one: BuildSeen, other: BuildSeen, target: _Target) -> bool:
    """Return whether two constructions agree; where nothing else is wrong, in how their weights began too."""
    build = next(build for build in target.plan.builds if build.name == one.name)
    counts = {weight.name: weight.matrix.numel() for weight in build.weights if weight.name in target.initial_of}
    return _traits(one, target) == _traits(other, target) and all(
        alike(one.initial[name], other.initial[name], count)
        for name, count in counts.items()
        if name in one.initial and name in other.initial
    )


def _traits(built: BuildSeen, target: _Target) -> tuple[bool, bool]:
    return built.raised is None, target.subtle and bool(built.unused)


def _alike(call: Call, one: CallSeen, other: CallSeen, target: _Target) -> bool:
    """Return whether two calls agree; where nothing else is wrong, both have to hold too much, or neither."""
    slack = target.slack.get(call.name, {})
    memory = target.memory if target.known else None  # where nothing is known, each search brings something else
    same = recalled(memory, ("same", one, other), lambda: agree(call, one, other, slack))
    return same and (not target.subtle or _too_large(call, one) == _too_large(call, other))


def _too_large(call: Call, seen: CallSeen) -> bool:
    return bool(call.max_elements) and (seen.largest or 0) >= call.max_elements
