"""Names that one place of an `exercise.toml` gives and another one uses: whoever misspells one is told which there are.

Without this a misspelt constructor argument would be left out in silence, and a case be about something else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from pydantic import ValidationError

if TYPE_CHECKING:  # it imports this module
    from grader.exercise.spec import CaseSpec, PartSpec, Spec

_NAME = re.compile(r"[A-Za-z_]\w*")


def unknown_names(spec: Spec) -> Iterator[str]:
    """Yield a sentence for each name that is not there."""
    for name, part in {"": spec, **spec.parts}.items():
        yield from _of_part(f"part `{name}`: " if name else "", part)
    for case in spec.cases:
        yield from (f"case `{case.name}`: {text}" for text in _of_case(case, spec.part_of(case)))


def _of_part(where: str, part: PartSpec) -> Iterator[str]:
    entry = part.entry
    yield from (
        f"{where}{text}" for text in _unknown("defaults", entry.defaults, (*entry.arguments, *entry.constructor))
    )
    if not entry.driver:  # else it may need more than the inputs themselves
        yield from (f"{where}{text}" for text in _unknown("inputs", part.inputs, entry.arguments))


def _of_case(case: CaseSpec, part: PartSpec) -> Iterator[str]:
    yield from _unknown("construct", case.constructor, part.entry.constructor)
    yield from _unknown("inputs", case.inputs, part.inputs)
    yield from _unknown("draw", case.draw, _drawable(part, case))
    if not part.entry.driver:
        yield from _unknown("arguments", case.arguments, part.entry.arguments)
    for name in case.inputs.keys() & part.inputs.keys():
        try:
            type(part.inputs[name]).model_validate({**part.inputs[name].model_dump(), **case.inputs[name]})
        except ValidationError as error:
            yield from (f"`inputs.{name}.{'.'.join(map(str, e['loc']))}`: {e['msg']}" for e in error.errors())


def _drawable(part: PartSpec, case: CaseSpec) -> list[str]:
    """Return what a case may draw: arguments, axes, and what others of its sizes are made of."""
    entry, weights = part.entry, part.weights.values()
    axes = [axis for one in weights for axis in (one.inputs, one.outputs, one.heads or "")]
    made_of = [*part.axes, *axes, *(asked for asked in case.draw.values() if isinstance(asked, str))]
    named = [name for axis in made_of for name in _NAME.findall(axis)]
    return list(dict.fromkeys([*entry.arguments, *entry.constructor, "...", *named]))


def _unknown(option: str, given: Collection[str], known: Collection[str]) -> Iterator[str]:
    if odd := sorted(set(given) - set(known) - {""}):
        yield f"`{option}` is {', '.join(odd)}; it must be one of {', '.join(known) or 'nothing'}"
