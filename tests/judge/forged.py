"""A box whose child forges its answers: what the reader takes of them comes through, and the truth for the rest."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import torch

from grader.box.cancel import CancelToken
from grader.box.inline import InlineBox
from grader.box.observations import Blame, BuildSeen, CallSeen, Event, Observations, Presence, Raised, Seen, Stage
from grader.box.plan import DTYPES, Plan
from grader.box.run import Ending, Limits, Progress, Run
from grader.box.wire.answer import FrameReader, pack
from grader.errors import BadAnswer

_TEXTS = (
    *("", "x", "W_query", "W_query=x", "\n\n", "a=b\nc=d", ".", "=", "weight", "W_key=W_key.weight"),
    "odd\x1b\u202e\x00\ud800",
)
_WHATS = ("None", "", "a list of 3", "a ndarray", "a liar\u202e")
_SHAPES = ((), (0,), (2, 3), (1 << 62,) * 9)
_NUMBERS = (0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 1e-320)
_ODD = (float("nan"), float("inf"), float("-inf"), 0.0, 1e308, 5e-324)
_DTYPES = tuple(DTYPES)
_Seen = TypeVar("_Seen", BuildSeen, CallSeen)


@dataclass
class Forging:
    """Runs honestly, and forges what is told of it.

    `forged` and `taken` count the constructions and calls that were told otherwise, and those that the reader took;
    `lacking` says of each run whether a call of `scored`, on which points depend, was left out.
    """

    draw: random.Random
    scored: frozenset[str] = frozenset()
    forged: int = 0
    taken: int = 0
    lacking: list[bool] = field(default_factory=list)
    name: str = "forging"

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Forge some, most or all of what an honest run gives, and leave out little of it."""
        whole = InlineBox().run(plan, source, limits).observations
        share = self.draw.choice((0.1, 0.5, 1.0))
        builds = [self._told(build, plan, _forged_build, share) for build in whole.builds.values()]
        calls = [self._told(call, plan, _forged_call, share) for call in whole.calls.values()]
        told: list[Event] = [event for event in (*builds, *calls) if self.draw.random() > 0.03]
        ending = Ending.FINISHED if self.draw.random() < 0.8 else self.draw.choice(list(Ending))
        observed = replace(Observations.of(told), loading=whole.loading)
        self.lacking.append(not self.scored & whole.calls.keys() <= observed.calls.keys())
        return Run(observed, ending, output="\x1b[2J")

    def _told(self, honest: _Seen, plan: Plan, forge: Callable[[random.Random, _Seen], _Seen], share: float) -> Event:
        """Return what a reader has of an event that was forged; the honest one where it was refused, or left as is."""
        if self.draw.random() > share:
            return honest
        self.forged += 1
        read = _read_or(honest, forge(self.draw, honest), plan)
        self.taken += read is not honest
        return read


def _read_or(honest: Event, forged: Event, plan: Plan) -> Event:
    """Return what a reader has of a forged event; the honest one where it refuses that."""
    try:
        (read,) = FrameReader(plan).feed(pack(forged, plan))
    except BadAnswer:
        return honest
    return read


def _raised(draw: random.Random) -> Raised:
    kind = draw.choice(("", "ValueError", "SyntaxError", "TimeoutError", "Odd\u202e"))
    line = draw.choice((None, 1, 5, 999_999))
    return Raised(draw.choice(list(Stage)), draw.choice(list(Blame)), kind, draw.choice((*_TEXTS, "`.`")), line)


def _forged_build(draw: random.Random, seen: BuildSeen) -> BuildSeen:
    ways: tuple[Callable[[], BuildSeen], ...] = (
        lambda: replace(seen, places=draw.choice(_TEXTS), choices=draw.randint(1, 200)),
        lambda: replace(seen, places="".join(f"{name}=x\n" for name in seen.mapping), choices=draw.randint(1, 9)),
        lambda: replace(seen, choices=draw.randint(1, 200)),
        lambda: replace(seen, mapping={draw.choice(_TEXTS): draw.choice(_TEXTS)}),
        lambda: replace(seen, mapping={name: draw.choice(_TEXTS) for name in seen.mapping}),
        lambda: replace(seen, mapping={}),
        lambda: replace(seen, raised=_raised(draw)),
        lambda: BuildSeen(seen.name, raised=_raised(draw)),
        lambda: replace(seen, initial=_moments(draw, {**seen.initial, **seen.mapping})),
        lambda: replace(seen, initial=_moments(draw, seen.initial)),
        lambda: replace(seen, unused=(draw.choice(_TEXTS),) * 3, zeroed=("q",), loose=("",)),
    )
    return draw.choice(ways)()


def _moments(draw: random.Random, names: Mapping[str, object]) -> dict[str, tuple[float, float]]:
    return {name: (draw.choice(_NUMBERS), draw.choice(_NUMBERS)) for name in names}


def _forged_call(draw: random.Random, seen: CallSeen) -> CallSeen:
    ways: tuple[Callable[[], CallSeen], ...] = (
        lambda: CallSeen(seen.name, raised=_raised(draw)),
        lambda: replace(seen, raised=_raised(draw)),
        lambda: replace(
            seen, raised=_raised(draw), slots={key: s for key, s in seen.slots.items() if draw.random() < 0.5}
        ),
        lambda: replace(seen, modified=(draw.choice((*_TEXTS, "mask", "query")),)),
        lambda: replace(seen, largest=draw.choice((None, 0, 1 << 62))),
        *[lambda: _with_forged_slots(draw, seen)] * 6,
    )
    return draw.choice(ways)()


def _with_forged_slots(draw: random.Random, seen: CallSeen) -> CallSeen:
    """Forge one kind of thing in some slots; in one, or in all of them."""
    share, way = draw.choice((0.2, 0.6, 1.0)), draw.choice((_in_words, _of_another_dtype, _of_odd_numbers))
    return replace(seen, slots={key: way(draw, s) if draw.random() < share else s for key, s in seen.slots.items()})


def _in_words(draw: random.Random, seen: Seen) -> Seen:
    return draw.choice((
        Seen(Presence.NONE),
        Seen(Presence.OTHER, None, draw.choice(_SHAPES), "float64", draw.choice(_WHATS)),
        Seen(Presence.MISSHAPEN, None, draw.choice((*_SHAPES, seen.shape)), draw.choice((*_DTYPES, "", "complex64"))),
    ))  # fmt: skip


def _of_another_dtype(draw: random.Random, seen: Seen) -> Seen:
    dtype = draw.choice(_DTYPES)
    return seen if seen.tensor is None else replace(seen, tensor=seen.tensor.to(DTYPES[dtype]), dtype=dtype)


def _of_odd_numbers(draw: random.Random, seen: Seen) -> Seen:
    if seen.tensor is None or not seen.tensor.is_floating_point():
        return seen
    odd = torch.full(seen.shape, draw.choice(_ODD), dtype=torch.float64).to(seen.tensor.dtype)
    taken = torch.zeros(seen.shape, dtype=torch.bool)
    taken.view(-1)[: draw.choice((1, taken.numel()))] = True
    return replace(seen, tensor=torch.where(taken, odd, seen.tensor))
