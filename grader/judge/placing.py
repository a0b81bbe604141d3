"""Finds by their behaviour which parameters are which weights, where their names do not say so.

A construction tells how many assignments of weights to parameters its shapes allow, and uses the most likely one. If
that gives no right answers, each of them is tried in a small call; the one whose outputs agree with the truth in most
constructions is used for all of them in a second run. The box is only ever asked for an assignment by its number; what
is right is known out here. If none agrees, the first run stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from torch import Tensor

from grader.box.binding.choose import described_names
from grader.box.binding.names import exact_names, known_words
from grader.box.keys import CallName
from grader.box.observations import Observations
from grader.box.plan import MOST_CHOICES, Build, Call, Pick, Plan
from grader.box.run import Run
from grader.checks.compare import wrong_elements
from grader.checks.evidence import Evidence

FOUND = "found by its behaviour"
UNTOLD = (
    "the names and shapes of your weights do not say which is which, or how they lie, and no assignment gave right "
    "answers; so they were taken in the order in which you made them. If that is not what you meant, name them {names}"
)

_ENOUGH = 3  # constructions with the same weights; an assignment that is right in none of them is right in no other


@dataclass(frozen=True, slots=True)
class _Trial:
    """One assignment in one construction, and the call that shows what it does."""

    build: Build
    call: Call
    like: str  # the call of the plan whose truth it is held against


def by_behaviour(evidence: Evidence, run: Callable[[Plan], Run]) -> str:
    """Return the assignments that agree with the truth, in the words of `BuildSeen.places`; empty if none does.

    Each set of weights has one of its own, and they stand with an empty line between: what two classes of a file, or
    two methods of a class, do says nothing of each other.
    """
    trials = list(_trials(evidence.plan, evidence.observed))
    if not trials:
        return ""
    builds, calls = tuple(trial.build for trial in trials), tuple(trial.call for trial in trials)
    seen = run(replace(evidence.plan, builds=builds, calls=calls, initial_of=())).observations
    agreed = {(t.like, seen.builds[t.build.name].places) for t in trials if _agrees(t, seen, evidence)}
    agreeing = Counter(places for _, places in sorted(agreed))  # each construction has one voice for each of them
    best: dict[frozenset[str], str] = {}
    for places, _ in agreeing.most_common():
        best.setdefault(described_names(places), places)
    return "\n\n".join(best.values())


def untold(seen: Observations) -> tuple[str, ...]:
    """Return what to say of a choice that neither a name of the contract nor a customary one had decided, if any.

    One name may stand for other weights in another construction: it is a name of the contract all the same.
    """

    def last(path: str) -> str:
        return path.rpartition(".")[2]

    names = {last(name) for build in seen.builds.values() for name in build.mapping if not name.endswith(".bias")}
    known = known_words(tuple(sorted(names)))
    nameless: dict[str, None] = {}
    for build in (build for build in seen.builds.values() if build.choices > 1):
        for name, place in build.mapping.items():
            path = place.partition(",")[0].partition(" ")[0]
            says_it = any(f".{path}".endswith(f".{alias}") for alias in exact_names(name))
            if not says_it and last(path.removesuffix(".weight").removesuffix(".bias")) not in known:
                nameless[f"`{last(name.removesuffix('.bias'))}`"] = None
    return (UNTOLD.format(names=", ".join(nameless)),) if nameless else ()


def _trials(plan: Plan, seen: Observations) -> Iterator[_Trial]:
    """Yield the assignments to try, at most so many; those of constructions with many heads come first."""
    built = [(build, seen.builds[build.name]) for build in plan.builds if build.name in seen.builds]
    open_ones = [(build, one) for build, one in built if one.places and not build.must_raise]
    candidates = list(dict.fromkeys(one.places for _, one in open_ones))
    nothing_else = all(build.must_raise or (one.places and one.choices == 1) for build, one in built)
    if not candidates or (len(candidates) == 1 and nothing_else):
        return
    heads = {build.name: max((weight.heads for weight in build.weights), default=0) for build, _ in open_ones}
    open_ones.sort(key=lambda pair: (pair[0].dtype != "float64", -heads[pair[0].name], pair[1].choices))
    looked_at: Counter[frozenset[str]] = Counter()
    left = MOST_CHOICES
    for build, one in open_ones:
        call, weights = _smallest(plan, build), frozenset(weight.name for weight in build.weights)
        if call is not None:
            looked_at[weights] += 1
        if looked_at[weights] > _ENOUGH:
            continue
        picks = [Pick(nth=number) for number in range(one.choices)]
        if len(candidates) > 1:  # constructions of other sizes had other candidates
            picks = [*(Pick(places=places) for places in candidates), *picks]
        if call is None or (len(picks) > left and left < MOST_CHOICES):
            continue
        for number, pick in enumerate(picks[:left]):
            name = f"{build.name}/{number}"
            tried = replace(call, name=CallName(name), build=name, grad_outputs=(), wants=(), max_elements=0)
            yield _Trial(replace(build, name=name, pick=pick), tried, call.name)
        left -= len(picks)


def _smallest(plan: Plan, build: Build) -> Call | None:
    calls = [c for c in plan.calls if c.build == build.name and not (c.training or c.reads_weights or c.non_contiguous)]
    sizes = [sum(one.numel() for one in call.arguments.values() if isinstance(one, Tensor)) for call in calls]
    return calls[sizes.index(min(sizes))] if calls else None


def _agrees(trial: _Trial, seen: Observations, evidence: Evidence) -> bool:
    """Return whether every output of a trial is the truth's, as closely as a check would ask."""
    called, build = seen.calls.get(trial.call.name), seen.builds.get(trial.build.name)
    if called is None or called.raised is not None or build is None or not build.places:
        return False
    call = evidence.plan.call(trial.like)
    for slot in call.outputs:
        got, truth = called.slots.get(slot.key), evidence.truth(call, slot.key)
        if got is None or got.tensor is None or truth is None:
            return False
        if bool(wrong_elements(got.tensor, truth, evidence.bound(call, slot.key)).any()):
            return False
    return True
