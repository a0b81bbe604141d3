"""Numerics: the values are right, and dropout does what dropout does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor

from grader.box.keys import BASE, call_name, case_of, variant_of
from grader.box.plan import Call
from grader.checks.compare import axis_name, difference, same
from grader.checks.draws import even_axis, paired_elements, shared_axis, spared_index
from grader.checks.evidence import Check, Evidence, Item, Work, base_call, magnitude, scale_of, variant_call
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.traits import Trait
from grader.exercise.inputs import Case
from grader.exercise.spec import Dimension

# Relative, by precision: far above the rounding that reading weights off an output amplifies, and far below any wrong
# factor of dropout.
_EXACT = {"float64": 1e-6, "float32": 1e-3}
_UNTOLD = "in training mode"  # so begin the reasons that a wrong output in evaluation mode may have brought about
_UNREADABLE = (
    "because your output in evaluation mode is wrong, so the grader cannot tell which elements were dropped; fix that "
    "first"
)
_UNSTEADY = (
    "two equal calls give different results: `{name}` changes when your code is called again with the same "
    "inputs. Fix this first. Is dropout still active in evaluation mode, or does your code keep state from one call "
    "to the next?"
)
_SIGMAS = 6.0  # of the binomial; an honest dropout leaves this band once in 500 million gradings


def outputs_differ(call: Call, evidence: Evidence) -> str:
    """Return how the outputs of `call` differ from those expected; empty if they agree."""
    return evidence.once(("outputs", call.name), lambda: _outputs_differ(call, evidence))


def _outputs_differ(call: Call, evidence: Evidence) -> str:
    for slot in call.outputs:
        expected = evidence.truth(call, slot.key)
        assert expected is not None
        seen = evidence.output(call, slot)
        if same(seen, expected):
            continue
        if text := difference(slot.name, seen, expected, bound=evidence.bound(call, slot.key), slot=slot):
            return text
    return ""


class Values(Check):
    """Every element of every output equals the reference's, up to rounding."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "output values"
    needs: ClassVar[tuple[str, ...]] = ("shape",)
    traits: ClassVar = frozenset({Trait.SHOWS_OUTPUTS})

    def work(self, item: Item) -> Work:
        """Call once."""
        return Work((base_call(item.case),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare element by element."""
        call = evidence.call(item, "base")
        if (problem := evidence.problem(call)) is not None:
            return problem
        text = outputs_differ(call, evidence)
        return failed(unsteady(evidence) or text) if text else PASSED


def plain_calls(evidence: Evidence) -> list[Call]:
    """Return the plain call of each case that points depend on, without those that must be refused."""

    def is_judged(call: Call) -> bool:
        build = evidence.plan.build_of(call)
        return call.name not in evidence.free and (build is None or not build.must_raise)

    return [call for call in evidence.plan.calls if variant_of(call.name) == BASE and is_judged(call)]


def unsteady(evidence: Evidence) -> str:
    """Return that two equal calls differ, which explains more than any number that is wrong; empty where none do."""
    return evidence.once(_unsteady, lambda: _unsteady(evidence))


def _unsteady(evidence: Evidence) -> str:
    for again in (call for call in evidence.plan.calls if variant_of(call.name) == "again"):
        first = evidence.plan.call(call_name(case_of(again.name)))
        if evidence.problem(first) is not None or evidence.problem(again) is not None:
            continue
        for slot in first.outputs:
            before, after = evidence.output(first, slot), evidence.output(again, slot)
            if same(before, after):
                continue
            if not torch.allclose(before, after, rtol=0.0, atol=evidence.bound(first, slot.key), equal_nan=True):
                return _UNSTEADY.format(name=slot.name)
    return ""


class Dropout(Check):
    """In training mode each element is dropped with the right probability, and the others are scaled up.

    The elements are those of the output times `decode` where the case has a decoder, else of the output itself. A
    function that takes `training` is given it, whatever its case says.
    """

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "dropout in training"
    needs: ClassVar[tuple[str, ...]] = ("shape",)
    traits: ClassVar = frozenset({Trait.CHANGES_IN_TRAINING})

    def work(self, item: Item) -> Work:
        """Call twice in training mode, and once in evaluation mode for what would come without dropout."""
        return Work((_evaluated(item.case), *(training_call(item.case, n) for n in (1, 2))))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Read off which elements were dropped, and by what the others were multiplied.

        What would have come without dropout is the submission's own output in evaluation mode. Where that is wrong the
        forward pass pays for it elsewhere; a dropout that is right on top of it is right.
        """
        usual = evidence.plan.entry.defaults.get("dropout")
        p = item.case.construct.get("dropout", item.case.arguments.get("p", usual))
        assert isinstance(p, float), "a dropout case gives its probability"
        base = evidence.plan.call(_evaluated(item.case).name)
        calls = [evidence.call(item, f"train{n}") for n in (1, 2)]
        for call in (base, *calls):
            if (problem := evidence.problem(call)) is not None:
                return problem
        kept, right = _without_dropout(base, evidence, item.case.decode)
        if not right and item.case.arguments.get("training"):
            return failed("with `training = False` your output is wrong")  # no other check asks there
        seen = [decoded(evidence.output(call, call.outputs[0]), item.case.decode) for call in calls]
        what = "elements of your output" if item.case.decode is None else "attention weights"
        text = _misdropped(torch.cat(seen), torch.cat([kept, kept]), p, _EXACT[calls[0].dtype], what=what)
        if text.startswith(_UNTOLD) and not right:
            return skipped(_UNREADABLE)
        if not text and torch.equal(seen[0], seen[1]):
            text = "two calls in training mode drop the same elements; each call must draw new random numbers"
        text = text or _drawn_together(item, calls[0], seen, kept, p=p)
        return failed(text) if text else PASSED


def _drawn_together(item: Item, call: Call, calls: Sequence[Tensor], kept: Tensor, *, p: float) -> str:
    """Return along which axis elements were not drawn one by one; empty if they were."""
    seen = calls[0]
    smallest, axes, decode = 10 * _EXACT[call.dtype] * scale_of(kept), call.outputs[0].axes, item.case.decode
    dropped, usable = seen.abs() <= smallest, kept.abs() > smallest
    names = axes if decode is None else (*axes[:-1], *("head", "key")[-decode.dim() + 1 :])
    if (axis := shared_axis(dropped, usable, p)) is not None:
        name = axis_name(names, axis, seen.dim())
        return f"elements that differ only along {name} are dropped together; drop each one independently"
    if (axis := even_axis(dropped, usable, p)) is not None:
        name = axis_name(names, axis, seen.dim())
        return f"along {name} the same number of elements is always dropped; drop each one independently"
    if (place := spared_index(torch.stack(list(calls)).abs() <= smallest, usable, p)) is not None:
        name = axis_name(names, place[0], seen.dim())
        return f"nothing is ever dropped at index {place[1]} along {name}; draw for it as well"
    if (apart := paired_elements(dropped, usable, p)) is not None:
        far = " and ".join(f"{n} along {axis_name(names, axis, seen.dim())}" for axis, n in enumerate(apart) if n)
        return f"elements that lie {far} apart are not drawn independently; draw one random number for each element"
    return ""


def _evaluated(case: Case) -> Call:
    """Return the call that says what would come without dropout."""
    if not case.arguments.get("training"):
        return base_call(case)
    return variant_call(case, "evaluated", arguments={"training": False})


def _without_dropout(base: Call, evidence: Evidence, decode: Tensor | None) -> tuple[Tensor, bool]:
    """Return what stands in the place of what is dropped, in evaluation mode, and whether it is right.

    That is the submission's own, unless it is so poor in elements, or so much larger in some, that nothing could be
    read off it: an answer of zeros drops nothing.
    """
    slot = base.outputs[0]
    expected = evidence.truth(base, slot.key)
    assert expected is not None
    own, exact = evidence.output(base, slot), _EXACT[base.dtype]
    if not difference(slot.name, own, expected, bound=evidence.bound(base, slot.key), slot=slot):
        return decoded(expected, decode), True
    told, wanted = (decoded(output, decode) for output in (own, expected))
    enough = _usable(told, exact).sum() * 2 >= _usable(wanted, exact).sum()
    return (told, False) if bool(enough & torch.isfinite(told).all()) else (wanted, False)


def _usable(kept: Tensor, exact: float) -> Tensor:
    """Return which elements are not too close to rounding to be told from dropped ones."""
    return kept.abs() > 10 * exact * scale_of(kept)


def is_drawn(call: Call) -> bool:
    """Return whether a call is one of those in training mode from which dropout is read off."""
    return variant_of(call.name) in ("train1", "train2")


def training_call(case: Case, seed: int, *, backward: bool = False) -> Call:
    """Return the case's call in training mode: a module is switched to it, a function is told by its `training`."""
    arguments = {**case.arguments, **({"training": True} if "training" in case.arguments else {})}
    name = call_name(case.name, f"train{seed}")
    return replace(base_call(case, backward=backward), name=name, arguments=arguments, training=True, seed=seed)


def decoded(output: Tensor, decode: Tensor | None) -> Tensor:
    """Return what the case's decoder reads off an output, the output itself where there is none."""
    return output if decode is None else torch.tensordot(output, decode, dims=1)


def _misdropped(seen: Tensor, kept: Tensor, p: float, exact: float, *, what: str) -> str:
    """Return in what way `seen` is not `kept` after inverted dropout with probability `p`; empty if it is.

    `what` says what is to be dropped.
    """
    scale, factor = scale_of(kept), 1 / (1 - p)
    usable = kept.abs() > 10 * exact * scale
    if not magnitude(seen[~usable]) <= 20 * factor * exact * scale:
        return (
            f"{_UNTOLD} your output is nonzero where it must be zero, which dropping {what} cannot cause; "
            f"drop {what}, and nothing else"
        )
    ratios = (seen / kept)[usable]
    dropped = ratios.abs() < exact
    share, count = float(dropped.double().mean()), ratios.numel()
    alive = ratios[~dropped]
    if not share > 0 and float((alive - 1).abs().max()) < exact:
        return f"with dropout {p:g}, training mode must drop {what}; yours dropped none"
    if not magnitude(alive / factor - 1) < exact:
        return _wrong_factor(alive, factor, exact, what=what)
    if abs(share - p) > _SIGMAS * math.sqrt(p * (1 - p) / count):
        return f"with dropout {p:g}, about {p:.0%} of the {what} must be dropped; yours dropped {share:.0%}"
    return ""


def _wrong_factor(alive: Tensor, factor: float, exact: float, *, what: str) -> str:
    middle = float(alive.median())
    if float((alive - middle).abs().max()) < exact * max(abs(middle), 1.0):
        return f"kept {what} must be multiplied by 1/(1 - p) = {factor:.4g}; yours are multiplied by {middle:.4g}"
    return (
        f"{_UNTOLD} your output cannot result from dropping some {what} and multiplying the others by "
        f"1/(1 - p) = {factor:.4g}; check what you drop, where, and what you multiply the others by"
    )
