"""Looks for the mistake, or the two, that give what was seen of a few calls.

Every mistake is a candidate, and so is every pair on different steps: there may be thousands. So they are tried on one
call after the other, the cheapest that is wrong first, without a backward pass where its outputs show enough, in one
copy of the reference whose steps are replaced and put back. Whatever agrees is then tried on the whole plan, elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TypeVar

from grader.box.observations import Event
from grader.box.observe import Instances, observe
from grader.box.plan import Plan
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake
from grader.exercise.spec import Dimension
from grader.judge.effort import Effort, Operations
from grader.judge.mistake_runs import MistakeRuns
from grader.judge.recall import Memory, plan_key, recalled

_Run = TypeVar("_Run")
Verdict = tuple[bool, bool]  # what was observed agrees with the submission; it differs from what is right


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """A plan of one call, and what says of its events whether they are the submission's, and whether they are wrong.

    `forward`: without its backward pass, so that a cut graph does not show.
    """

    plan: Plan
    compare: Callable[[Iterator[Event]], Verdict]
    forward: bool

    @property
    def key(self) -> Hashable:
        """What tells it from the other probes of the same exercise and seed."""
        return plan_key(self.plan)


class Lineup:
    """The suspects, held against what was seen of the probes.

    Whoever searches with the same exercise and seed again hands over one `memory`: what a mistake gives on a probe does
    not depend on the submission. `effort` is what may be done.
    """

    def __init__(
        self,
        exercise: Exercise,
        suspects: Sequence[Mistake],
        probes: Sequence[Probe],
        *,
        effort: Effort,
        memory: Memory | None = None,
    ) -> None:
        self._exercise, self._suspects, self._probes, self._effort = exercise, suspects, probes, effort
        self._alone: dict[tuple[str, int], Verdict] = {}
        self._first: dict[str, Verdict] = {}
        marking: set[str] = set()
        self._searches = [
            _Search(probe, MistakeRuns(exercise, suspects, probe.plan), marking, memory) for probe in probes
        ]

    def alone(self, *, offered: bool) -> Iterator[tuple[Mistake, ...]]:
        """Yield the mistakes, the exercise's own or those offered to it, that agree with it on every probe."""
        for wrong in self._suspects:
            if self._effort.spent:
                return
            if wrong.offered is offered and self._on_first(wrong)[0] and self._agree(wrong):
                yield (wrong,)

    def together(self) -> Iterator[tuple[Mistake, ...]]:
        """Yield the pairs that do so together, as long as there is effort left.

        A mistake that changes nothing on any probe leaves them to its partner, which then has to agree by itself.
        """
        suspects = [wrong for wrong in self._suspects if not wrong.offered]
        active = [wrong for wrong in suspects if not self._effort.spent and self._acts(wrong)]
        for pair in sorted(combinations(active, 2), key=self._contradictions):
            if pair[0].replaces == pair[1].replaces or not self._may_agree(pair):
                continue
            if self._effort.spent:
                return
            if self._agree(*pair, counted=True):
                yield pair
        quiet = [wrong for wrong in suspects if wrong not in active]
        for (one,) in self.alone(offered=False):
            yield from ((one, other) for other in quiet if one.replaces != other.replaces)

    @cached_property
    def _sizes(self) -> list[int]:
        return [_size(self._exercise, probe) for probe in self._probes]

    def _on_first(self, wrong: Mistake) -> Verdict:
        """Return what one mistake gives on the first probe, in modules of its own."""
        if wrong.name not in self._first:
            self._effort.run(2 * self._sizes[0])  # and as much again for the modules
            self._first[wrong.name] = self._searches[0].examine(wrong)
        return self._first[wrong.name]

    def _acts(self, wrong: Mistake) -> bool:
        if wrong.dimension is Dimension.GRADIENTS or self._on_first(wrong)[1]:
            return True
        return any(self._by_itself(wrong, index)[1] for index in range(1, len(self._searches)))

    def _contradictions(self, pair: tuple[Mistake, Mistake]) -> int:
        """Return how many probes speak against a pair: at most one of it acts there, and does not agree."""
        return sum(self._speaks_against(pair, index) for index in range(len(self._probes)))

    def _speaks_against(self, pair: tuple[Mistake, Mistake], index: int) -> bool:
        acting = [agrees for agrees, differs in (self._by_itself(wrong, index) for wrong in pair) if differs]
        return len(acting) < 2 and not any(acting)

    def _by_itself(self, wrong: Mistake, index: int) -> Verdict:
        """Return what one mistake gives on a probe, each tried once."""
        if (wrong.name, index) not in self._alone:
            self._effort.run(self._sizes[index])
            found = self._searches[index].try_out(wrong) if index else self._on_first(wrong)
            self._alone[wrong.name, index] = found
        return self._alone[wrong.name, index]

    def _may_agree(self, pair: tuple[Mistake, Mistake]) -> bool:
        """Return whether it is worth while to run the pair: a cut graph leaves the outputs to the other one."""
        if not self._probes[0].forward:
            return True
        others = [wrong for wrong in pair if wrong.dimension is not Dimension.GRADIENTS]
        return len(others) == 2 or (len(others) == 1 and self._on_first(others[0])[0])

    def _agree(self, *wrong: Mistake, counted: bool = False) -> bool:
        for index, search in enumerate(self._searches):
            if counted:
                self._effort.run(self._sizes[index])
            if not search.try_out(*wrong)[0]:
                return False
        return True


def _size(exercise: Exercise, probe: Probe) -> int:
    """Return how many operations of torch the reference takes on a probe, without its construction."""
    load, built = exercise.reference(), Instances()
    list(observe(replace(probe.plan, calls=()), load, built))
    counted = Operations()
    with counted:
        list(observe(probe.plan, load, built))
    return counted.count


class _Search:
    """Holds what mistakes give on one probe against what was seen of it.

    `marking` has the names of the mistakes that were seen to leave a mark in an instance, on any probe.
    """

    def __init__(self, probe: Probe, runs: MistakeRuns, marking: set[str], memory: Memory | None) -> None:
        self._probe, self._runs, self._marking, self._memory = probe, runs, marking, memory

    def examine(self, wrong: Mistake) -> Verdict:
        """Try one mistake on an instance of its own, and note whether that is as it was afterwards."""

        def events() -> Iterator[Event]:
            found, marks = self._recall("alone", (wrong,), lambda: self._runs.examine(wrong))
            if marks:
                self._marking.add(wrong.name)
            yield from found

        return self._probe.compare(events())

    def try_out(self, *wrong: Mistake) -> Verdict:
        """Try mistakes together."""

        def events() -> Iterator[Event]:
            anew = any(one.replaces in self._runs.early or one.name in self._marking for one in wrong)
            yield from self._recall("together", wrong, lambda: self._runs.try_out(wrong, anew=anew))

        return self._probe.compare(events())

    def _recall(self, how: str, wrong: tuple[Mistake, ...], run: Callable[[], _Run]) -> _Run:
        return recalled(self._memory, (self._probe.key, how, *(one.name for one in wrong)), run)
