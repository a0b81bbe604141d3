"""Whatever the wire lets through, the judge makes a report of it: no exception, no full marks for damage."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import cached_property

import pytest
import torch

from grader.box.cancel import CancelToken
from grader.box.inline import InlineBox
from grader.box.observations import Blame, BuildSeen, CallSeen, Observations, Presence, Raised, Seen, Stage
from grader.box.plan import Plan
from grader.box.run import Ending, Limits, Progress, Run
from grader.exercise.catalog import ROOT, Catalog, Exercise
from grader.exercise.mistakes import Mistake
from grader.judge.explain.budget import USUAL
from grader.judge.grade import decide
from grader.judge.report import Report
from grader.judge.sheet import draw_up
from tests.judge.forged import read_or

_EXERCISES = sorted(path.parent.name for path in (ROOT / "exercises").glob("*/exercise.toml"))
_RAISED = Raised(Stage.CALL, Blame.ERROR, "Odd\u202e", "an \ud800 error", 3)


class _OneMistakeAStep(Exercise):
    """An exercise with one known mistake for each step: damage is compared with all kinds, and with few of a kind."""

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The first of those that replace the same step."""
        return tuple({wrong.replaces: wrong for wrong in reversed(super().mistakes)}.values())


@dataclass(frozen=True)
class _Damaging:
    """A box that lets the honest answer through, damaged: what a liar in the child could send, as far as it is taken.

    `lacking` has an entry for each run: whether a call was left out that points depend on, of those in `scored`.
    """

    seed: int
    scored: frozenset[str]
    lacking: list[bool] = field(default_factory=list)
    name: str = "damaging"

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run honestly, then damage one to three things, and pass them over the wire."""
        whole = InlineBox().run(plan, source, limits).observations
        draw = random.Random(self.seed)
        calls, builds = dict(whole.calls), dict(whole.builds)
        for _ in range(draw.randint(1, 3)):
            name = draw.choice(list(calls))
            calls[name] = _damaged(calls[name], draw)
            if builds:
                name = draw.choice(list(builds))
                builds[name] = _damaged_build(builds[name], draw)
        events = [read_or(whole.builds[name], seen, plan) for name, seen in builds.items()]
        events += [read_or(whole.calls[name], seen, plan) for name, seen in calls.items()]
        kept = draw.sample(events, draw.randint(len(events) // 2, len(events)))
        told = Observations.of(kept)
        self.lacking.append(any(name not in told.calls for name in self.scored & whole.calls.keys()))
        return Run(told, draw.choice(list(Ending)), output="\x1b[2J")


def _damaged(call: CallSeen, draw: random.Random) -> CallSeen:
    if draw.random() < 0.2:
        return replace(call, slots={}, raised=_RAISED)
    key = draw.choice(list(call.slots) or [""])
    if not key:
        return call
    seen = call.slots[key]
    whole = seen.tensor if seen.tensor is not None else torch.zeros(())
    odd = [
        Seen(Presence.NONE),
        Seen(Presence.OTHER, what="a liar\u202e"),
        Seen(Presence.MISSHAPEN, shape=seen.shape, dtype="complex64"),
        Seen(Presence.MISSHAPEN, shape=(1 << 62,) * 9, dtype="x" * 40),
        *(
            Seen(
                Presence.TENSOR,
                torch.full(whole.shape, value, dtype=torch.float64).to(dtype),
                seen.shape,
                str(dtype)[6:],
            )
            for value in (float("nan"), float("inf"), 0.0, 1e308)
            for dtype in (torch.float64, torch.bfloat16)
            if seen.tensor is not None
        ),
    ]
    changed = replace(call, slots={**call.slots, key: draw.choice(odd)})
    return replace(changed, raised=replace(_RAISED, stage=Stage.BACKWARD)) if draw.random() < 0.2 else changed


def _damaged_build(build: BuildSeen, draw: random.Random) -> BuildSeen:
    changes = [
        BuildSeen(build.name, raised=replace(_RAISED, stage=Stage.TRANSFER, blame=draw.choice(list(Blame)))),
        replace(
            build,
            mapping=dict.fromkeys(build.mapping, "\u202e\x00"),
            unused=("odd\x1b (2,)",),
            zeroed=("z",),
            loose=("\ud800",),
        ),
        build,
        build,
    ]
    return draw.choice(changes)


@pytest.mark.parametrize("name", _EXERCISES)
def test_no_damage_raises_or_earns_full_marks(name: str, catalog: Catalog) -> None:
    """Every report can be stored and shows no hidden character; what is not answered earns no full marks.

    How long a search for mistakes goes on changes nothing of what it does with damage, so it goes through few.
    """
    budget = replace(USUAL, search=10_000)
    whole = catalog[name]
    exercise = _OneMistakeAStep(whole.id, whole.spec, whole.folder, whole.reference_path)
    source = exercise.reference_path.read_bytes()
    scored = frozenset(f"{item.case.name}/base" for item in draw_up(exercise, 0).items if item.points)

    for seed in range(5):
        box = _Damaging(seed, scored)
        report, complete = decide(exercise, source, seed=0, box=box, budget=budget)
        report = complete() if complete else report

        assert 0 <= report.score < 100 or not all(box.lacking)
        assert Report.from_json(report.to_json()).to_json() == report.to_json()  # a picture may hold NaN
        assert not {"\u202e", "\x1b", "\x00", "\ud800"} & set(str(report))
