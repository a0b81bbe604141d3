"""Shared mistakes that an exercise is given without naming them: all of `families` that fit a step of its reference.

A mistake fits a step that has its name and its parameters. What an exercise takes in `mistakes.py` is one of its own,
and is tried together with others as well. What it declines stands in `exercises/declined.toml`, each with its reason;
the gate proves all others.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from grader.errors import AuthorError
from grader.exercise import families
from grader.exercise.mistakes import Mistake, Taken, collect, functions_of, marked

Step = tuple[str, tuple[str, ...]]  # the name of a function or method, and its parameters


@cache
def shared() -> Mapping[str, Mistake]:
    """Return every shared mistake by family and name, `scores.no_scaling`."""
    modules = {
        entry.name: import_module(f"{families.__name__}.{entry.name}") for entry in iter_modules(families.__path__)
    }
    return {f"{name}.{wrong.name}": wrong for name, module in modules.items() for wrong in collect(module)}


def fitting(reference: ModuleType) -> dict[str, Mistake]:
    """Return the shared mistakes that fit a step of `reference`, each set to replace that step."""
    places = {_step(name, function): path for _, name, function, path in functions_of(reference)}
    found = {id: (wrong, places.get(_step(wrong.replaces, wrong.step))) for id, wrong in shared().items()}
    return {id: replace(wrong, replaces=place) for id, (wrong, place) in found.items() if place is not None}


def own_of(module: ModuleType, fits: Mapping[str, Mistake], declined: Collection[str]) -> Iterator[Mistake]:
    """Yield what `mistakes.py` holds, in the order of the file; what it takes of a family, in the family's order.

    Raises:
        AuthorError: `take` excepts what would not be taken, or adds what would or what does not fit.
    """
    held = _told(collect(module))
    free = {id: wrong for id, wrong in fits.items() if id not in declined and not _told((wrong,)) <= held}
    for name, value in vars(module).items():
        if isinstance(value, Taken):
            yield from _taken(value, free)
        elif (found := marked(name, value)) is not None:
            yield found


def _taken(what: Taken, free: Mapping[str, Mistake]) -> Iterator[Mistake]:
    """Yield the mistakes of a family that are taken, of those that fit and are `free` to be taken."""
    members = {wrong.name: wrong for id, wrong in free.items() if id.startswith(f"{what.family}.")}
    for option, names, common in (("except_", what.left, True), ("also", what.added, False)):
        if idle := [name for name in names if name not in members or members[name].common is not common]:
            raise AuthorError(f"`{option}` of `take({what.family}, …)` names {', '.join(idle)}, which changes nothing")
    changed = (*what.left, *what.added)
    yield from (wrong for name, wrong in members.items() if wrong.common is not (name in changed))


def _told(mistakes: Iterable[Mistake]) -> set[tuple[str, str]]:
    """Return what students are told of mistakes, by which the same one is known under another name."""
    return {(wrong.title, wrong.message) for wrong in mistakes}


def offered(fits: Mapping[str, Mistake], own: Sequence[Mistake], declined: Collection[str]) -> tuple[Mistake, ...]:
    """Return what `fits`, is none of the exercise's own mistakes and is not declined.

    A mistake has its own name here, with its family in front where that name is taken.
    """
    told = _told(own)
    taken = {wrong.name for wrong in own}
    chosen: list[Mistake] = []
    for id, wrong in fits.items():
        if id not in declined and (wrong.title, wrong.message) not in told:
            name = wrong.name if wrong.name not in taken else id.replace(".", "_")
            taken.add(name)
            chosen.append(replace(wrong, name=name, offered=True))
    return tuple(chosen)


def read_declined(path: Path) -> dict[str, dict[str, str]]:
    """Return by exercise what it declines, each with its reason; nothing where there is no such file.

    Raises:
        AuthorError: it is no table of tables of sentences, or names a mistake that is not shared.
    """
    if not path.is_file():
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        rows = [(id, reason) for reasons in table.values() for id, reason in reasons.items()]
    except (tomllib.TOMLDecodeError, AttributeError) as error:
        raise AuthorError(f"`{path}` is no table of reasons by exercise: {error}") from error
    for id, reason in rows:
        if id not in shared() or not isinstance(reason, str) or not reason:
            raise AuthorError(
                f"`{path}`: `{id}` must be a shared mistake, such as `scores.no_scaling`, with its reason"
            )
    return table


def _step(name: str, function: Callable[..., Any]) -> Step:
    return name, tuple(signature(function).parameters)
