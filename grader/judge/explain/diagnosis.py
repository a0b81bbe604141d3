"""Names the mistake: the known one whose observations are the answer's, or the two.

Every known mistake runs the same plan as the answer did. One that agrees on every call, outputs and gradients, to the
precision of the verdict, explains the answer. Where none does, two mistakes on different steps of the reference are
tried together. A mistake of the exercise's own goes before one that is only offered to it. The diagnosis is certain if
the run was complete and reached in float64, and the search came to its end; if nothing agrees, or several things do,
nothing is said about causes.

There may be thousands of pairs. So they are tried on one call after the other, the cheapest that is wrong first,
without a backward pass where its outputs show enough. Whatever agrees is then tried on the whole plan, elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations, takewhile
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from grader.box.cancel import CancelToken
from grader.box.keys import case_of, is_input, variant_of
from grader.box.observations import BuildSeen, CallSeen, Event, Observations, Presence, Seen, Stage
from grader.box.observe import Instance, Instances, alone, observe
from grader.box.plan import Call, Plan
from grader.checks.dropout import is_drawn
from grader.checks.evidence import ROUNDING_MARGIN, Evidence, scales
from grader.checks.gradients import TRAINED
from grader.checks.masking import says_nothing
from grader.checks.properties import alike
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake
from grader.exercise.spec import Dimension
from grader.judge.attempt import Outcome
from grader.judge.explain.budget import EVENT, RUN, USUAL, Effort, Operations
from grader.judge.explain.trace import size_of
from grader.judge.report import Diagnosis

_MOST_PROBES = 4  # cases on which a pair has to agree before it is tried on all
# Relative to a tensor's scale, by the precision that the verdict was reached in.
_AGREEMENT = {"float64": 1e-9, "float32": 1e-5}

# What `state_dict` has, hooks, and `training`, which every call sets: no mark that the next call would see.
_OF_EVERY_MODULE = frozenset(vars(nn.Module()))

Explanations = tuple[tuple[Mistake, ...], ...]


def causes(
    exercise: Exercise,
    outcome: Outcome,
    lost: Collection[Dimension],
    known: Mapping[str, Observations] | None = None,
    *,
    cancel: CancelToken | None = None,
    effort: Effort | None = None,
) -> tuple[Diagnosis, ...]:
    """Return the mistakes that explain an outcome; the arguments are those of `diagnose`.

    Code that asks for float32 by name is looked at in float32 first: in float64 its mistake is likely to be hidden by
    rounding, and a search that finds nothing tries every pair. What it names is certain if float64 agrees.
    """
    look = partial(diagnose, exercise, lost=lost, cancel=cancel, effort=effort)
    if outcome.coarse is not None and (likely := look(outcome.coarse)):
        return look(outcome.evidence, known, among={one.mistake for one in likely}) or likely
    return look(outcome.evidence, {} if outcome.single else known)


def diagnose(
    exercise: Exercise,
    evidence: Evidence,
    known: Mapping[str, Observations] | None = None,
    lost: Collection[Dimension] = tuple(Dimension),
    *,
    cancel: CancelToken | None = None,
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
        among: the names of the mistakes that are tried; all of them if empty.
        effort: what may be done; as much as on one's own machine if left out.

    Raises:
        Stopped: it was cancelled.
    """
    target = _target(exercise, evidence, known, cancel=cancel, effort=effort)
    suspects = [wrong for wrong in exercise.mistakes if wrong.dimension in lost and (not among or wrong.name in among)]
    explaining = _explanations(target, suspects)
    if len(explaining) != 1:
        return ()
    failed = {build.name for build in evidence.observed.builds.values() if build.raised is not None}
    calls = [call for call in target.plan.calls if call.build not in failed]
    whole = not target.effort.spent and all(call.name in evidence.observed.calls for call in calls)
    certain = whole and all(call.dtype == "float64" for call in target.plan.calls)
    return tuple(Diagnosis(wrong.name, wrong.title, wrong.message, certain) for wrong in explaining[0])


def explanations(
    exercise: Exercise, evidence: Evidence, known: Mapping[str, Observations] | None = None
) -> Explanations:
    """Return every known mistake that explains what was seen; where none does, every two that do so together.

    The arguments are those of `diagnose`.
    """
    return _explanations(_target(exercise, evidence, known), exercise.mistakes)


def _explanations(target: _Target, suspects: Sequence[Mistake]) -> Explanations:
    calls = _wrong_calls(target)
    first = {call.build: call for call in reversed(target.plan.calls)}
    # What is kept between calls shows where each module's first call is right, and in no probe.
    if target.known or not calls or all(target.is_right(call) for call in first.values()):
        single = _confirmed(target, ((wrong,) for wrong in suspects))
        if single or not calls:
            return tuple(wrong for wrong in single if not wrong[0].offered) or single
    marking: set[str] = set()
    lineup = _Lineup(suspects, [_Probe(target, call, suspects, marking) for call in calls], target.effort)
    ways = (lineup.single(offered=False), lineup.single(offered=True), lineup.pairs())
    return next((confirmed for likely in ways if (confirmed := _confirmed(target, likely))), ())


def _wrong_calls(target: _Target) -> list[Call]:
    """Return of each case the cheapest call that is wrong, the cheapest first, and no more than are needed."""
    wrong: dict[str, Call] = {}
    for call in sorted(target.plan.calls, key=size_of):
        if call.name in target.observed.calls and not target.is_right(call):
            wrong.setdefault(case_of(call.name), call)
    return list(wrong.values())[:_MOST_PROBES]


def _confirmed(target: _Target, likely: Iterator[tuple[Mistake, ...]]) -> Explanations:
    in_time = takewhile(lambda _: not target.effort.spent, likely)
    return tuple(wrong for wrong in in_time if _explains(target, wrong))


def _explains(target: _Target, wrong: tuple[Mistake, ...]) -> bool:
    """Return whether mistakes give what was seen, on every call that was finished; stops at the first miss.

    They must differ from the right answer somewhere on what was seen: else they explain nothing.
    """
    target.cancel.check()
    before = target.known.get(wrong[0].name) if len(wrong) == 1 else None
    if before is None:
        events = observe(target.plan, target.exercise.reference(*wrong))
    else:  # calls first: nearly all mistakes differ in one of them, and few in what is seen of a construction
        known: list[Event] = [before.calls[call.name] for call in target.plan.calls if call.name in before.calls]
        known += [before.builds[build.name] for build in target.plan.builds if build.name in before.builds]
        events = iter(known)
    differs = False
    for event in events:
        target.effort.use(EVENT)
        if not target.is_observed(event):
            return False
        was_seen = isinstance(event, BuildSeen) or (isinstance(event, CallSeen) and event.name in target.observed.calls)
        differs = differs or (was_seen and not target.is_as_right(event))
    return differs


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """What mistakes are compared with.

    Attributes:
        plan: the calls that are looked at.
        observed, right: what the answer gave, and what the reference gives in the same precision.
        subtle: every plain call is right, so what modules hold and refuse is looked at as well.
        known: what some mistakes give, from before.
        slack: by call and tensor, how far rounding alone may lead beyond the usual; nothing in float64.
    """

    exercise: Exercise
    plan: Plan
    observed: Observations
    right: Observations
    subtle: bool
    known: Mapping[str, Observations]
    cancel: CancelToken
    slack: Mapping[str, Mapping[str, float]]
    effort: Effort

    def is_right(self, call: Call) -> bool:
        """Return whether the answer gave what is right."""
        return _is_right(call, self.observed, self.right, self.slack)

    def is_observed(self, event: Event) -> bool:
        """Return whether an event is what the answer gave, as far as that was seen."""
        return self._is_in(self.observed, event)

    def is_as_right(self, event: Event) -> bool:
        """Return whether an event is what the reference gives."""
        return self._is_in(self.right, event)

    def _is_in(self, other: Observations, event: Event) -> bool:
        if isinstance(event, BuildSeen):
            return event.name not in other.builds or self._built_alike(other.builds[event.name], event)
        if not isinstance(event, CallSeen):
            return False
        if (seen := other.calls.get(event.name)) is None:
            return True
        call = self.plan.call(event.name)
        if not agree(call, seen, event, self.slack.get(call.name, {})):
            return False
        # Where nothing else is wrong, both have to hold too much, or neither.
        return not self.subtle or _is_too_large(call, seen) == _is_too_large(call, event)

    def _built_alike(self, one: BuildSeen, other: BuildSeen) -> bool:
        """Return whether two constructions agree; where nothing else is wrong, in how their weights began too."""
        if (one.raised is None) != (other.raised is None):
            return False
        if self.subtle and bool(one.unused) != bool(other.unused):
            return False
        build = next(build for build in self.plan.builds if build.name == one.name)
        initial = set(self.plan.initial_of) if self.subtle else set()
        return all(
            alike(one.initial[weight.name], other.initial[weight.name], weight.matrix.numel())
            for weight in build.weights
            if weight.name in initial & one.initial.keys() & other.initial.keys()
        )


def _target(
    exercise: Exercise,
    evidence: Evidence,
    known: Mapping[str, Observations] | None,
    *,
    cancel: CancelToken | None = None,
    effort: Effort | None = None,
) -> _Target:
    dtype = "float64" if any(call.dtype == "float64" for call in evidence.plan.calls) else "float32"
    # What must be refused is told by its construction: in the reference the call behind it never comes.
    unwanted = {build.name for build in evidence.plan.builds if build.must_raise}
    calls = {
        call.name: call
        for call in evidence.plan.untrained().calls
        if call.dtype == dtype
        and call.build not in unwanted
        and call.name not in evidence.free
        and variant_of(call.name) != TRAINED
        and not says_nothing(call, evidence.observed)
        and not call.default_dtype  # in which a factor of the answer's own may be rounded
    }
    right = evidence.expected if dtype == "float64" else evidence.rounded
    slack = {} if dtype == "float64" else _slack(evidence, calls)
    plain = {name for name, call in calls.items() if not call.training}
    # Random draws agree only by luck, so training mode is looked at only where the mistake shows nowhere else.
    subtle = all(_is_right(calls[name], evidence.observed, right, slack) for name in plain)
    plan = evidence.plan.only(frozenset(calls if subtle else plain))
    refused = tuple(build for build in evidence.plan.builds if build.must_raise) if subtle else ()
    plan = replace(plan, builds=(*plan.builds, *refused))
    cancel, effort = cancel or CancelToken(), effort or Effort(USUAL.search)
    return _Target(exercise, plan, evidence.observed, right, subtle, known or {}, cancel, slack, effort)


def _slack(evidence: Evidence, names: Collection[str]) -> dict[str, dict[str, float]]:
    """Return how far a right answer may round, as the verdict allows it: large scores lose digits in float32."""
    slack: dict[str, dict[str, float]] = {}
    for name in evidence.rounded.calls.keys() & names:
        slack[name] = {}
        for key, seen in evidence.rounded.calls[name].slots.items():
            truth = evidence.expected.calls[name].slots[key].tensor
            if seen.tensor is not None and truth is not None and truth.numel():
                error = (seen.tensor.double() - truth.double()).abs().nan_to_num(0.0, 0.0, 0.0)
                slack[name][key] = ROUNDING_MARGIN * float(error.max())
    return slack


def _is_right(
    call: Call, observed: Observations, right: Observations, slack: Mapping[str, Mapping[str, float]]
) -> bool:
    seen = observed.calls.get(call.name)
    return seen is not None and agree(call, seen, right.calls[call.name], slack.get(call.name, {}))


def _is_too_large(call: Call, seen: CallSeen) -> bool:
    return bool(call.max_elements) and (seen.largest or 0) >= call.max_elements


def agree(call: Call, one: CallSeen, other: CallSeen, slack: Mapping[str, float]) -> bool:
    """Return whether two calls ended alike and gave the same, to the precision of the verdict and `slack` by tensor."""
    if one is other:
        return True
    kinds = [(seen.raised.stage, seen.raised.type) if seen.raised else None for seen in (one, other)]
    if kinds[0] != kinds[1] or one.slots.keys() != other.slots.keys():
        return False
    outputs = [slot.key for slot in call.outputs if slot.key in one.slots]
    rest = [key for key in one.slots if key not in outputs]
    if is_drawn(call):  # only what checks ask of it: whether attention weights are returned before or after dropout is
        outputs = outputs[:1]  # free, and dropout before or after a layer differs in the gradients of its weights alone
        rest = [key for key in rest if is_input(key)] or rest

    def same(key: str, scale: Callable[[], Mapping[str, float]]) -> bool:
        # What a difference is relative to is worked out only where there is one.
        return _is_same(
            one.slots[key], other.slots[key], lambda: _AGREEMENT[call.dtype] * scale()[key] + slack.get(key, 0.0)
        )

    def scale_alone(key: str) -> Mapping[str, float]:
        return scales(replace(other, slots={key: other.slots[key]}))

    if not all(same(key, partial(scale_alone, key)) for key in outputs):
        return False
    # How NaN spreads on the way back depends on how a right thing is written: a product keeps it, a fill does not.
    tensors = [one.slots[key].tensor for key in outputs]
    if any(bool(tensor.isnan().any()) for tensor in tensors if tensor is not None):
        return True
    together = cache(lambda: scales(other))
    return all(same(key, together) for key in rest)


def _is_same(one: Seen, other: Seen, allowed: Callable[[], float]) -> bool:
    """Return whether no element differs by more than that; infinite ones must be equal, and NaN equals NaN."""
    if Presence.NONE in (one.presence, other.presence):  # a gradient that never came teaches what zeros teach: nothing
        tensors = [seen.tensor for seen in (one, other) if seen.presence is not Presence.NONE]
        return all(tensor is not None and not bool(tensor.any()) for tensor in tensors)
    if one.tensor is None or other.tensor is None:
        return (one.presence, one.shape) == (other.presence, other.shape)
    if one.dtype != other.dtype:
        return False
    first, second = one.tensor.double(), other.tensor.double()
    if torch.equal(first, second):
        return True
    # Where all differences are finite the largest of them says it, for a third of the time of `torch.allclose`.
    if first.shape == second.shape and math.isfinite(gap := float(torch.linalg.vector_norm(first - second, math.inf))):
        return gap <= allowed()
    return torch.allclose(first, second, rtol=0.0, atol=allowed(), equal_nan=True)


class _Match(NamedTuple):
    """What mistakes give on a probe, beside what was seen of the answer, and beside what is right."""

    agrees: bool
    differs: bool


class _Probe:
    """One wrong call to try mistakes on; `forward`: without its backward pass where its outputs are wrong already.

    `marking` has the names of the mistakes that were seen to leave a mark in an instance, on any probe.
    """

    def __init__(self, target: _Target, call: Call, suspects: Sequence[Mistake], marking: set[str]) -> None:
        short = replace(call, grad_outputs=(), wants=())
        plan = target.plan.only(frozenset({call.name}))
        half = replace(
            target,
            plan=replace(plan, calls=(short,)),
            observed=_without_backward(target.observed, call),
            right=_without_backward(target.right, call),
        )
        self.forward = not half.is_right(short)
        self._target = half if self.forward else replace(target, plan=plan)
        plan = self._target.plan
        self._runs, self._marking = MistakeRuns(target.exercise, suspects, plan), marking
        load, built, operations = target.exercise.reference(), Instances(), Operations()
        list(observe(replace(plan, calls=()), load, built))
        with operations:
            list(observe(plan, load, built))
        self.size = operations.count  # operations of torch in the reference, without its construction

    def examine(self, wrong: Mistake) -> _Match:
        """Try one mistake on an instance of its own, and note whether that is as it was afterwards."""
        self._target.cancel.check()
        events, marks = self._runs.examine(wrong)
        if marks:
            self._marking.add(wrong.name)
        return self._match(events)

    def try_out(self, *wrong: Mistake) -> _Match:
        """Try mistakes together."""
        self._target.cancel.check()
        anew = any(one.replaces in self._runs.early or one.name in self._marking for one in wrong)
        return self._match(self._runs.try_out(wrong, anew=anew))

    def _match(self, events: list[Event]) -> _Match:
        agrees = all(self._target.is_observed(event) for event in events)
        return _Match(agrees, differs=not all(self._target.is_as_right(event) for event in events))


def _without_backward(observations: Observations, call: Call) -> Observations:
    seen, outputs = observations.calls[call.name], {slot.key for slot in call.outputs}
    slots = {key: slot for key, slot in seen.slots.items() if key in outputs}
    raised = None if seen.raised and seen.raised.stage is Stage.BACKWARD else seen.raised
    return replace(observations, calls={call.name: replace(seen, slots=slots, raised=raised)})


class _Lineup:
    """The suspects, held against what was seen of the probes as long as there is effort left."""

    def __init__(self, suspects: Sequence[Mistake], probes: Sequence[_Probe], effort: Effort) -> None:
        self._suspects, self._probes, self._effort = suspects, probes, effort
        self._matches: dict[tuple[str, int], _Match] = {}

    def single(self, *, offered: bool) -> Iterator[tuple[Mistake, ...]]:
        """Yield the mistakes, the exercise's own or those offered to it, that agree with it on every probe."""
        for wrong in takewhile(lambda _: not self._effort.spent, self._suspects):
            agrees = wrong.offered is offered and self._match(wrong).agrees
            if agrees and all(probe.try_out(wrong).agrees for probe in self._probes):
                yield (wrong,)

    def pairs(self) -> Iterator[tuple[Mistake, ...]]:
        """Yield the pairs on different steps that do so together.

        A mistake that changes nothing on any probe leaves them to its partner, which then has to agree by itself.
        """
        own = [wrong for wrong in self._suspects if not wrong.offered]
        active = [wrong for wrong in own if not self._effort.spent and self._acts(wrong)]
        for pair in sorted(combinations(active, 2), key=self._contradictions):
            if pair[0].replaces == pair[1].replaces or not self._may_agree(pair):
                continue
            if self._effort.spent:
                return
            if self._agree(pair):
                yield pair
        quiet = [wrong for wrong in own if wrong not in active]
        for (one,) in self.single(offered=False):
            yield from ((one, other) for other in quiet if one.replaces != other.replaces)

    def _match(self, wrong: Mistake, index: int = 0) -> _Match:
        """Return what one mistake gives on a probe; on the first in modules of its own, which shows what it marks."""
        if (wrong.name, index) not in self._matches:
            probe = self._probes[index]
            self._effort.use(RUN + (probe.size if index else 2 * probe.size))  # as much again for the modules
            self._matches[wrong.name, index] = probe.try_out(wrong) if index else probe.examine(wrong)
        return self._matches[wrong.name, index]

    def _acts(self, wrong: Mistake) -> bool:
        """Return whether a mistake may change something on a probe: a cut graph shows in no forward pass."""
        indices = range(len(self._probes))
        return wrong.dimension is Dimension.GRADIENTS or any(self._match(wrong, index).differs for index in indices)

    def _contradictions(self, pair: tuple[Mistake, Mistake]) -> int:
        """Return how many probes speak against a pair: at most one of it acts there, and does not agree."""
        count = 0
        for index in range(len(self._probes)):
            acting = [match for match in (self._match(wrong, index) for wrong in pair) if match.differs]
            count += len(acting) < 2 and not any(match.agrees for match in acting)
        return count

    def _may_agree(self, pair: tuple[Mistake, Mistake]) -> bool:
        """Return whether it is worth while to run the pair: a cut graph leaves the outputs to the other one."""
        others = [wrong for wrong in pair if wrong.dimension is not Dimension.GRADIENTS]
        return not self._probes[0].forward or len(others) == 2 or any(self._match(wrong).agrees for wrong in others)

    def _agree(self, pair: tuple[Mistake, Mistake]) -> bool:
        for probe in self._probes:
            self._effort.use(RUN + probe.size)
            if not probe.try_out(*pair).agrees:
                return False
        return True


class MistakeRuns:
    """The mistakes of one exercise on one plan, in modules that are built once; belongs to one thread.

    Half of what a mistake costs would be building modules and giving them their weights. Most mistakes replace a step
    that no constructor runs, so they run in the modules of the reference; those in which a mistake leaves a mark are
    built anew for the next one.
    """

    def __init__(self, exercise: Exercise, suspects: Sequence[Mistake], plan: Plan) -> None:
        self._plan, self._building = plan, replace(plan, calls=())
        self._patchable = exercise.patchable()
        self._instances, self._clean = Instances(), dict[str, list[object]]()
        self._built: dict[str, BuildSeen] = {}
        # Steps that run in a constructor leave their mark in the instance.
        self.early = self._patchable.steps_run(suspects, self._build)

    def observe(self, wrong: Mistake) -> Observations:
        """Return everything that the plan shows of one mistake."""
        with alone():
            return Observations.of(self.examine(wrong)[0])

    def examine(self, wrong: Mistake) -> tuple[list[Event], bool]:
        """Return what one mistake gives, and whether its calls leave a mark in an instance."""
        with self._patchable.replaced((wrong,)) as namespace:
            if wrong.replaces in self.early:
                instances = Instances()
                built = list(observe(self._building, lambda: namespace, instances))
                clean = _all_marks(instances)
            else:
                self._build(namespace)
                instances, built, clean = self._instances, [*self._built.values()], self._clean
            events = [*built, *observe(self._plan, lambda: namespace, instances)]
        marked = [name for name, instance in instances.items() if instance and _marks(instance) != clean[name]]
        if instances is self._instances:
            for name in marked:
                del instances[name]
        return events, bool(marked)

    def try_out(self, wrong: tuple[Mistake, ...], *, anew: bool) -> list[Event]:
        """Return what mistakes give together; in modules of their own if `anew`."""
        with self._patchable.replaced(wrong) as namespace:
            return list(observe(self._plan, lambda: namespace, Instances() if anew else self._instances))

    def _build(self, namespace: Mapping[str, Any]) -> None:
        missing = {build.name for build in self._building.builds} - self._instances.keys()
        if missing:
            for event in observe(self._building, lambda: namespace, self._instances):
                if isinstance(event, BuildSeen):
                    self._built[event.name] = event
            self._clean |= _all_marks({name: self._instances.get(name) for name in missing})


def _all_marks(instances: Instances) -> dict[str, list[object]]:
    return {name: _marks(instance) for name, instance in instances.items() if instance is not None}


def _marks(instance: Instance) -> list[object]:
    """Return what calls might change in an instance: attributes and tensors, as they can be compared."""
    module = instance.module
    attributes = [item for part in module.modules() for item in vars(part).items() if item[0] not in _OF_EVERY_MODULE]
    frozen = [(name, parameter.requires_grad) for name, parameter in module.named_parameters()]
    return [*map(_plain, attributes), *frozen, *map(_plain, module.state_dict().items())]


def _plain(value: object) -> object:
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return [(_plain(key), _plain(one)) for key, one in value.items()]
    return value if isinstance(value, bool | int | float | str | None) else type(value).__name__
