"""Says where an answer begins to differ from the reference.

A small call that went wrong is run once more in the box, with a recorder that keeps the result of each operation. Out
here the reference runs the same call with its steps watched, and `search` compares the two. Where that names no step,
`symptoms` and `gradients` look at what else is wrong: an exception, a shape, what is kept between calls, a gradient.
Whatever comes out is a sentence in the report: it gives no points and takes none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import Tensor

from grader.box.plan import Call
from grader.judge.explain import gradients, symptoms
from grader.judge.explain.alignment import Alignment, align
from grader.judge.explain.budget import USUAL, Effort, within
from grader.judge.explain.search import Divergence, RightOnly, search
from grader.judge.explain.trace import WrongAnswer, is_close, outputs_of
from grader.judge.explain.wording import Wording, stages
from grader.judge.report import Location
from grader.judge.text import clean

_MOST_CALLS = 3  # that went wrong and are looked at
_MOST_WORK = 200_000  # for the steps beside each other, in units of `spend`
_FINE = 1e-13  # relative: rounding leads less far in small calls, and what shows in gradients alone is far larger
_SYMPTOMS: tuple[Callable[[WrongAnswer], Location | None], ...] = (
    symptoms.state_kept,
    symptoms.failure,
    symptoms.misfit,
    symptoms.nan,
    symptoms.training_mode,
    gradients.lost,
    symptoms.argument_overwritten,
    symptoms.refusal,
)


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One call of an answer beside the reference, and what the search gave there."""

    call: Call
    alignment: Alignment
    result: Divergence | RightOnly


def locate(answer: WrongAnswer, effort: int = USUAL.location) -> Location | None:
    """Return where an answer begins to differ from the reference, in words; None where nothing can be shown.

    `effort` is what may be used, in units of `Effort`.

    Raises:
        Stopped: it was cancelled.
    """
    compared = compare(answer, effort)
    looks = _SYMPTOMS
    if compared is not None and isinstance(compared.result, Divergence):
        # Where sizes are one, or equal, what fails elsewhere may go through, and look like another mistake.
        looks = (symptoms.failure, symptoms.misfit) if answer.is_odd(compared.call) else ()
    symptom = next((one for look in looks if (one := look(answer)) is not None), None)
    return symptom or (_location(answer, compared) if compared is not None else None)


def compare(answer: WrongAnswer, most: int = USUAL.location) -> Compared | None:
    """Return the first wrong call of which a step can be named, of a few; else one of which right numbers can be."""
    right_only: Compared | None = None
    left = most
    wrong = wrong_calls(answer)
    fine = 0.0 if wrong else _FINE
    for call in (wrong or gradients.slightly_off(answer))[:_MOST_CALLS]:
        effort = Effort(min(left, most * 2 // 3))
        alignment = align(answer, call, effort, tolerance=fine)
        result = search(alignment) if alignment is not None else None
        left -= effort.done
        if alignment is None or result is None:
            continue
        if isinstance(result, RightOnly):
            right_only = right_only or (None if fine else Compared(call, alignment, result))
        # Of what is off by little, the whole output must follow from the numbers that differ.
        elif not fine or result.whole or not any(alignment.downstream[node] for node in result.expected):
            return Compared(call, alignment, result)
    return right_only


def wrong_calls(answer: WrongAnswer) -> list[Call]:
    """Return the calls that ended and gave other numbers than they should: the smallest of each kind, then the others.

    Two calls are of one kind if they have the same dtype, tensors and flags.
    """
    wrong = [call for call in answer.counted() if _gives_wrong_numbers(answer, call)]
    wrong.sort(key=lambda call: call.dtype != "float64")  # what rounding hides is told from nothing
    kinds: dict[tuple[object, ...], Call] = {}
    for call in wrong:
        build = answer.evidence.plan.build_of(call)
        values = [*call.arguments.items(), *(build.arguments.items() if build is not None else ())]
        # Sizes and probabilities are of no kind; flags, names and what is left out are.
        flags = tuple((name, value) for name, value in values if isinstance(value, bool | str) or value is None)
        tensors = tuple(name for name, value in values if isinstance(value, Tensor))
        kinds.setdefault((call.dtype, flags, tensors), call)
    first = list(kinds.values())
    return [*first, *(call for call in wrong if call not in first)]


def _gives_wrong_numbers(answer: WrongAnswer, call: Call) -> bool:
    seen = answer.seen(call)
    if seen is None or seen.raised is not None or call.training or answer.says_nothing(call):
        return False
    own, evidence = outputs_of(seen), answer.evidence
    truths = {slot.key: evidence.truth(call, slot.key) for slot in call.outputs}
    return all(key in own for key in truths) and any(
        truth is not None and not is_close(own[key], truth, evidence.bound(call, key)) for key, truth in truths.items()
    )


def _location(answer: WrongAnswer, compared: Compared) -> Location:
    alignment, result = compared.alignment, compared.result
    words = Wording(alignment, answer.title(compared.call), answer.where)
    said = words.divergence(result) if isinstance(result, Divergence) else words.right_only(result)
    said = _with_extra_parameter(answer, said)
    # With a bound of its own: what is only shown must not cost what is said.
    shown = within(_MOST_WORK, lambda: stages(alignment, result, answer.where)) or ()
    return replace(said, case=words.case if shown else "", stages=shown)


def _with_extra_parameter(answer: WrongAnswer, said: Location) -> Location:
    """Return a location whose title is the cause where its line uses a parameter that the exercise does not have."""
    source = answer.text.splitlines()[said.line - 1] if said.line else ""
    unused = (path for build in answer.evidence.observed.builds.values() for path in build.unused)
    names = {path.partition(" ")[0].partition(".")[0] for path in unused}
    used = next((name for name in attributes(source) if name in names), None)
    if used is None or said.line is None:
        return said
    name = clean(used, limit=40)
    title = f"`self.{name}` is a parameter that the exercise does not have: see {answer.where(said.line)}"
    cause = (
        f"`self.{name}` is no weight of the exercise, so it kept your initial values. Store fixed numbers in a buffer "
        "(`register_buffer`); leave out what is to be trained."
    )
    return replace(said, title=title, message=f"{cause} {said.message}")


def attributes(line: str) -> list[str]:
    """Return the names of a module's attributes that a line of its class uses."""
    return re.findall(r"\bself\.(\w+)", line)
