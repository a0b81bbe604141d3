"""Reads a source text for ready-made operations, without ever running it, and before anybody is asked to look.

Plain code is seen here even where it was never run; code that hides is seen by the traps, or not at all. Comments,
docstrings, tests and demonstrations that the answer does not use are passed over: to compare one's answer with torch's
is a good habit.
"""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from grader.box.observations import Observations, TrapHit
from grader.box.plan import Plan
from grader.errors import record
from grader.judge.inspection.names import LONGEST, Names, is_readable, tree_of, unquote
from grader.judge.inspection.reach import reached
from grader.judge.inspection.unusual import (
    MANY,
    Forbidden,
    runs_in_common,
    tables,
    unusual,
)
from grader.judge.report import Clue, Sight
from grader.judge.text import clean

LOG = logging.getLogger(__name__)
MOST = 20  # clues of a report
_LONG = 3000  # characters; a copy of torch's attention is much longer
_TOO_MANY = 10_000  # expressions; more takes too long beside everybody else's grades
_TORCHS = "lines that resemble PyTorch's own multi-head attention"
_UNREAD = "a file that is too long to inspect"
_NOT_READ = "code that could not be inspected"
_AMBIGUOUS = "a name that is imported as too many things to follow"
_NESTED = "code that is too deeply nested to inspect"
_NOT_COMPILED = frozenset(
    {"SyntaxError", "IndentationError", "TabError", "ValueError", "RecursionError", "MemoryError"}
)


def find_clues(text: str, plan: Plan, observed: Observations) -> tuple[Clue, ...]:
    """Return what was trapped while the code ran, and what stands in its source, each place once.

    The source is read only if the box could compile it: no parser is to meet here what it has not survived there.
    """
    trapped = [_seen(hit) for hit in observed.trap_hits if not hit.noticed]
    was_compiled = bool(observed.calls or observed.builds or observed.trap_hits)
    if observed.loading is not None:
        was_compiled = observed.loading.type not in _NOT_COMPILED
    stands = read(text, plan.forbidden, plan.entries) if was_compiled else ()
    noticed = (_seen(hit) for hit in observed.trap_hits if hit.noticed)
    clues = dict.fromkeys([*trapped, *_elsewhere(stands, trapped)])
    return tuple(dict.fromkeys([*clues, *_elsewhere(noticed, clues)]))[:MOST]


def _elsewhere(clues: Iterable[Clue], known: Iterable[Clue]) -> list[Clue]:
    lines = {clue.line for clue in known}
    return [clue for clue in clues if clue.line is None or clue.line not in lines]


def _seen(hit: TrapHit) -> Clue:
    sight = Sight.UNUSUAL if hit.noticed else Sight.TRAPPED
    return Clue(sight, clean(hit.what, limit=200), hit.line, clean(hit.function, limit=200))


@lru_cache(maxsize=8)  # what was read while a run was under way is not read again for its report
def read(text: str, groups: tuple[str, ...], entries: tuple[str, ...]) -> tuple[Clue, ...]:
    """Return what stands in `text` that an exercise which forbids `groups` has no use for.

    Args:
        text: the source.
        groups: names of groups of forbidden operations; where there are none, tables of numbers are all that is told.
        entries: what the exercise asks for; only what they lead to is read.
    """
    if len(text) > LONGEST:
        return (Clue(Sight.UNUSUAL, _UNREAD),)
    clues = {Clue(Sight.UNUSUAL, what, line) for line, what in tables(text)}
    if groups:
        clues |= _named(text, Forbidden.of(groups), entries)
    if "attention" in groups and len(text) >= _LONG and runs_in_common(text) >= MANY:
        clues.add(Clue(Sight.UNUSUAL, _TORCHS))
    return tuple(sorted(clues, key=lambda clue: (clue.line or 0, clue.what)))


def _named(text: str, forbidden: Forbidden, entries: Sequence[str]) -> set[Clue]:
    """Return what is named in code that is run, as far as it is read in little time; of each line the weightiest."""
    if not is_readable(text):
        return {Clue(Sight.UNUSUAL, _UNREAD)}
    try:
        tree, whole = tree_of(text)
    except (SyntaxError, ValueError):
        return set()  # the box has not run it either
    except (RecursionError, MemoryError):  # the box needs no tree that Python can see, and so gets deeper
        return {Clue(Sight.UNUSUAL, _NESTED)}
    try:
        found = list(_places(tree, forbidden, entries))
    except (RecursionError, MemoryError):
        return {Clue(Sight.UNUSUAL, _NESTED)}
    except Exception as fault:  # noqa: BLE001 - what reading trips over must not hide what else there is
        record(LOG, "a source could not be inspected", fault)
        return {Clue(Sight.UNUSUAL, _NOT_READ)}
    best: dict[int | None, Clue] = {} if whole else {None: Clue(Sight.UNUSUAL, _NESTED)}
    for clue in found:
        best[clue.line] = max(best.get(clue.line, clue), clue, key=lambda one: (one.sight is Sight.READ, len(one.what)))
    return {Clue(c.sight, clean(c.what, limit=200), c.line, clean(c.function, limit=200)) for c in best.values()}


def _places(tree: ast.Module, forbidden: Forbidden, entries: Sequence[str]) -> Iterator[Clue]:
    unquote(tree)
    names = Names.of(tree)
    yield from (Clue(Sight.UNUSUAL, _AMBIGUOUS, line) for line in names.ambiguous[:1])
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom):
            yield from (Clue(Sight.READ, path, statement.lineno) for path in forbidden.handed_in(statement, entries))
    for count, (node, function, is_type, in_class, is_idle) in enumerate(reached(tree, entries, names)):
        if count == _TOO_MANY:
            yield Clue(Sight.UNUSUAL, _UNREAD)
            break
        called = "" if is_idle else forbidden.operation(node, names)  # who only compares with torch may name it
        if called and not (is_type and isinstance(names.found(called), type)):  # as a type, a class is only named
            yield Clue(Sight.READ, called, node.lineno, function)
        elif what := unusual(node, names, in_class=in_class, in_file=not function):
            yield Clue(Sight.UNUSUAL, what, node.lineno, function)
