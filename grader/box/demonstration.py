"""Goes on below a statement that raised while a file was loaded, where the answer does not need that statement.

A notebook goes on below a cell that failed, and a file is often one: a plot, a comparison with an operation that is not
allowed here, a test of somebody's package. What is defined below such a statement counts like what is defined above.
Only as much is run as may define something for the answer: a training of minutes below it is none of that. A file that
is left, by `sys.exit()` or by a `raise` of its own, ends there. Of a file that takes too long to load, what is spare is
left out from the first.
"""

from __future__ import annotations

import ast
import contextlib
import dis
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from types import CodeType, TracebackType

from grader.box.faults import SUBMISSION
from grader.box.held import names_in

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_READS = ("LOAD_GLOBAL", "LOAD_NAME")
_Position = tuple[int, int]  # line, and column in bytes


def goes_on(
    error: BaseException,
    tree: ast.Module,
    code: CodeType,
    needed: Collection[str],
    *,
    known: Collection[str],
    run: Callable[[ast.stmt], BaseException | None],
    stand_in: Callable[[BaseException], bool],
) -> bool:
    """Have run what the answer may need below the statement that raised; return whether it needs none that raised.

    Args:
        error: why the execution of a file ended.
        tree: the syntax of the file.
        code: its code.
        needed: the names of the entry points.
        known: the names that are defined so far.
        run: executes a statement of the file in its module; returns what that raised.
        stand_in: provides what an error was raised for the want of, and says whether it could.
    """
    wanted = _wanted(tree.body, code, needed)
    position = _position(error.__traceback__)
    place = bisect_right(_ends(tree.body), position) if position is not None else len(tree.body)
    matters = [i for i, node in enumerate(tree.body) if i > place and _may_define(node, wanted, known)]
    raised: BaseException | None = error
    for node in tree.body[place : max(matters, default=place) + 1]:
        if raised is None:
            raised = run(node)
        while raised is not None and stand_in(raised):
            raised = run(node)
        if isinstance(raised, SystemExit) or (raised is not None and isinstance(node, ast.Raise)):
            return True
        if raised is not None and (isinstance(raised, KeyboardInterrupt) or not _is_spare(node, wanted)):
            return False
        raised = None
    return True


def is_main(test: ast.expr) -> bool:
    """Return whether a condition holds in no file that is imported: `__name__ == "__main__"`, or that and more."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(is_main, test.values))
    if not isinstance(test, ast.Compare) or [type(one) for one in test.ops] != [ast.Eq]:
        return False
    sides = (test.left, test.comparators[0])
    names = {side.id for side in sides if isinstance(side, ast.Name)}
    return "__name__" in names and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


def without_main(source: str, code: CodeType) -> ast.Module | None:
    """Return the syntax of a file without what is below such conditions; None if there is none of them.

    Who reads a submission leaves that out, so it must not run even where the file gives `__name__` another value.
    """
    tree = tree_of(source) if "__name__" in names_in(code) else None
    found = [one for one in ast.walk(tree) if isinstance(one, ast.If) and is_main(one.test)] if tree else []
    for one in found:
        one.body = [ast.copy_location(ast.Pass(), one.body[0])]
    return tree if found else None


def without_spare(tree: ast.Module | None, code: CodeType, needed: Collection[str]) -> ast.Module | None:
    """Return the syntax of a file without the statements that its answer does not need; None if there is none."""
    if tree is None:
        return None
    wanted = _wanted(tree.body, code, needed)
    kept = [node for node in tree.body if not _is_spare(node, wanted)]
    return ast.Module(kept, []) if len(kept) < len(tree.body) else None


def tree_of(source: str) -> ast.Module | None:
    """Return the syntax of a file, None where it has none that can be looked at."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse(source)
    return None


def used(code: CodeType) -> set[str]:
    """Return the names of the file that its functions and classes read."""
    return {name for inner in code.co_consts if isinstance(inner, CodeType) for name in _read(inner)}


def _read(code: CodeType) -> Iterator[str]:
    """Yield the names of the file that code reads, and the code in it."""
    waiting = [code]
    while waiting:
        one = waiting.pop()
        waiting += (const for const in one.co_consts if isinstance(const, CodeType))
        yield from (step.argval for step in dis.get_instructions(one) if step.opname in _READS)


def _wanted(body: list[ast.stmt], code: CodeType, needed: Collection[str]) -> set[str]:
    """Return the entry points, and every name that is read where one of these is given its value."""
    reads: list[set[str]] = [set() for _ in body]
    ends = _ends(body)
    for step in dis.get_instructions(code):
        found = step.positions
        place = bisect_right(ends, (found.lineno or 0, found.col_offset or 0)) if found is not None else len(body)
        if place < len(body) and step.opname in _READS:
            reads[place].add(step.argval)
        elif place < len(body) and isinstance(step.argval, CodeType):
            reads[place].update(_read(step.argval))
    wanted, before = set(needed), 0
    bound = [set(_bound(node)) for node in body]
    while len(wanted) > before:
        before = len(wanted)
        wanted.update(*(read for names, read in zip(bound, reads, strict=True) if not names.isdisjoint(wanted)))
    return wanted


def _may_define(node: ast.stmt, wanted: Collection[str], known: Collection[str]) -> bool:
    """Whether a statement may give a value to a name that is wanted; an import once more gives the same one."""
    names = set(_bound(node))
    if isinstance(node, _IMPORTS):
        names -= set(known)
    return "*" in names or not names.isdisjoint(wanted)


def _is_spare(node: ast.stmt, wanted: Collection[str]) -> bool:
    """Whether a statement is neither a definition nor an import, and gives no value to a name that is wanted."""
    return not isinstance(node, (*_DEFINITIONS, *_IMPORTS)) and not any(name in wanted for name in _bound(node))


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names of the file that a statement gives a value, changes a part of, or deletes."""
    if isinstance(node, _DEFINITIONS):
        yield node.name
        return
    if isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield _root(node)
    inner = [*node.generators] if isinstance(node, _COMPREHENSIONS) else ast.iter_child_nodes(node)
    for child in inner:
        yield from _bound(child.iter if isinstance(child, ast.comprehension) else child)


def _root(node: ast.expr) -> str:
    """Return the name that a target such as `a.b[c]` begins with; nothing where it begins with a call."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _ends(body: list[ast.stmt]) -> list[_Position]:
    """Return where each statement ends, in order; `bisect_right` then gives the statement at a position."""
    return [(node.end_lineno or node.lineno, node.end_col_offset or 0) for node in body]


def _position(trace: TracebackType | None) -> _Position | None:
    """Return where in the file itself, not in its functions, an error came through."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == SUBMISSION and code.co_name == "<module>":
            line, _, column, _ = list(code.co_positions())[trace.tb_lasti // 2]
            return line or trace.tb_lineno, column or 0
        trace = trace.tb_next
    return None
