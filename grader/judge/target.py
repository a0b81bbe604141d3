"""What the mistakes are compared with: what was seen of a submission, and what is right.

Constructions and calls agree, or do not, to the precision of the verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from grader.box.cancel import CancelToken
from grader.box.keys import variant_of
from grader.box.observations import BuildSeen, CallSeen, Event, Observations
from grader.box.plan import Call, Plan
from grader.checks.evidence import ROUNDING_MARGIN, Evidence
from grader.checks.gradients import TRAINED
from grader.checks.masking import says_nothing
from grader.checks.properties import alike
from grader.judge.agreement import agree
from grader.judge.effort import Effort
from grader.judge.recall import Memory, recalled


@dataclass(frozen=True, slots=True, eq=False)
class Target:
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
        effort: what may be done for the search.
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

    def is_right(self, call: Call) -> bool:
        """Return whether the submission gave what is right."""
        return _is_right(call, self.observed, self.right, self.slack)

    def agrees(self, event: Event) -> bool:
        """Return whether an event is what the submission gave, as far as that was seen."""
        return self._is_as_in(self.observed, event)

    def is_as_right(self, event: Event) -> bool:
        """Return whether an event is what the reference gives."""
        return self._is_as_in(self.right, event)

    def was_seen(self, event: Event) -> bool:
        """Return whether an event can be compared with something of the submission's."""
        return isinstance(event, BuildSeen) or (isinstance(event, CallSeen) and event.name in self.observed.calls)

    def _is_as_in(self, other: Observations, event: Event) -> bool:
        if isinstance(event, BuildSeen):
            built = other.builds.get(event.name)
            return built is None or self._built_alike(built, event)
        if isinstance(event, CallSeen):
            seen = other.calls.get(event.name)
            return seen is None or self._alike(self.plan.call(event.name), seen, event)
        return False

    def _built_alike(self, one: BuildSeen, other: BuildSeen) -> bool:
        """Return whether two constructions agree; where nothing else is wrong, in how their weights began too."""
        build = next(build for build in self.plan.builds if build.name == one.name)
        counts = {weight.name: weight.matrix.numel() for weight in build.weights if weight.name in self.initial_of}
        return self._traits(one) == self._traits(other) and all(
            alike(one.initial[name], other.initial[name], count)
            for name, count in counts.items()
            if name in one.initial and name in other.initial
        )

    def _traits(self, built: BuildSeen) -> tuple[bool, bool]:
        return built.raised is None, self.subtle and bool(built.unused)

    def _alike(self, call: Call, one: CallSeen, other: CallSeen) -> bool:
        """Return whether two calls agree; where nothing else is wrong, both have to hold too much, or neither."""
        slack = self.slack.get(call.name, {})
        memory = self.memory if self.known else None  # where nothing is known, each search brings something else
        same = recalled(memory, ("same", one, other), lambda: agree(call, one, other, slack))
        return same and (not self.subtle or _too_large(call, one) == _too_large(call, other))


def target_of(
    evidence: Evidence,
    effort: Effort,
    *,
    known: Mapping[str, Observations] | None = None,
    cancel: CancelToken | None = None,
    memory: Memory | None = None,
) -> Target:
    """Return what is compared of some evidence; see `Target`."""
    dtype = "float64" if any(call.dtype == "float64" for call in evidence.plan.calls) else "float32"
    compared = (
        call
        for call in evidence.plan.untrained().calls
        if call.name not in evidence.free
        and variant_of(call.name) != TRAINED
        and not says_nothing(call, evidence.observed)
        and not call.default_dtype  # in which a factor of the answer's own may be rounded
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
    cancel, seen = cancel or CancelToken(), evidence.observed
    return Target(plan, seen, right, subtle, known or {}, initial_of, cancel, memory, slack, effort)


def _slack(evidence: Evidence, names: Collection[str]) -> dict[str, dict[str, float]]:
    """Return how far a right answer may round, as the verdict allows it: large scores lose digits in float32."""

    def errors(name: str) -> Iterator[tuple[str, float]]:
        for key, seen in evidence.rounded.calls[name].slots.items():
            truth = evidence.expected.calls[name].slots[key].tensor
            if seen.tensor is not None and truth is not None and truth.numel():
                error = (seen.tensor.double() - truth.double()).abs().nan_to_num(0.0, 0.0, 0.0)
                yield key, ROUNDING_MARGIN * float(error.max())

    return {name: dict(errors(name)) for name in names if name in evidence.rounded.calls}


def _is_right(
    call: Call, observed: Observations, right: Observations, slack: Mapping[str, Mapping[str, float]]
) -> bool:
    seen = observed.calls.get(call.name)
    return seen is not None and agree(call, seen, right.calls[call.name], slack.get(call.name, {}))


def _too_large(call: Call, seen: CallSeen) -> bool:
    return bool(call.max_elements) and (seen.largest or 0) >= call.max_elements
