"""Puts into words where an answer begins to differ from the reference; what is quoted is the reference's or ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from grader.exercise.steps import Place
from grader.judge.cause import Location
from grader.judge.differences import difference
from grader.judge.scene import Node
from grader.judge.search import Found

_MOST_NAMED = 3  # steps that one sentence names
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
    known = _known(found, titles, where)
    intro = f"This was seen in the case “{case}”, by running your code once more and comparing each of its results."
    if found.first is None:
        title = "These of your numbers are still right"
        return Location("", title, _paragraphs(intro, known, _NO_MORE))
    line = min((node.line for node in found.first.nodes.values() if node.line), default=None)
    place = where(line) if line else ""
    told = _used(found, titles, where, tolerance) if found.used else _differs(found, titles, where, tolerance)
    return Location(
        found.first.step,
        _title(found, place),
        _paragraphs(
            intro, "" if found.used else known, told, _before(found, titles), _also(found, titles), _after(found)
        ),
        line,
    )


_NO_MORE = (
    "No later result of the reference was found in what your code computes. So look at what happens to these numbers "
    "from there on, and at what is combined with them."
)


def _title(found: Found, place: str) -> str:
    if found.used:
        return f"A right result is not used as it is{f': see {place}' if place else ''}"
    if not place:
        return "Your code goes on with an argument where a step is due"
    if _is_left_out(found):
        return f"A step is missing behind {place}"
    return f"By {place} your numbers differ" if found.between else f"Your numbers begin to differ at {place}"


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def _known(found: Found, titles: Titles, where: Where) -> str:
    """Say which results are right, and where."""
    lines: dict[str, list[int]] = {}
    for place, node in found.known.items():
        lines.setdefault(place.step, []).extend([node.line] if node.line else [])
    said = [f"{_quoted(titles[step])} ({_lines(numbers, where)})" for step, numbers in lines.items() if numbers]
    return f"Right, as the reference has them, are your numbers for {_listed(said)}." if said else ""


def _differs(found: Found, titles: Titles, where: Where, tolerance: float) -> str:
    assert found.first is not None
    step, nodes = found.first.step, found.first.nodes
    what = f"the step {_quoted(titles[step])}{_which(found, step)}"
    if _is_left_out(found):
        return f"In the place of {what}, your code goes on with the numbers of {_sources(nodes, where)} as they are."
    other = _role(found, titles)
    how = f"They are what the reference has after {_quoted(other)}." if other else _how(found, tolerance)
    first = "are the first that differ" if not found.between else "differ"
    return f"The numbers for {what} {first}: see {_sources(nodes, where)}. {how}".rstrip()


def _used(found: Found, titles: Titles, where: Where, tolerance: float) -> str:
    assert found.first is not None
    assert found.used is not None
    right = _lines([node.line for node in found.used.values()], where)
    other = _role(found, titles)
    how = f"Those are what the reference has after {_quoted(other)}." if other else _how(found, tolerance)
    step = found.first.step
    return (
        f"Your numbers for the step {_quoted(titles[step])}{_which(found, step)} are right ({right}), but in their "
        f"place your code goes on with others: see {_sources(found.first.nodes, where)}. {how}"
    ).rstrip()


def _how(found: Found, tolerance: float) -> str:
    assert found.first is not None
    said = difference([(found.first.values[place], truth) for place, truth in found.truths.items()], tolerance)
    return f"They {said}." if said else ""


def _role(found: Found, titles: Titles) -> str:
    """Return what the step does whose results are used in the place of others; empty for none, or for the same step."""
    assert found.first is not None
    steps = {place.step for place in found.roles.values()}
    if len(found.roles) < len(found.first.nodes) or len(steps) != 1 or steps == {found.first.step}:
        return ""
    return titles[steps.pop()]


def _is_left_out(found: Found) -> bool:
    """Return whether the numbers that stand in the place of a step's are those that it is given."""
    assert found.first is not None
    before = set(found.known)
    return not found.used and bool(found.roles) and set(found.roles.values()) <= before and not found.between


def _which(found: Found, step: str) -> str:
    """Return which of a step's several results it is about."""
    assert found.first is not None
    parts = sorted({place.part for place in found.first.nodes})
    several = found.parts.get(step, 1)
    if several < 2 or len(parts) == several or parts[-1] >= len(_ORDINALS):
        return ""
    return f" (the {_listed([_ORDINALS[part] for part in parts])} of its {several} results)"


def _before(found: Found, titles: Titles) -> str:
    if not found.between:
        return ""
    said = (
        "On the way there the reference has steps whose results were not found in your code; they may be part of "
        "another line, or the first that is wrong"
    )
    return f"{said}: {_steps(found.between, titles)}."


def _also(found: Found, titles: Titles) -> str:
    if not found.also:
        return ""
    return f"It may also come from what follows and must change nothing in this case: {_steps(found.also, titles)}."


def _after(found: Found) -> str:
    if not found.whole:
        return ""
    return (
        "With these numbers of yours in their place, the reference gives exactly your output; so what follows is right."
    )


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
