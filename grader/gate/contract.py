"""What an author wrote down: texts that are there, sizes that nobody knows before, and a contract that is all tried.

Sizes tell axes apart. Sizes, flags and constants of a contract each take two values, and two of one type agree once and
differ once: an answer that takes one width for another is right where both are equal, one that asks whether they are
equal, or reads the layout of a tensor off its lengths, is right where they differ, and one that ignores a parameter is
right if that has one value in all cases. Only cases that points depend on count here. What cannot matter is excused in
`exercise.toml`, under `[exempt]`, each with its reason:

    [exempt]
    "x0 = learning_rate" = "A start and a step have nothing to be taken for in each other."
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from grader.box.kinds import Scalar
from grader.box.plan import Plan
from grader.checks.evidence import Trait, base_call, calling
from grader.checks.registry import check_of
from grader.errors import AuthorError
from grader.exercise import chart, microscope
from grader.exercise.catalog import Exercise
from grader.exercise.spec import CaseSpec, PartSpec, Spec
from grader.judge.grade import observe_reference

MISTAKES_AT_LEAST = 8
SEEDS = 200  # for which drawn sizes are tried
_ABSENT = "none"
_OR_EXCUSE = "or say under `[exempt]` why that cannot matter"

Value = Scalar | None
Row = dict[str, Value]


def texts(exercise: Exercise) -> Iterator[str]:
    """Complain of words that are missing."""
    if (known := sum(not wrong.offered for wrong in exercise.mistakes)) < MISTAKES_AT_LEAST:
        yield f"`mistakes.py` holds {known} of at least {MISTAKES_AT_LEAST} known mistakes; write the others"
    for wrong in exercise.mistakes:
        if not wrong.title.endswith(".") or len(wrong.title) > 80:
            yield f"mistake `{wrong.name}`: the docstring's first line is its title, one sentence of up to 80 letters"
        if not wrong.message:
            yield f"mistake `{wrong.name}` says nothing below its title; tell the student why, and where to look"
    for heading in ("## What to build", "## What you write", "## What is checked"):
        if heading not in exercise.statement:
            yield f"`statement.md` has no section `{heading}`"
    yield from _pictures(exercise.statement)
    if not exercise.hints:
        yield "there are no hints; write at least one"


def _pictures(statement: str) -> Iterator[str]:
    for blocks, read in ((microscope.blocks, microscope.microscope), (chart.blocks, chart.chart)):
        for text in blocks(statement):
            try:
                read(text)
            except AuthorError as error:
                yield str(error)


def sizes(exercise: Exercise) -> Iterator[str]:
    """Complain of axes that could be swapped unnoticed."""
    for case in exercise.spec.cases:
        sizes = [size for size in case.sizes.values() if isinstance(size, int) and size > 1]
        if len(set(sizes)) < len(sizes) and not case.allow_equal_sizes:
            said = f"case `{case.name}` has two axes of the same size ({case.sizes})"
            yield f"{said}; a swapped axis must not fit, unless the case is about that (`allow_equal_sizes = true`)"


def draws(exercise: Exercise, plan: Plan) -> Iterator[str]:
    """Complain if no case leaves its sizes to the seed, or if the reference does not take some of them.

    An answer to the sizes of all other cases can be written down; `plan` is any of the exercise's.
    """
    left_open = [case for case in exercise.spec.cases if case.draw]
    if not left_open:
        yield "all sizes are known before a hand-in, so an answer may be right in these alone; add a case with `draw`"
    for seed in range(SEEDS if left_open else 0):
        cases = [exercise.draw(case, seed) for case in left_open]
        asked = replace(calling(plan, cases, base_call), initial_of=())
        try:
            observe_reference(exercise, asked)
        except AuthorError as error:
            yield f"with seed {seed} {error}; it was given {'; '.join(case.drawn for case in cases)}"
            return


@dataclass(frozen=True, slots=True)
class _Untried:
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
    untried = {
        one.name: one for name, part in {"": spec, **spec.parts}.items() for one in _untried_of(spec, name, part)
    }
    for one in (one for name, one in untried.items() if name not in spec.exempt):
        if one.value:
            yield f"{one.pair} is {one.value} in all cases that points depend on; add one with another, {_OR_EXCUSE}"
        elif one.equal:
            yield f"{one.pair} are equal in all cases{one.where}; add one where they differ, {_OR_EXCUSE}"
        else:
            yield f"{one.pair} are equal in no case{one.where}; add one with `allow_equal_sizes = true`, {_OR_EXCUSE}"
    for name in spec.exempt.keys() - untried.keys():
        yield f"`[exempt]` excuses `{name}`, which the cases try, or which is no parameter; take it out"


def _untried_of(spec: Spec, name: str, part: PartSpec) -> Iterator[_Untried]:
    """Yield what the cases of a part leave untried."""
    if part.entry.kind.brings_a_model:  # the constructor is that model's
        return
    paid = (check for check in spec.checks if check.points and Trait.REFUSES not in check_of(check).traits)
    scored = {case for check in paid for case in check.cases}
    rows = [_values(part, case) for case in spec.cases if case.part == name and case.name in scored and not case.draw]
    parameters = list(dict.fromkeys(parameter for row in rows for parameter in row))
    for one in parameters:
        if len(values := {repr(row[one]) for row in rows if one in row}) == 1:
            yield _Untried(one, f"`{one}`", value=values.pop())
    kinds = {kind: [row for row in rows if _kind(part, row) == kind] for kind in [_kind(part, row) for row in rows]}
    for one, other in combinations(parameters, 2):
        for kind, alike in kinds.items():
            yield from _pairs_untried(one, other, kind, alike)
    sizes = [case.sizes for case in spec.cases if case.part == name and case.name in scored]
    for one, other in combinations(filter(str.isidentifier, part.axes), 2):
        if not any(type(size := row.get(one)) is int and size > 1 and row.get(other) == size for row in sizes):
            yield _Untried(f"{one} = {other}", f"`{one}` and `{other}`")


def _pairs_untried(one: str, other: str, kind: str, rows: list[Row]) -> Iterator[_Untried]:
    """Yield what the rows of one kind leave untried of a pair."""
    pairs = [(row[one], row[other]) for row in rows if one in row and other in row]
    # Only numbers or flags of one type: code could take one for the other.
    alike = ((x, y) for x, y in pairs if type(x) is type(y) and isinstance(x, bool | int | float))
    equal = [first == second for first, second in alike]
    if equal and len(set(equal)) == 1:
        where, sign = f" ({kind})" if kind else "", "!=" if all(equal) else "="
        yield _Untried(f"{one} {sign} {other}{where}", f"`{one}` and `{other}`", where=where, equal=all(equal))


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
