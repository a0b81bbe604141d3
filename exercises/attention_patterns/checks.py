"""Looking into a model: it is left as it was found, and what is found has the right name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from grader.box.keys import call_name, output_key
from grader.box.plan import TensorSpec
from grader.checks.compare import named
from grader.checks.evidence import Evidence, Item, Options, Work, base_call
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.registry import check
from grader.exercise.labs.attention_patterns.lab import LEFT, NAMES
from grader.exercise.spec import Dimension

_LEFT: Mapping[str, str] = {
    "hooks": "your code leaves {count} hooks, replaced methods or modules in the model; remove them in the end",
    "parameters": "your code changes {count} parameters of the model; reading a model must not change it",
    "modes": "your code leaves {count} modes (`train` or `eval`) or settings of PyTorch changed; restore them",
    "gradients": "your code leaves a gradient in {count} parameters; the next training step would add to it",
    "frozen": "after your code, {count} parameters are frozen, or gradients are still disabled for the whole program",
}


class LeftBehind(Options):
    """`output`, one of the counts of what was left behind."""

    output: str
    names: ClassVar = {"output": lambda *_: LEFT}


def _untouched_work(item: Item) -> Work:
    """Return one look, into a model in training mode."""
    outputs = tuple(TensorSpec(output_key(name), (), (), "int64") for name in LEFT)
    call = replace(base_call(item.case), name=call_name(item.case.name, "untouched"), training=True, outputs=outputs)
    return Work((call,))


_leaves = partial(check, work=_untouched_work, after=("untouched",), needs=(), options=LeftBehind)


@_leaves("trainable", "no effect on later training", Dimension.GRADIENTS)
@_leaves("untouched", "the model is unchanged", Dimension.NUMERICS)
def judge_untouched(item: Item, evidence: Evidence) -> Finding:
    """The model must be left as it was found: `output` names one of the counts of what was left behind, which is 0.

    Where that is about gradients it is called `trainable`.
    """
    call, output = evidence.call(item, "untouched"), item.given(LeftBehind).output
    count = float(evidence.output(call, call.output(output)))
    return failed(_LEFT[output].format(count=f"{count:g}")) if count else PASSED


@check("labels", "names", Dimension.NUMERICS)
def judge_labels(item: Item, evidence: Evidence) -> Finding:
    """Every name must be the reference's."""
    call = evidence.call(item, "base")
    slot, names = call.outputs[0], str(item.case.arguments[NAMES]).split()
    truth, seen = evidence.expected_output(call, slot), evidence.output(call, slot)
    pairs = zip(truth.long().tolist(), seen.long().tolist(), strict=True)
    wrong = [(place, one, other) for place, (one, other) in enumerate(pairs) if one != other]
    if not wrong:
        return PASSED
    place, one, other = wrong[0]
    said = f"`{names[other]}`" if 0 <= other < len(names) else "something else"
    where = named(slot.axes, (place,))
    return failed(f"{where} is `{names[one]}`; yours says {said}. {len(wrong)} of {len(truth)} are wrong")
