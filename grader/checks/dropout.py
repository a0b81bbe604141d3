"""Dropout: each element is dropped by itself with the right probability, and passes back what was made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from grader.box.keys import call_name, case_of, input_key, variant_of, weight_key
from grader.box.observations import Seen
from grader.box.plan import Call, TensorSpec, Weight
from grader.checks.compare import axis_name, difference
from grader.checks.evidence import (
    FLOORS,
    Evidence,
    Item,
    Options,
    Trait,
    Work,
    base_call,
    magnitude,
    scale_of,
    variant_call,
)
from grader.checks.explain import explain
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.gradients import blocked
from grader.checks.registry import check
from grader.checks.values import outputs_differ
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
_SIGMAS = 6.0  # of the binomial; an honest dropout leaves this band once in 500 million gradings


def is_drawn(call: Call) -> bool:
    """Return whether a call is one of those in training mode from which dropout is read off."""
    return variant_of(call.name) in ("train1", "train2")


def _training_call(case: Case, seed: int, *, backward: bool = False) -> Call:
    """Return the case's call in training mode: a module is switched to it, a function is told by its `training`."""
    arguments = {**case.arguments, **({"training": True} if "training" in case.arguments else {})}
    name = call_name(case.name, f"train{seed}")
    return replace(base_call(case, backward=backward), name=name, arguments=arguments, training=True, seed=seed)


def _evaluated(case: Case) -> Call:
    """Return the call that says what would come without dropout."""
    if not case.arguments.get("training"):
        return base_call(case)
    return variant_call(case, "evaluated", arguments={"training": False})


def _decoded(output: Tensor, decode: Tensor | None) -> Tensor:
    """Return what the case's decoder reads off an output, the output itself where there is none."""
    return output if decode is None else torch.tensordot(output, decode, dims=1)


@check(
    "dropout",
    "dropout in training",
    Dimension.NUMERICS,
    work=lambda item: Work((_evaluated(item.case), *(_training_call(item.case, n) for n in (1, 2)))),
    after=(),
    traits=[Trait.CHANGES_IN_TRAINING],
)
def judge_dropout(item: Item, evidence: Evidence) -> Finding:
    """In training mode each element must be dropped with the right probability, and the others scaled up.

    The elements are those of the output times `decode` where the case has a decoder, else of the output itself. A
    function that takes `training` is given it, whatever its case says.

    What would have come without dropout is the submission's own output in evaluation mode. Where that is wrong the
    forward pass pays for it elsewhere; a dropout that is right on top of it is right.
    """
    usual = evidence.plan.entry.defaults.get("dropout")
    p = item.case.construct.get("dropout", item.case.arguments.get("p", usual))
    assert isinstance(p, float), "a dropout case gives its probability"
    base, calls = evidence.plan.call(_evaluated(item.case).name), [evidence.call(item, f"train{n}") for n in (1, 2)]
    for call in (base, *calls):
        if (problem := evidence.problem(call)) is not None:
            return problem
    kept, right = _without_dropout(base, evidence, item.case.decode)
    if not right and item.case.arguments.get("training"):
        return failed("with `training = False` your output is wrong")  # no other check asks there
    seen = [_decoded(evidence.output(call, call.outputs[0]), item.case.decode) for call in calls]
    what = "elements of your output" if item.case.decode is None else "attention weights"
    text = _misdropped(torch.cat(seen), torch.cat([kept, kept]), p, _EXACT[calls[0].dtype], what=what)
    if text.startswith(_UNTOLD) and not right:
        return skipped(_UNREADABLE)
    if not text and torch.equal(seen[0], seen[1]):
        text = "two calls in training mode drop the same elements; each call must draw new random numbers"
    text = text or _drawn_together(item, calls[0], seen, kept, p=p)
    return failed(text) if text else PASSED


def _without_dropout(base: Call, evidence: Evidence, decode: Tensor | None) -> tuple[Tensor, bool]:
    """Return what stands in the place of what is dropped, in evaluation mode, and whether it is right.

    That is the submission's own, unless it is so poor in elements, or so much larger in some, that nothing could be
    read off it: an answer of zeros drops nothing.
    """
    slot = base.outputs[0]
    expected = evidence.expected_output(base, slot)
    own, exact = evidence.output(base, slot), _EXACT[base.dtype]
    if not difference(slot.name, own, expected, bound=evidence.bound(base, slot.key), slot=slot):
        return _decoded(expected, decode), True
    told, wanted = (_decoded(output, decode) for output in (own, expected))
    enough = _usable(told, exact).sum() * 2 >= _usable(wanted, exact).sum()
    return (told, False) if bool(enough & torch.isfinite(told).all()) else (wanted, False)


def _usable(kept: Tensor, exact: float) -> Tensor:
    """Return which elements are not too close to rounding to be told from dropped ones."""
    return kept.abs() > 10 * exact * scale_of(kept)


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


# ---- whether every element was drawn by itself

_TELLING = 20.0  # in powers of e: by luck alone, honest dropout looks shared once in 500 million gradings
# Of what independent draws vary; at p = 0.1 luck alone stays below it once in 10^13 for this many lines of ten.
_EVEN = 0.15
_LINES = 70


def _drawn_together(item: Item, call: Call, calls: Sequence[Tensor], kept: Tensor, *, p: float) -> str:
    """Return along which axis elements were not drawn one by one; empty if they were."""
    seen = calls[0]
    smallest, axes, decode = 10 * _EXACT[call.dtype] * scale_of(kept), call.outputs[0].axes, item.case.decode
    dropped, usable = seen.abs() <= smallest, kept.abs() > smallest
    names = axes if decode is None else (*axes[:-1], *("head", "key")[-decode.dim() + 1 :])
    if (axis := _shared_axis(dropped, usable, p)) is not None:
        name = axis_name(names, axis, seen.dim())
        return f"elements that differ only along {name} are dropped together; drop each one independently"
    if (axis := _even_axis(dropped, usable, p)) is not None:
        name = axis_name(names, axis, seen.dim())
        return f"along {name} the same number of elements is always dropped; drop each one independently"
    if (place := _spared_index(torch.stack(list(calls)).abs() <= smallest, usable, p)) is not None:
        name = axis_name(names, place[0], seen.dim())
        return f"nothing is ever dropped at index {place[1]} along {name}; draw for it as well"
    if (apart := paired_elements(dropped, usable, p)) is not None:
        far = " and ".join(f"{n} along {axis_name(names, axis, seen.dim())}" for axis, n in enumerate(apart) if n)
        return f"elements that lie {far} apart are not drawn independently; draw one random number for each element"
    return ""


def _spared_index(dropped: Tensor, usable: Tensor, p: float) -> tuple[int, int] | None:
    """Return an axis, and an index along it at which no call drops anything, if that is no chance.

    `dropped` holds several calls, (call, ...), and `usable` one of them.
    """
    certain = _TELLING / -math.log(max(1 - p, 1e-9))  # so many elements
    for axis, length in enumerate(usable.shape):
        gone = (dropped & usable).any(0).transpose(0, axis).reshape(length, -1).any(1)
        drawn = len(dropped) * usable.transpose(0, axis).reshape(length, -1).sum(1)
        spared = ~gone & (drawn > certain)
        if spared.any() and not spared.all():
            return axis, int(spared.double().argmax())
    return None


def _shared_axis(dropped: Tensor, usable: Tensor, p: float) -> int | None:
    """Return an axis along which elements are dropped together, where there are enough of them to tell from chance."""
    gone, left = dropped & usable, ~dropped & usable
    for axis in range(dropped.dim()):
        mixed = gone.any(axis) & left.any(axis)
        if mixed.any():
            continue
        compared = int(usable.sum()) - int(usable.any(axis).sum())
        if compared * -math.log(max(p, 1 - p)) > _TELLING:
            return axis
    return None


def _even_axis(dropped: Tensor, usable: Tensor, p: float) -> int | None:
    """Return an axis along which a fixed number of elements is dropped, where there are enough lines to tell."""
    for axis in range(dropped.dim()):
        length = dropped.shape[axis]
        spread = length * p * (1 - p)
        if spread < 0.5 or dropped.numel() < _LINES * length:
            continue
        counts = dropped.sum(axis)[usable.all(axis)].double()
        if counts.numel() >= _LINES and float((counts - length * p).square().mean()) < _EVEN * spread:
            return axis
    return None


def paired_elements(dropped: Tensor, usable: Tensor, p: float) -> tuple[int, ...] | None:
    """Return how far apart, along each axis, elements lie that are drawn together or against each other.

    For every distance the products of what two elements so far apart deviate from p are added up. Independent draws
    make that sum deviate from zero by more than Bernstein's inequality allows as seldom as `_TELLING` says, whatever
    the number of distances.
    """
    deviation = torch.where(usable, dropped.double() - p, 0.0)
    sums, pairs = _correlated(deviation), _correlated(usable.double())
    varies, largest = (p * (1 - p)) ** 2, max(p, 1 - p) ** 2
    surprise = sums.square() / 2 / (pairs * varies + sums.abs() * largest / 3).clamp(min=varies)
    surprise.view(-1)[0] = 0.0  # each element with itself
    found = int(surprise.argmax())
    if float(surprise.view(-1)[found]) <= _TELLING + math.log(surprise.numel()):
        return None
    place = [int(at) for at in torch.unravel_index(torch.tensor(found), surprise.shape)]
    apart = tuple(at if 2 * at < size else at - size for at, size in zip(place, surprise.shape, strict=True))
    return max(apart, tuple(-far for far in apart))  # from the earlier one to the later one


def _correlated(x: Tensor) -> Tensor:
    """Return for every distance the sum of the products of two elements of `x` so far apart; the last are negative."""
    sizes = [2 * size for size in x.shape]  # room for every distance, so that none wraps around
    spectrum = torch.fft.rfftn(x, s=sizes)
    sums: Tensor = torch.fft.irfftn(spectrum.abs().square(), s=sizes)
    return sums


# ---- gradients through dropout

_READ_OFF = {"float64": 1e-8, "float32": 1e-4}  # relative
_ADDED_UP = {"float64": 1e-6, "float32": 1e-2}  # of the sum of magnitudes; some weights are computed less exactly
_UNTOLD_GRADIENT = (
    "because your output in evaluation mode is wrong, so the grader cannot tell which gradient dropout must leave; fix "
    "that first"
)
_RULE = "Dropped elements pass on no gradient; the gradient of the others is multiplied by 1/(1 - p)"


class Through(Options):
    """`of`, names of inputs or of weights."""

    of: tuple[str, ...] = Field(min_length=1)
    names: ClassVar = {"of": lambda _, part: [*part.inputs, *part.weights]}


@check(
    "dropout_gradient",
    "gradients through dropout",
    Dimension.GRADIENTS,
    work=lambda item: Work((base_call(item.case), _training_call(item.case, 1, backward=True))),
    after=("train1",),
    needs=("shape", "dropout"),
    options=Through,
    traits=[Trait.CHANGES_IN_TRAINING],
)
def judge_gradient(item: Item, evidence: Evidence) -> Finding:
    """In training mode each element must pass back what dropout made of it: nothing, or its gradient scaled up.

    It asks for the gradients of `of`. The output is, element by element, each of these inputs times what dropout drew,
    beside what does not depend on it. Of a weight, all scores are multiples, and the case has a decoder: see `_pull`.

    The upstream gradient is multiplied by the factor that is read off the output, with the right output in mind. Where
    the submission's own is another one, nothing is said.
    """
    call = evidence.call(item, "train1")
    if (raised := evidence.seen(call).raised) is not None:
        return failed(explain(raised))
    weights = {weight.name: weight for weight in item.case.weights}
    names = item.given(Through).of
    for name in names:
        key = weight_key(name) if name in weights else input_key(name)
        if text := blocked(TensorSpec(key, (), ()), evidence.seen(call).slots[key]):
            return failed(f"in training mode, {text}")
    wrong = (
        _pulled(item.case, weights[name], call, evidence) if name in weights else _misled(name, call, evidence)
        for name in names
    )
    if not (text := next(filter(None, wrong), "")):
        return PASSED
    plain = evidence.plan.call(call_name(item.case.name))
    if evidence.problem(plain) is not None or outputs_differ(plain, evidence):
        return skipped(_UNTOLD_GRADIENT)
    return failed(f"in training mode, {text}. {_RULE}")


def _misled(name: str, call: Call, evidence: Evidence) -> str:
    """Return how an input's gradient is not what dropout should have made of it; empty if it is."""
    slot, seen = call.outputs[0], evidence.seen(call).slots[input_key(name)].tensor
    assert seen is not None, "it is not blocked"
    plain, upstream = _without(call, evidence), _upstream(call)
    # A right output may be off by its floor. A factor that is read off it is off by that over the element.
    told = plain.abs() * _READ_OFF[call.dtype] > FLOORS[call.dtype] * scale_of(plain)
    expected = upstream * torch.where(told, evidence.output(call, slot) / plain, 0.0)
    found = torch.where(told, seen.double(), 0.0)
    bound = _READ_OFF[call.dtype] * scale_of(expected)
    return difference(f"gradient of {name}", found, expected, bound=bound, slot=slot)


def _pulled(case: Case, weight: Weight, call: Call, evidence: Evidence) -> str:
    """Return in which head the gradient of a weight is not what dropout should have made of it; empty if it is."""
    found = []
    for part, leaf in ((weight.matrix, ""), *(((weight.bias, "bias"),) if weight.bias is not None else ())):
        seen = evidence.seen(call).slots[weight_key(weight.name, leaf)]
        found.append(_by_head(part, seen, weight.heads))
    pull, size = _pull(case, call, evidence)
    wrong = (sum(found) - pull).abs() > _ADDED_UP[call.dtype] * size
    if not bool(wrong.any()):
        return ""
    head = f" of head {int(wrong.nonzero()[0])}" if weight.heads > 1 else ""
    return f"the gradient of `{weight.name}`{head} does not fit the weights that your dropout dropped"


def _by_head(value: Tensor, seen: Seen, heads: int) -> Tensor:
    """Return for each head the sum of the products of a weight's numbers and their gradients, (heads,)."""
    if seen.tensor is None:
        return torch.zeros(heads, dtype=torch.float64)
    product = value.double() * seen.tensor.double()
    return torch.stack([part.sum() for part in product.tensor_split(heads, dim=-1)])


def _pull(case: Case, call: Call, evidence: Evidence) -> tuple[Tensor, Tensor]:
    """Return for each head what the products of a weight and its gradient add up to, and the sum of the magnitudes.

    Where all scores s are multiples of a weight, its products with its gradient have the sum of s times the gradient of
    s (Euler's theorem on homogeneous functions). The gradients of a row of scores add up to zero, so the logarithms of
    the attention weights a can stand for s. With the upstream gradient u of the weights after dropout d, which the
    decoder reads from the output as it does d, that sum is (u d - a (u d summed over keys)) log a.
    """
    assert case.decode is not None, "the weights after dropout are read off the output"
    slot, heads = call.outputs[0], case.decode[0, ..., 0].numel()
    plain = _decoded(_without(call, evidence), case.decode)
    passed = _decoded(_upstream(call), case.decode) * _decoded(evidence.output(call, slot), case.decode)
    known = torch.where(plain > 1e-12, plain, 1.0)  # a masked key has no share
    parts = (passed - plain * passed.sum(dim=-1, keepdim=True)) * known.log()
    parts = parts.reshape(*parts.shape[:2], heads, -1)  # (batch, queries, heads, keys)
    return parts.sum(dim=(0, 1, 3)), parts.abs().sum(dim=(0, 1, 3))


def _without(call: Call, evidence: Evidence) -> Tensor:
    """Return the right output without dropout: that of the plain call of the same case."""
    base = evidence.plan.call(call_name(case_of(call.name)))
    return evidence.expected_output(base, base.outputs[0])


def _upstream(call: Call) -> Tensor:
    upstream = call.grad_outputs[0]
    assert upstream is not None, "a gradient is sent back through the output"
    return upstream.double()
