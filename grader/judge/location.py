"""Puts into words where an answer begins to differ from the reference; what is quoted is the reference's or ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from grader.exercise.steps import Place
from grader.judge.cause import Location
from grader.judge.differences import difference, is_rearranged
from grader.judge.scene import Node
from grader.judge.search import Found, is_left_out
from grader.judge.text import capitalised

_MOST_NAMED = 2  # steps that one sentence names
_MOST_KNOWN = 2  # of the results that are right
_MOST_EARLIER = 2  # lines that may be wrong already
_ORDINALS = ("first", "second", "third", "fourth", "fifth")

Titles = Mapping[str, str]
Where = Callable[[int], str]  # a line of the source in words


def location(found: Found, titles: Titles, case: str, *, where: Where, tolerance: float) -> Location:
    """Return what the student is told.

    Args:
        found: where it differs.
        titles: what each step of the reference does.
        case: the title of the case that was looked at.
        where: puts a line into words.
        tolerance: relative to the largest magnitude of a tensor.
    """
    intro = f"In the case “{case}”"
    if found.first is None:
        known = _known(found, titles, where)
        last = max((node.line for node in found.known.values() if node.line), default=None)
        title = f"Your results are right up to {where(last)}" if last else "Your results are right at first"
        title = f"{title}, in the case “{case}”"
        return Location("", title, f"{intro}: {known} {_NO_MORE}")
    line = min((line for place in found.wrong if (line := found.first.nodes[place].line)), default=None)
    line = found.shared.get(line or 0) or line
    if found.is_left_behind:
        told, shared, known = _used(found, titles, where, tolerance), "", ""
    else:
        told, known = _differs(found, titles, where, tolerance), _known(found, titles, where)
        shared = _shared(found, where) if not found.alike else ""
    said = (f"{intro}, {told}", shared, known, _before(found, titles), _after(found))
    return Location(
        found.first.step,
        _title(found, where),
        " ".join(text for text in said if text),
        line,
    )


_NO_MORE = (
    "Nothing computed from them equals a later result of the reference, so check what your code does with them next."
)


def _title(found: Found, where: Where) -> str:
    assert found.first is not None
    wrong = {found.first.nodes[place].line for place in found.wrong} - {0}
    place = _lines(wrong, where)
    if found.used and not found.is_left_behind:
        return f"Your results become wrong at {place}"
    right = _lines([node.line for node in (found.used or {}).values()], where)
    if found.used and wrong and all(found.roles.get(one, one) != one for one in found.wrong):
        return f"The result of {place} is used where that of {right} belongs"
    if found.used:
        return f"A right result is changed, or not used{f': see {place}' if place else ''}"
    if not place:
        return "A step is missing, or changes nothing: your code uses an argument unchanged"
    if is_left_out(found):
        return f"A step is missing after {place}, or changes nothing"
    return _title_of_own(found, wrong, where)


def _title_of_own(found: Found, wrong: set[int], where: Where) -> str:
    """Say which lines give wrong numbers of the student's own."""
    place = _lines(wrong, where)
    if found.alike:
        return f"{capitalised(_lines(found.alike, where))} give the same numbers"
    if found.exchanged:
        swapped = f"the results of {_lines(found.exchanged, where)} are swapped before"
        return f"Your results become wrong at {place}, or {swapped}"
    if any(found.shared.values()):
        calls = _lines(found.shared.values(), where)
        return f"Your results become wrong at {place}, called from {calls}"
    if found.shared:
        return f"Your results become wrong at {place} or earlier"
    earlier = found.lines - wrong
    if 0 in earlier or len(earlier) > _MOST_EARLIER:
        return f"Your results become wrong at {place} or earlier"
    return f"Your results become wrong at {place}{f', or already at {_lines(earlier, where)}' if earlier else ''}"


def _shared(found: Found, where: Where) -> str:
    """Say of a line that is right as well, so that what it is given must be looked at."""
    if not found.shared:
        return ""
    return f"{capitalised(_lines(found.shared, where))} gives right results as well: check what it is given."


def _known(found: Found, titles: Titles, where: Where) -> str:
    """Say which results are right, and where: the last few."""
    lines: dict[str, list[int]] = {}
    for place, node in found.known.items():
        lines.setdefault(place.step, []).extend([node.line] if node.line else [])
    said = [f"{_quoted(titles[step])} ({_lines(numbers, where)})" for step, numbers in lines.items() if numbers]
    return f"Right until then: {_listed(said[-_MOST_KNOWN:])}." if said else ""


def _differs(found: Found, titles: Titles, where: Where, tolerance: float) -> str:
    assert found.first is not None
    step, nodes = found.first.step, {place: found.first.nodes[place] for place in found.wrong}
    what = f"{_quoted(titles[step])}{_which(found, step)}{_or(found, titles)}"
    if is_left_out(found):
        return f"instead of {what}, your code uses the numbers of {_sources(nodes, where)} unchanged."
    if found.alike:
        return f"{_lines(found.alike, where)} give the same numbers, and one of them should give those for {what}."
    other = _role(found, titles)
    how = f"they equal the right numbers for {_quoted(other)}" if other else _how(found, tolerance)
    return f"the numbers for {what}, at {_sources(nodes, where)}, are wrong{f': {how}' if how else ''}."


def _used(found: Found, titles: Titles, where: Where, tolerance: float) -> str:
    assert found.first is not None
    assert found.used is not None
    right = _lines([node.line for node in found.used.values()], where)
    other = _role(found, titles)
    how = f"these equal the right numbers for {_quoted(other)}" if other else _how(found, tolerance)
    what = f"{_quoted(titles[found.first.step])}{_which(found, found.first.step)}"
    origins = {origin.step for origin in found.origins.values()}
    if len(origins) == 1 and found.origins.keys() == found.first.nodes.keys():
        what = _quoted(titles[origins.pop()])  # what merely passes its numbers on is not where they were made
    return (
        f"your numbers for {what} are right ({right}), but your code goes on "
        f"with other numbers, at {_sources(found.first.nodes, where)}{f': {how}' if how else ''}."
    )


def _how(found: Found, tolerance: float) -> str:
    assert found.first is not None
    said = difference([(found.first.values[place], truth) for place, truth in found.truths.items()], tolerance)
    return f"they {said}" if said else ""


def _role(found: Found, titles: Titles) -> str:
    """Return what the step does whose results are used in the place of others; empty for none, or for the same step.

    Numbers that are merely in another layout than they should be are no other step's.
    """
    assert found.first is not None
    if all(is_rearranged(found.first.values[place], truth) for place, truth in found.truths.items()):
        return ""
    steps = {place.step for place in found.roles.values()}
    if len(found.roles) < len(found.first.nodes) or len(steps) != 1 or steps == {found.first.step}:
        return ""
    return titles[steps.pop()]


def _which(found: Found, step: str) -> str:
    """Return which of a step's several results it is about."""
    assert found.first is not None
    parts = sorted({place.part for place in found.first.nodes})
    several = found.parts.get(step, 1)
    if several < 2 or len(parts) == several or parts[-1] >= len(_ORDINALS):
        return ""
    return f" (the {_listed([_ORDINALS[part] for part in parts])} of its {several} results)"


def _before(found: Found, titles: Titles) -> str:
    if not found.sought:
        return ""
    which = _steps(found.sought, titles)
    before = ", was computed before the call" if 0 in found.lines else ""
    return f"Before that, nothing in your code equals {which}: it is part of another line{before}, or wrong as well."


def _or(found: Found, titles: Titles) -> str:
    return f" (or for {_steps(found.also, titles)}, which gives the same numbers in this case)" if found.also else ""


def _after(found: Found) -> str:
    return "The steps after it are right." if found.whole else ""


def _steps(steps: Iterable[str], titles: Titles) -> str:
    named = [_quoted(titles[step]) for step in steps]
    return _listed(named if len(named) <= _MOST_NAMED else [*named[:_MOST_NAMED], f"{len(named) - _MOST_NAMED} more"])


def _sources(nodes: Mapping[Place, Node], where: Where) -> str:
    """Return where tensors come from: lines, or arguments by their names in the contract."""
    lines = [node.line for node in nodes.values() if node.line]
    arguments = dict.fromkeys(f"the argument `{node.argument}`" for node in nodes.values() if node.argument)
    return _listed([*([_lines(lines, where)] if lines else []), *arguments])


def _lines(lines: Iterable[int], where: Where) -> str:
    return _listed([where(line) for line in sorted(set(lines)) if line])


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _quoted(title: str) -> str:
    return f"“{title}”"
