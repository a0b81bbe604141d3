"""Gradient flow through dropout: what was dropped passes on nothing, and what was kept passes on more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import torch
from torch import Tensor

from grader.box.keys import call_name, case_of, input_key, weight_key
from grader.box.observations import Seen
from grader.box.plan import Call, TensorSpec, Weight
from grader.checks.compare import difference
from grader.checks.evidence import FLOORS, Check, Evidence, Item, Work, base_call, scale_of
from grader.checks.explain import explain
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.gradients import blocked
from grader.checks.numerics import decoded, outputs_differ, training_call
from grader.checks.options import Inputs, misspelt
from grader.checks.traits import Trait
from grader.exercise.inputs import Case
from grader.exercise.spec import Dimension, PartSpec

_READ_OFF = {"float64": 1e-8, "float32": 1e-4}  # relative
_ADDED_UP = {"float64": 1e-6, "float32": 1e-2}  # of the sum of magnitudes; some weights are computed less exactly
_UNTOLD = (
    "because your output in evaluation mode is wrong, so the grader cannot tell which gradient dropout must leave; fix "
    "that first"
)
_RULE = "Dropped elements pass on no gradient; the gradient of the others is multiplied by 1/(1 - p)"


class Through(Inputs):
    """`of`, names of inputs or of weights."""

    def unknown(self, part: PartSpec) -> Iterator[str]:
        """Compare `of` with what goes in and with the weights."""
        yield from misspelt("of", self.of, [*part.inputs, *part.weights])


class DropoutGradient(Check):
    """In training mode each element passes back what dropout made of it: nothing, or its gradient scaled up.

    It asks for the gradients of `of`. The output is, element by element, each of these inputs times what dropout drew,
    beside what does not depend on it. Of a weight, all scores are multiples, and the case has a decoder: see `_pull`.
    """

    dimension: ClassVar = Dimension.GRADIENTS
    title: ClassVar[str] = "gradients through dropout"
    needs: ClassVar[tuple[str, ...]] = ("shape", "dropout")
    options: ClassVar = Through
    traits: ClassVar = frozenset({Trait.CHANGES_IN_TRAINING})

    def work(self, item: Item) -> Work:
        """Call in training mode with a backward pass, and once in evaluation mode for what would come without."""
        return Work((base_call(item.case), training_call(item.case, 1, backward=True)))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare with the upstream gradient times the factor that is read off the output.

        That factor is read with the right output in mind. Where the submission's own is another one, nothing is said.
        """
        call = evidence.call(item, "train1")
        if (problem := evidence.problem(call)) is not None:
            return problem
        if (raised := evidence.seen(call).raised) is not None:
            return failed(explain(raised))
        weights = {weight.name: weight for weight in item.case.weights}
        names = item.given(Through).of
        for name in names:
            key = weight_key(name) if name in weights else input_key(name)
            if text := blocked(TensorSpec(key, (), ()), evidence.seen(call).slots[key]):
                return failed(f"in training mode, {text}")
        told = (
            _pulled(item.case, weights[name], call, evidence) if name in weights else _misled(name, call, evidence)
            for name in names
        )
        if not (text := next(filter(None, told), "")):
            return PASSED
        plain = evidence.plan.call(call_name(item.case.name))
        if evidence.problem(plain) is not None or outputs_differ(plain, evidence):
            return skipped(_UNTOLD)
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
    plain = decoded(_without(call, evidence), case.decode)
    passed = decoded(_upstream(call), case.decode) * decoded(evidence.output(call, slot), case.decode)
    known = torch.where(plain > 1e-12, plain, 1.0)  # a masked key has no share
    parts = (passed - plain * passed.sum(dim=-1, keepdim=True)) * known.log()
    parts = parts.reshape(*parts.shape[:2], heads, -1)  # (batch, queries, heads, keys)
    return parts.sum(dim=(0, 1, 3)), parts.abs().sum(dim=(0, 1, 3))


def _without(call: Call, evidence: Evidence) -> Tensor:
    """Return the right output without dropout: that of the plain call of the same case."""
    base = evidence.plan.call(call_name(case_of(call.name)))
    plain = evidence.truth(base, base.outputs[0].key)
    assert plain is not None
    return plain


def _upstream(call: Call) -> Tensor:
    upstream = call.grad_outputs[0]
    assert upstream is not None, "a gradient is sent back through the output"
    return upstream.double()
