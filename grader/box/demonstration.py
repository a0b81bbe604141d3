"""Goes on below a statement that raised while a file was loaded, where that only shows something.

A notebook goes on below a cell that failed, and a file is often one: a plot, a comparison with an operation that is not
allowed here, a test of somebody's package. What is defined below such a statement counts like what is defined above.
"""

from __future__ import annotations

import ast
import contextlib
import dis
from collections.abc import Callable, Collection, Iterator
from types import CodeType, TracebackType

from grader.box.faults import SUBMISSION

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


def goes_on(
    error: BaseException,
    tree: ast.Module,
    wanted: Collection[str],
    *,
    run: Callable[[ast.Module], BaseException | None],
    stand_in: Callable[[BaseException], bool],
) -> bool:
    """Have what stands below the statement that raised `error` run, and so on; return whether all of these only show.

    Args:
        error: why the execution of a file ended.
        tree: its syntax.
        wanted: the names that its answers are and use.
        run: executes a part of the file in its module; returns what that raised.
        stand_in: provides what an error was raised for the want of, and says whether it could.
    """
    rest = tree.body
    raised: BaseException | None = error
    while raised is not None:
        place = _place(raised, rest)
        if place is None or isinstance(raised, KeyboardInterrupt):
            return False
        if not stand_in(raised):
            if not _only_shows(rest[place], wanted):
                return False
            place += 1
        rest = rest[place:]
        raised = run(ast.Module(rest, []))
    return True


def tree_of(source: str) -> ast.Module | None:
    """Return the syntax of a file, None where it has none that can be looked at."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse(source)
    return None


def used(code: CodeType) -> set[str]:
    """Return the names of the file that its functions and classes read."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    names: set[str] = set()
    while inner:
        one = inner.pop()
        inner += (const for const in one.co_consts if isinstance(const, CodeType))
        names |= {i.argval for i in dis.get_instructions(one) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names


def _place(error: BaseException, statements: list[ast.stmt]) -> int | None:
    """Return the place of the statement that an error came through."""
    line = _outermost(error.__traceback__)
    if line is None:
        return None
    return next((i for i, node in enumerate(statements) if (node.end_lineno or node.lineno) >= line), None)


def _only_shows(node: ast.stmt, wanted: Collection[str]) -> bool:
    """Whether a statement is neither a definition nor an import, and gives no value to a name that is wanted."""
    return not isinstance(node, (*_DEFINITIONS, *_IMPORTS)) and not any(name in wanted for name in _bound(node))


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement gives a value."""
    for inner in ast.walk(node):
        if isinstance(inner, _DEFINITIONS):
            yield inner.name
        elif isinstance(inner, ast.alias):
            yield (inner.asname or inner.name).partition(".")[0]
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id


def _outermost(trace: TracebackType | None) -> int | None:
    """Return the line of the file itself, not of its functions, that an error came through."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == SUBMISSION and code.co_name == "<module>":
            return trace.tb_lineno
        trace = trace.tb_next
    return None
