"""Looking into a model: it is left as it was found, and what is found has the right name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from grader.box.drivers.hooks import NAMES
from grader.box.keys import call_name, output_key
from grader.box.kinds import LEFT
from grader.box.plan import TensorSpec
from grader.checks.compare import named
from grader.checks.evidence import Check, Evidence, Item, Work, base_call
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.options import Options, misspelt
from grader.exercise.spec import Dimension, PartSpec

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

    def unknown(self, part: PartSpec) -> Iterator[str]:
        """Compare `output` with what is counted."""
        yield from misspelt("output", (self.output,), LEFT)


class Untouched(Check):
    """The model is left as it was found: `output` names one of the counts of what was left behind, which must be 0."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "the model is unchanged"
    needs: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[type[Options]] = LeftBehind

    def work(self, item: Item) -> Work:
        """Look once, into a model in training mode."""
        outputs = tuple(TensorSpec(output_key(name), (), (), "int64") for name in LEFT)
        call = replace(
            base_call(item.case), name=call_name(item.case.name, "untouched"), training=True, outputs=outputs
        )
        return Work((call,))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Look at the count."""
        call = evidence.call(item, "untouched")
        if (problem := evidence.problem(call)) is not None:
            return problem
        output = item.given(LeftBehind).output
        count = float(evidence.output(call, call.output(output)))
        return failed(_LEFT[output].format(count=f"{count:g}")) if count else PASSED


class Trainable(Untouched):
    """The same, where what is left behind is about gradients."""

    dimension: ClassVar = Dimension.GRADIENTS
    title: ClassVar[str] = "no effect on later training"


class Labels(Untouched):
    """Every name is the reference's."""

    title: ClassVar[str] = "names"
    needs: ClassVar[tuple[str, ...]] = ("shape",)
    options: ClassVar[type[Options]] = Options

    def work(self, item: Item) -> Work:
        """Call once."""
        return Work((base_call(item.case),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare name by name."""
        call = evidence.call(item, "base")
        if (problem := evidence.problem(call)) is not None:
            return problem
        slot, names = call.outputs[0], str(item.case.arguments[NAMES]).split()
        truth, seen = evidence.truth(call, slot.key), evidence.output(call, slot)
        assert truth is not None
        pairs = zip(truth.long().tolist(), seen.long().tolist(), strict=True)
        wrong = [(place, one, other) for place, (one, other) in enumerate(pairs) if one != other]
        if not wrong:
            return PASSED
        place, one, other = wrong[0]
        said = f"`{names[other]}`" if 0 <= other < len(names) else "something else"
        where = named(slot.axes, (place,))
        return failed(f"{where} is `{names[one]}`; yours says {said}. {len(wrong)} of {len(truth)} are wrong")
