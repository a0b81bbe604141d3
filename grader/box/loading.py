"""Loads a submission as its author ran it: a whole file, with the imports of a notebook and its demonstrations.

A file is executed under torch's own default, float32, as it was written. What it computes for its answers at module
level, a table or a layer, would then be rounded to float32 before it is asked in float64; so a file whose functions use
such a value is executed once more in float64, silently, and those values are taken. A demonstration that raises costs
nothing, wherever it stands; it is told in a remark.
"""

from __future__ import annotations
import __future__

import ast
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType, TracebackType
from typing import Any

import torch

from grader.box.demonstration import goes_on, tree_of, used, without_main, without_spare
from grader.box.faults import SUBMISSION, describe
from grader.box.observations import Loaded, Stage
from grader.box.observe import default_dtype
from grader.box.source import NAME, as_submission, compiled
from grader.box.standins import DISPLAY, StandIn, StandIns, is_missing

_MOST_RUNS = 20  # of one file, each because another module is missing
_EXACT = (bool, int, str, bytes, type, ModuleType, FunctionType, BuiltinFunctionType, StandIn, torch.dtype)
_EXACT_TOO = (torch.device, torch.Size, type(None), type(Ellipsis), type(__future__.annotations))
# Every statement from __future__. Added up at import, since only names that stand after a dot are held for later.
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_CATCHING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def load(
    source: str, needed: tuple[str, ...], told: Callable[[Loaded], None], *, bare: bool = False
) -> Mapping[str, Any]:
    """Execute a submission and return its namespace.

    Args:
        source: its text.
        needed: the names of the entry points; once they are defined, a demonstration may raise.
        told: is called at the end, with what is worth a remark.
        bare: leave out each statement that neither the entry points need nor defines anything; of a file without any,
            execute nothing.

    Raises:
        Anything that the code raises, SyntaxError included.
    """
    whole = code = compiled(source)
    tree = without_main(source, code)
    if bare:
        tree = without_spare(tree or tree_of(source), code, needed)
        if tree is None:
            return {}
    if tree is not None:
        code = _compiled(tree, whole)
    standins = StandIns()
    try:
        file = _File(source, code, tree, needed, standins)
        first = _without(file)
        if first.error is not None and not _goes_on(first, file, "float32"):
            raise first.error
        namespace = _in_double(first, file) if _keeps_numbers(first.namespace, file.code) else first.namespace
        raised = describe(first.error, Stage.LOAD) if first.error is not None else None
        told(Loaded(raised, standins.made, over=True))
        return namespace
    finally:
        standins.close()


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    """A submission, with the names that it must define, and what stands in for what is not here."""

    source: str
    code: CodeType
    tree: ast.Module | None  # its syntax without what is left out, if anything is
    needed: tuple[str, ...]
    standins: StandIns


@dataclass(frozen=True, slots=True, eq=False)
class _Execution:
    """One execution of a file: the module as it was at its end, or at its error."""

    module: ModuleType
    error: BaseException | None

    @property
    def namespace(self) -> dict[str, Any]:
        """What the file has defined."""
        return self.module.__dict__


def _without(file: _File) -> _Execution:
    """Execute in float32, once more for each module that is not here and can be stood in for, and for a notebook."""
    done = _execute(file, "float32")
    for _ in range(_MOST_RUNS):
        if done.error is None or not _stand_in(done.error, file):
            break
        done = _execute(file, "float32")
    if DISPLAY in used(file.code) - done.namespace.keys() and file.standins.add_name(DISPLAY):
        done.namespace.update(file.standins.names)  # a function reads it that has not run yet
    return done


def _stand_in(error: BaseException, file: _File) -> bool:
    """Stand in for what an execution has ended for want of; return whether there is a new one."""
    if isinstance(error, NameError):
        return file.standins.add_name(error.name)
    return isinstance(error, ModuleNotFoundError) and file.standins.add(_missing(error, file.source))


def _execute(file: _File, dtype: str) -> _Execution:
    module = as_submission(ModuleType(NAME))
    torch.default_generator.manual_seed(0)  # so that what is drawn while loading is the same at every grading
    return _Execution(module, _run(file.code, module, file, dtype))


def _run(code: CodeType, module: ModuleType, file: _File, dtype: str) -> BaseException | None:
    """Execute a file, or a part of it; return what it raised."""
    module.__dict__.update(file.standins.names)
    with default_dtype(dtype):
        try:
            exec(code, module.__dict__)  # noqa: S102 - running it is what the box is for
        except BaseException as error:  # noqa: BLE001  # a demonstration may raise anything at all, SystemExit too
            return error
    return None


def _goes_on(done: _Execution, file: _File, dtype: str) -> bool:
    """Whether an execution that ended with an error has all that the answer needs, once what is below has run."""
    assert done.error is not None
    tree = file.tree or tree_of(file.source)
    if tree is None or not goes_on(
        done.error,
        tree,
        file.code,
        file.needed,
        known=done.namespace,
        run=lambda node: _run(_compiled(ast.Module([node], []), file.code), done.module, file, dtype),
        stand_in=lambda error: _stand_in(error, file),
    ):
        return False
    return done.namespace.keys() >= set(file.needed)


def _compiled(part: ast.Module, whole: CodeType) -> CodeType:
    """Return the code of a part of a file, under what the file has imported of `__future__`."""
    code: CodeType = compile(part, SUBMISSION, "exec", flags=whole.co_flags & _FUTURE, dont_inherit=True)
    return code


def _in_double(first: _Execution, file: _File) -> Mapping[str, Any]:
    """Return what the file defines in float64, if it gets as far as all that is used; else what it had."""
    nowhere = io.StringIO()  # it was all printed before
    with redirect_stdout(nowhere), redirect_stderr(nowhere):
        second = _execute(file, "float64")
        ended = second.error is None or _goes_on(second, file, "float64")
    wanted = {*file.needed, *(used(file.code) & set(first.namespace))}
    if ended or wanted <= set(second.namespace):
        return second.namespace
    as_submission(first.module)
    return first.namespace


def _missing(error: ModuleNotFoundError, source: str) -> Iterator[str]:
    """Yield the modules that a file imports and that are not here, but for those whose absence it cares for itself."""
    tree = tree_of(source)
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
    return any(_holds(value, literals) for value in own) or (bool(kept) and not kept.isdisjoint(used(code)))


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


def _literals(code: CodeType) -> Iterator[float]:
    waiting: list[object] = [code]
    while waiting:
        one = waiting.pop()
        if isinstance(one, CodeType | tuple):
            waiting += one.co_consts if isinstance(one, CodeType) else one
        elif isinstance(one, float):
            yield one
