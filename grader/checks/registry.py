"""Every kind of check by the name that exercises call it, and the lines of a report that an exercise asks for."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from grader.checks.evidence import Check, Evidence, Item, Options, Trait, Work, base_call
from grader.checks.finding import Finding
from grader.errors import AuthorError
from grader.exercise import labs
from grader.exercise.inputs import Case
from grader.exercise.spec import CheckSpec, Dimension, PartSpec, Spec

Judge = Callable[[Item, Evidence], Finding]
_CHECKS: dict[str, Check] = {}


def plain_work(item: Item) -> Work:
    """Return that the plain call of the case is to be made, without gradients."""
    return Work((base_call(item.case),))


def check(
    name: str,
    title: str,
    dimension: Dimension,
    *,
    work: Callable[[Item], Work] = plain_work,
    after: Collection[str] = ("base",),
    needs: tuple[str, ...] = ("shape",),
    options: type[Options] = Options,
    traits: Collection[Trait] = (),
) -> Callable[[Judge], Judge]:
    """Make a function that judges an item the check that exercises call `name`.

        @check("finite", "finite everywhere", Dimension.NUMERICS)
        def judge_finite(item: Item, evidence: Evidence) -> Finding: ...

    Args:
        name: what exercises call it.
        title: its name in the report, unless the exercise gives another.
        dimension: whose points it is about.
        work: what must be run for it; one plain call if left out.
        after: variants of the case's call; the function is asked only if none of them had a problem.
        needs, options, traits: those of `Check`.
    """

    def add(judge: Judge) -> Judge:
        def guarded(item: Item, evidence: Evidence) -> Finding:
            problems = (evidence.problem(evidence.call(item, variant)) for variant in after)
            return next((problem for problem in problems if problem is not None), None) or judge(item, evidence)

        _CHECKS[name] = Check(title, dimension, guarded, work, needs, options, frozenset(traits))
        return judge

    return add


@cache
def checks() -> Mapping[str, Check]:
    """Return every kind of check by its name; the modules beside this one and the labs' are imported to find them."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"{__package__}.{module.name}")
    for path in sorted(Path(labs.__path__[0]).glob("*/checks.py")):
        importlib.import_module(f"{labs.__name__}.{path.parent.name}.checks")
    return _CHECKS


def check_of(spec: CheckSpec) -> Check:
    """Return the check that an exercise names.

    Raises:
        AuthorError: there is none of that name.
    """
    if spec.check not in checks():
        raise AuthorError(f"there is no check `{spec.check}`; there are {', '.join(sorted(checks()))}")
    return checks()[spec.check]


def given_options(spec: Spec) -> list[Options]:
    """Return the options that an exercise gives to each of its checks, in their order.

    Raises:
        AuthorError: a check is not there, or has other options.
    """
    parts = {case.name: spec.part_of(case) for case in spec.cases}
    return [
        read_options(one.check, check_of(one).options, one.options, [parts[name] for name in one.cases])
        for one in spec.checks
    ]


def items_of(spec: Spec, cases: Mapping[str, Case]) -> Iterator[Item]:
    """Yield the lines of the report to come.

    Raises:
        AuthorError: a check is not there, or has other options.
    """
    for one, options in zip(spec.checks, given_options(spec), strict=True):
        kind = check_of(one)
        for name in one.cases:
            title = f"{cases[name].title}: {one.title or kind.title}"
            yield Item(one, kind, options, cases[name], title, one.points / len(one.cases))


def read_options(name: str, model: type[Options], given: Mapping[str, Any], parts: Collection[PartSpec]) -> Options:
    """Return the options that an exercise gives to a check, whose cases are about `parts`.

    Raises:
        AuthorError: one is missing, not known, or not what it must be; the text names the check and the option.
    """
    try:
        options = model.model_validate(dict(given))
    except ValidationError as error:
        raise AuthorError("; ".join(f"check `{name}`: {_wrong(e, model)}" for e in error.errors())) from error
    if unknown := dict.fromkeys(text for part in parts for text in options.unknown(part)):
        raise AuthorError("; ".join(f"check `{name}`: {text}" for text in unknown))
    return options


def _wrong(error: Mapping[str, Any], model: type[Options]) -> str:
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"it needs `{name}`"
    if error["type"] == "extra_forbidden":
        return f"it takes no `{name}`; it takes {', '.join(f'`{one}`' for one in model.model_fields) or 'no options'}"
    return f"`{name}`: {error['msg']}"
