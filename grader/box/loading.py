"""Loads a submission as its author ran it: a whole file, with the imports of a notebook and a demonstration at its end.

A file is executed under torch's own default, float32, as it was written. What it computes for its answers at module
level, a table or a layer, would then be rounded to float32 before it is asked in float64; so a file whose functions use
such a value is executed once more in float64, silently, and those values are taken. A demonstration that raises at the
end of a file whose entry points are defined costs nothing; it is told in a remark.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import dis
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType, TracebackType
from typing import Any

import torch

from grader.box.faults import SUBMISSION, describe
from grader.box.observations import Loaded, Stage
from grader.box.observe import default_dtype
from grader.box.source import NAME, as_submission, compiled
from grader.box.standins import StandIn, StandIns, is_missing

_MOST_RUNS = 20  # of one file, each because another module is missing
_EXACT = (bool, int, str, bytes, type, ModuleType, FunctionType, BuiltinFunctionType, StandIn, torch.dtype)
_EXACT_TOO = (torch.device, torch.Size, type(None), type(Ellipsis), type(__future__.annotations))
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CATCHING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def load(source: str, needed: tuple[str, ...], told: Callable[[Loaded], None]) -> Mapping[str, Any]:
    """Execute a submission and return its namespace.

    Args:
        source: its text.
        needed: the names of the entry points; once they are defined, a demonstration may raise.
        told: is called with what is worth a remark, if anything is.

    Raises:
        Anything that the code raises, SyntaxError included.
    """
    code = compiled(source)
    standins = StandIns()
    try:
        first = _without(standins, source, code)
        if first.error is not None and not _is_harmless(first, source, needed):
            raise first.error
        if standins.made or first.error is not None:
            raised = describe(first.error, Stage.LOAD) if first.error is not None else None
            told(Loaded(raised, standins.made))
        if _keeps_numbers(first.namespace, code):
            return _in_double(first, code, standins.names, needed)
        return first.namespace
    finally:
        standins.close()


@dataclass(frozen=True, slots=True, eq=False)
class _Execution:
    """One execution of a file: the module as it was at its end, or at its error."""

    module: ModuleType
    error: BaseException | None

    @property
    def namespace(self) -> dict[str, Any]:
        """What the file has defined."""
        return self.module.__dict__


def _without(standins: StandIns, source: str, code: CodeType) -> _Execution:
    """Execute in float32, once more for each module that is not here and can be stood in for, and for a notebook."""
    done = _execute(code, "float32", standins.names)
    for _ in range(_MOST_RUNS):
        if not _add(standins, done.error, source):
            break
        done = _execute(code, "float32", standins.names)
    return done


def _add(standins: StandIns, error: BaseException | None, source: str) -> bool:
    """Stand in for what an execution has ended for want of; return whether there is a new one."""
    if isinstance(error, NameError):
        return standins.add_name(error.name)
    return isinstance(error, ModuleNotFoundError) and standins.add(_missing(error, source))


def _execute(code: CodeType, dtype: str, names: Mapping[str, Any]) -> _Execution:
    module = as_submission(ModuleType(NAME))
    module.__dict__.update(names)
    with default_dtype(dtype):
        torch.default_generator.manual_seed(0)  # so that what is drawn while loading is the same at every grading
        try:
            exec(code, module.__dict__)  # noqa: S102 - running it is what the box is for
        except BaseException as error:  # noqa: BLE001  # a demonstration may raise anything at all, SystemExit too
            return _Execution(module, error)
    return _Execution(module, None)


def _in_double(
    first: _Execution, code: CodeType, names: Mapping[str, Any], needed: tuple[str, ...]
) -> Mapping[str, Any]:
    """Return what the file defines in float64, if it gets as far as all that is used; else what it had."""
    printed = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = io.StringIO()  # it was all printed before
    try:
        second = _execute(code, "float64", names)
    finally:
        sys.stdout, sys.stderr = printed
    wanted = {*needed, *(_used(code) & set(first.namespace))}
    if second.error is None or wanted <= set(second.namespace):
        return second.namespace
    as_submission(first.module)
    return first.namespace


def _is_harmless(done: _Execution, source: str, needed: tuple[str, ...]) -> bool:
    """Whether an error came from a demonstration: all is defined, and nothing that is used was still to come."""
    assert done.error is not None
    if not all(name in done.namespace for name in needed) or isinstance(done.error, KeyboardInterrupt):
        return False
    line = _outermost(done.error.__traceback__)
    tree = _tree(source)
    if line is None or tree is None:
        return False
    below = [node for node in tree.body if (node.end_lineno or node.lineno) >= line]
    if any(isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom)) for node in below):
        return False
    used = _used(compile(tree, SUBMISSION, "exec", dont_inherit=True))
    names = (name for node in below for name in ast.walk(node) if isinstance(name, ast.Name))
    return used.isdisjoint(name.id for name in names if isinstance(name.ctx, ast.Store))


def _outermost(trace: TracebackType | None) -> int | None:
    """Return the line of the file itself, not of its functions, that an error came through."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == SUBMISSION and code.co_name == "<module>":
            return trace.tb_lineno
        trace = trace.tb_next
    return None


def _tree(source: str) -> ast.Module | None:
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse(source)
    return None


def _missing(error: ModuleNotFoundError, source: str) -> Iterator[str]:
    """Yield the modules that a file imports and that are not here, but for those whose absence it cares for itself."""
    tree = _tree(source)
    if tree is None:
        return
    line = _innermost(error.__traceback__)
    free, cared = set(), set()
    for name, number, guarded in _imports(tree, guarded=False):
        root = name.partition(".")[0]
        if guarded:
            cared.add(root)
        elif number == line and root in ("torch", "numpy"):
            free.add(name)
        elif is_missing(name) or (number == line and error.name):
            free.add(root)
    yield from (name for name in sorted(free) if name not in cared)


def _innermost(trace: TracebackType | None) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SUBMISSION:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _imports(node: ast.AST, *, guarded: bool) -> Iterator[tuple[str, int, bool]]:
    """Yield what is imported: the module, the line, and whether an error is caught there."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, node.lineno, guarded) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module, node.lineno, guarded
    caught = isinstance(node, ast.Try) and any(_catches(handler.type) for handler in node.handlers)
    caught = caught or (isinstance(node, ast.With) and any(_catches(item.context_expr) for item in node.items))
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, guarded=guarded or caught)


def _catches(caught: ast.AST | None) -> bool:
    """Whether an `except`, or a `suppress(…)`, names an exception that a missing module raises."""
    if caught is None:
        return True
    return any(isinstance(node, ast.Name) and node.id in _CATCHING for node in ast.walk(caught))


def _keeps_numbers(namespace: Mapping[str, Any], code: CodeType) -> bool:
    """Whether functions and classes of a file use what it computed while it was loaded, and which may be rounded."""
    literals = set(_literals(code))
    kept = {name for name, value in namespace.items() if not name.startswith("__") and _rounds(value, literals)}
    own = [value for value in namespace.values() if getattr(value, "__module__", "") == "submission"]
    return any(_holds(value, literals) for value in own) or (bool(kept) and not kept.isdisjoint(_used(code)))


def _holds(value: object, literals: set[float]) -> bool:
    """Whether a function has a default, or a class an attribute, that may be rounded."""
    if isinstance(value, FunctionType):
        return any(_rounds(v, literals) for v in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()))
    if isinstance(value, type):
        inner = [one for name, one in vars(value).items() if not name.startswith("__") or isinstance(one, FunctionType)]
        return any(_holds(v, literals) if isinstance(v, FunctionType) else _rounds(v, literals) for v in inner)
    return False


def _rounds(value: object, literals: set[float], depth: int = 4) -> bool:
    """Whether a value may hold numbers that were computed in float32; what is not known may."""
    if isinstance(value, (*_EXACT, *_EXACT_TOO)):
        return False
    if isinstance(value, float):
        return value not in literals
    if isinstance(value, torch.Tensor):
        return value.is_floating_point() or value.is_complex()
    if isinstance(value, staticmethod | classmethod | property):
        return False
    if isinstance(value, list | tuple | set | frozenset | dict) and depth and len(value) <= 1000:
        inner = (*value.keys(), *value.values()) if isinstance(value, dict) else value
        return any(_rounds(one, literals, depth - 1) for one in inner)
    return True


def _used(code: CodeType) -> set[str]:
    """Return the names of the file that its functions and classes read."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    used: set[str] = set()
    while inner:
        one = inner.pop()
        inner += (const for const in one.co_consts if isinstance(const, CodeType))
        used |= {i.argval for i in dis.get_instructions(one) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return used


def _literals(code: CodeType) -> Iterator[float]:
    waiting: list[object] = [code]
    while waiting:
        one = waiting.pop()
        if isinstance(one, CodeType | tuple):
            waiting += one.co_consts if isinstance(one, CodeType) else one
        elif isinstance(one, float):
            yield one
