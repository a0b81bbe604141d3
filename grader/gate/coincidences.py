"""Sizes, flags and constants of a contract: each takes two values, and two of one type agree once and differ once.

An answer that takes one width for another is right where both are equal, one that asks whether they are equal, or reads
the layout of a tensor off its lengths, is right where they differ, and one that ignores a parameter is right if that
has one value in all cases. Only cases that points depend on count here. What cannot matter is excused in
`exercise.toml`, under `[exempt]`, each with its reason:

    [exempt]
    "x0 = learning_rate" = "A start and a step have nothing to be taken for in each other."
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from grader.box.kinds import Kind, Scalar
from grader.checks.registry import check_of
from grader.checks.traits import Trait
from grader.exercise.spec import CaseSpec, PartSpec, Spec

_OURS = frozenset({Kind.TRAIN, Kind.HOOKS})  # their constructor is that of a model of ours
_ABSENT = "none"
_OR_EXCUSE = "or say under `[exempt]` why that cannot matter"

Value = Scalar | None
Row = dict[str, Value]


@dataclass(frozen=True, slots=True)
class _Gap:
    """What no case tries: another `value` of a parameter, or a pair that is equal, or one that is not.

    `name` is what an excuse calls it; `where` are the words among the constructor's arguments for which it holds.
    """

    name: str
    pair: str
    value: str = ""
    where: str = ""
    equal: bool = False


def unvaried(spec: Spec) -> Iterator[str]:
    """Yield a complaint for what no case tries and nothing excuses, and for each excuse that is not needed."""
    gaps = {gap.name: gap for name, part in {"": spec, **spec.parts}.items() for gap in _gaps(spec, name, part)}
    for gap in (gap for name, gap in gaps.items() if name not in spec.exempt):
        if gap.value:
            yield f"{gap.pair} is {gap.value} in all cases that points depend on; add one with another, {_OR_EXCUSE}"
        elif gap.equal:
            yield f"{gap.pair} are equal in all cases{gap.where}; add one where they differ, {_OR_EXCUSE}"
        else:
            yield f"{gap.pair} are equal in no case{gap.where}; add one with `allow_equal_sizes = true`, {_OR_EXCUSE}"
    for name in spec.exempt.keys() - gaps.keys():
        yield f"`[exempt]` excuses `{name}`, which the cases try, or which is no parameter; take it out"


def _gaps(spec: Spec, name: str, part: PartSpec) -> Iterator[_Gap]:
    """Yield what the cases of a part leave untried."""
    if part.entry.kind in _OURS:
        return
    paid = (check for check in spec.checks if check.points and Trait.REFUSES not in check_of(check).traits)
    scored = {case for check in paid for case in check.cases}
    rows = [_values(part, case) for case in spec.cases if case.part == name and case.name in scored and not case.draw]
    parameters = list(dict.fromkeys(parameter for row in rows for parameter in row))
    for one in parameters:
        if len(values := {repr(row[one]) for row in rows if one in row}) == 1:
            yield _Gap(one, f"`{one}`", value=values.pop())
    kinds = {kind: [row for row in rows if _kind(part, row) == kind] for kind in [_kind(part, row) for row in rows]}
    for one, other in combinations(parameters, 2):
        for kind, alike in kinds.items():
            yield from _untried(one, other, kind, alike)
    sizes = [case.sizes for case in spec.cases if case.part == name and case.name in scored]
    for one, other in combinations(filter(str.isidentifier, part.axes), 2):
        if not any(type(size := row.get(one)) is int and size > 1 and row.get(other) == size for row in sizes):
            yield _Gap(f"{one} = {other}", f"`{one}` and `{other}`")


def _untried(one: str, other: str, kind: str, rows: list[Row]) -> Iterator[_Gap]:
    """Yield what the rows of one kind leave untried of a pair."""
    pairs = [(row[one], row[other]) for row in rows if one in row and other in row]
    equal = [first == second for first, second in pairs if _comparable(first, second)]
    if equal and len(set(equal)) == 1:
        where, sign = f" ({kind})" if kind else "", "!=" if all(equal) else "="
        yield _Gap(f"{one} {sign} {other}{where}", f"`{one}` and `{other}`", where=where, equal=all(equal))


def _comparable(one: Value, other: Value) -> bool:
    """Return whether two values are numbers or flags of one type, so that code could take one for the other."""
    return type(one) is type(other) and isinstance(one, bool | int | float)


def _kind(part: PartSpec, row: Row) -> str:
    """Return what the words among a constructor's arguments say, such as a method: each is code of its own."""
    return ", ".join(f"{name} {row[name]}" for name in part.entry.constructor if isinstance(row.get(name), str))


def _values(part: PartSpec, case: CaseSpec) -> Row:
    """Return the value of each parameter in a case; of a tensor that may be left out, of which kind it is."""
    entry = part.entry
    given: Row = dict(entry.defaults)
    given |= {name: size for name in entry.constructor if isinstance(size := case.sizes.get(name), int)}
    given |= case.constructor
    given |= {name: value for name, value in case.arguments.items() if name in entry.arguments}
    kinds = {name: case.inputs.get(name, {}).get("kind", one.kind) for name, one in part.inputs.items()}
    return given | {name: kind for name, kind in kinds.items() if part.inputs[name].kind == _ABSENT}
