"""Loads a submission as its author ran it: a whole file, with the imports of a notebook and its demonstrations.

A file is executed under torch's own default, float32, as it was written. What it computes for its answers at module
level, a table or a layer, would then be rounded to float32 before it is asked in float64; so a file whose functions use
such a value is executed once more in float64, silently, and those values are taken.

A demonstration that raises costs nothing, wherever it stands; it is told in a remark. A notebook goes on below a cell
that failed, and a file is often one: a plot, a comparison with an operation that is not allowed here, a test of
somebody's package. So below a statement that raised and is spare, only the slice of the file that gives the answer's
names their values is run: a training of minutes below it is none of that. A file that is left, by `sys.exit()` or by a
`raise` of its own, ends there.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import dis
import io
import linecache
import sys
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType, TracebackType
from typing import Any, NamedTuple

import torch

from grader.box.absent import DISPLAY, StandIn, StandIns, is_missing
from grader.box.faults import SUBMISSION, describe, line_of
from grader.box.held import names_in
from grader.box.observations import Loaded, Stage
from grader.box.observe import default_dtype

NAME = "submission"
_MOST_RUNS = 20  # of one file, each because another module is missing
_EXACT = (bool, int, str, bytes, type, ModuleType, FunctionType, BuiltinFunctionType, StandIn, torch.dtype)
_EXACT_TOO = (torch.device, torch.Size, type(None), type(Ellipsis), type(__future__.annotations))
# Every statement from __future__. Added up at import, since only names that stand after a dot are held for later.
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_CATCHING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_IMPORTS = (ast.Import, ast.ImportFrom)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_READS = ("LOAD_GLOBAL", "LOAD_NAME")


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
    code = compiled(source)
    tree = _without_main(source, code)
    if bare and (tree := _without_spare(tree or _tree_of(source), code, needed)) is None:
        return {}
    standins = StandIns()
    try:
        file = _File(source, code, tree=tree, needed=needed, standins=standins)
        first = file.execute("float32")
        if first.error is not None and not first.is_enough:
            raise first.error
        if DISPLAY in _used(file.code) - first.namespace.keys() and standins.add_name(DISPLAY):
            first.namespace.update(standins.names)  # a function reads it that has not run yet
        namespace = _in_double(first, file) if _keeps_numbers(first.namespace, file.code) else first.namespace
        raised = describe(first.error, Stage.LOAD) if first.error is not None else None
        told(Loaded(raised, standins.made, over=True))
        return namespace
    finally:
        standins.close()


def compiled(source: str) -> CodeType:
    """Return the code of a file.

    Raises:
        SyntaxError: and whatever else the compiler raises.
    """
    lines = source.splitlines(keepends=True)
    linecache.cache[SUBMISSION] = (len(source), None, lines, SUBMISSION)  # torch.jit reads functions from there
    return compile(source, SUBMISSION, "exec", dont_inherit=True)


class _Execution(NamedTuple):
    """One execution of a file: its module and its error, and whether all is there that the answer needs."""

    module: ModuleType
    error: BaseException | None
    is_enough: bool

    @property
    def namespace(self) -> dict[str, Any]:
        return self.module.__dict__


class _File:
    """A submission, with the names that it must define, and what stands in for what is not here."""

    def __init__(
        self, source: str, code: CodeType, *, tree: ast.Module | None, needed: tuple[str, ...], standins: StandIns
    ) -> None:
        self.code = code if tree is None else _compiled(tree, code)  # `tree` leaves something out
        self.needed = needed
        self._source, self._tree, self._standins = source, tree, standins

    def execute(self, dtype: str) -> _Execution:
        """Execute it in a module of its own, once more for each thing that is not here and can be stood in for."""
        for _ in range(_MOST_RUNS):
            module = as_submission(ModuleType(NAME))
            torch.default_generator.manual_seed(0)  # so that what is drawn while loading is the same at every grading
            error = self._run(self.code, module, dtype)
            if error is None or not self._stand_in(error):
                break
        return _Execution(module, error, error is None or self._goes_on(error, module, dtype))

    def _run(self, code: CodeType, module: ModuleType, dtype: str) -> BaseException | None:
        """Execute the file, or a part of it; return what it raised."""
        module.__dict__.update(self._standins.names)
        with default_dtype(dtype):
            try:
                exec(code, module.__dict__)  # noqa: S102 - running it is what the box is for
            except BaseException as error:  # noqa: BLE001  # a demonstration may raise anything at all, SystemExit too
                return error
        return None

    def _stand_in(self, error: BaseException) -> bool:
        """Stand in for what an execution has ended for want of; return whether there is a new one."""
        if isinstance(error, NameError):
            return self._standins.add_name(error.name)
        return isinstance(error, ModuleNotFoundError) and self._standins.add(_missing(error, self._source))

    def _goes_on(self, error: BaseException, module: ModuleType, dtype: str) -> bool:
        """Run what the answer needs below the statement that raised; return whether all is there then."""
        tree, position = self._tree or _tree_of(self._source), _position(error.__traceback__)
        if tree is None or isinstance(error, KeyboardInterrupt):
            return False
        place = bisect_right(_ends(tree.body), position) if position is not None else len(tree.body)
        raising = tree.body[place : place + 1]
        if not isinstance(error, SystemExit) and not any(isinstance(node, ast.Raise) for node in raising):
            wanted = _wanted(tree.body, self.code, self.needed)
            if not all(_is_spare(node, wanted) for node in raising):
                return False
            below = [node for node in tree.body[place + 1 :] if _defines(node, wanted)]
            code = _compiled(ast.Module(below, []), self.code)
            raised = self._run(code, module, dtype)
            while raised is not None and self._stand_in(raised):
                raised = self._run(code, module, dtype)
            if raised is not None:
                return False
        return module.__dict__.keys() >= set(self.needed)


def as_submission(module: ModuleType) -> ModuleType:
    """Make `module` the one that dataclasses and typing find when they look a class's module up by name."""
    sys.modules[NAME] = module
    module.__file__ = f"/{NAME}.py"  # a script looks for the folder that it is in; there is no such file
    return module


def _compiled(part: ast.Module, whole: CodeType) -> CodeType:
    """Return the code of a part of a file, under what the file has imported of `__future__`."""
    code: CodeType = compile(part, SUBMISSION, "exec", flags=whole.co_flags & _FUTURE, dont_inherit=True)
    return code


def _in_double(first: _Execution, file: _File) -> Mapping[str, Any]:
    """Return what the file defines in float64, if it gets as far as all that is used; else what it had."""
    nowhere = io.StringIO()  # it was all printed before
    with redirect_stdout(nowhere), redirect_stderr(nowhere):
        second = file.execute("float64")
    wanted = {*file.needed, *(_used(file.code) & set(first.namespace))}
    if second.is_enough or wanted <= set(second.namespace):
        return second.namespace
    as_submission(first.module)
    return first.namespace


def is_main(test: ast.expr) -> bool:
    """Return whether a condition holds in no file that is imported: `__name__ == "__main__"`, or that and more."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(is_main, test.values))
    if not isinstance(test, ast.Compare) or [type(one) for one in test.ops] != [ast.Eq]:
        return False
    sides = (test.left, test.comparators[0])
    names = {side.id for side in sides if isinstance(side, ast.Name)}
    return "__name__" in names and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


def _without_main(source: str, code: CodeType) -> ast.Module | None:
    """Return the syntax of a file without what is below such conditions; None if there is none of them.

    Who reads a submission leaves that out, so it must not run even where the file gives `__name__` another value.
    """
    tree = _tree_of(source) if "__name__" in names_in(code) else None
    found = [one for one in ast.walk(tree) if isinstance(one, ast.If) and is_main(one.test)] if tree else []
    for one in found:
        one.body = [ast.copy_location(ast.Pass(), one.body[0])]
    return tree if found else None


def _without_spare(tree: ast.Module | None, code: CodeType, needed: Collection[str]) -> ast.Module | None:
    """Return the syntax of a file without the statements that its answer does not need; None if there is none."""
    if tree is None:
        return None
    wanted = _wanted(tree.body, code, needed)
    kept = [node for node in tree.body if not _is_spare(node, wanted)]
    return ast.Module(kept, []) if len(kept) < len(tree.body) else None


def _tree_of(source: str) -> ast.Module | None:
    """Return the syntax of a file, None where it has none that can be looked at."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse(source)
    return None


def _wanted(body: list[ast.stmt], whole: CodeType, needed: Collection[str]) -> set[str]:
    """Return the entry points, and every name that is read where one of these is given its value."""
    bound = [set(_bound(node)) for node in body]
    reads = [set(_read(_compiled(ast.Module([node], []), whole))) for node in body]
    wanted, before = set(needed), 0
    while len(wanted) > before:
        before = len(wanted)
        wanted.update(*(read for names, read in zip(bound, reads, strict=True) if not names.isdisjoint(wanted)))
    return wanted


def _used(code: CodeType) -> set[str]:
    """Return the names of the file that its functions and classes read."""
    return {name for inner in code.co_consts if isinstance(inner, CodeType) for name in _read(inner)}


def _read(code: CodeType) -> Iterator[str]:
    """Yield the names of the file that code reads, and the code in it."""
    waiting = [code]
    while waiting:
        one = waiting.pop()
        waiting += (const for const in one.co_consts if isinstance(const, CodeType))
        yield from (step.argval for step in dis.get_instructions(one) if step.opname in _READS)


def _defines(node: ast.stmt, wanted: Collection[str]) -> bool:
    names = set(_bound(node))
    return "*" in names or not names.isdisjoint(wanted)


def _is_spare(node: ast.stmt, wanted: Collection[str]) -> bool:
    """Whether a statement is neither a definition nor an import, and gives no value to a name that is wanted."""
    return not isinstance(node, (*_DEFINITIONS, *_IMPORTS)) and not _defines(node, wanted)


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names of the file that a statement gives a value, changes a part of, or deletes."""
    if isinstance(node, _DEFINITIONS):
        yield node.name
        return
    if isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        target: ast.expr = node
        while isinstance(target, ast.Attribute | ast.Subscript):
            target = target.value
        yield target.id if isinstance(target, ast.Name) else ""
    inner = [*node.generators] if isinstance(node, _COMPREHENSIONS) else ast.iter_child_nodes(node)
    for child in inner:
        yield from _bound(child.iter if isinstance(child, ast.comprehension) else child)


_Position = tuple[int, int]  # line, and column in bytes


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


def _missing(error: ModuleNotFoundError, source: str) -> Iterator[str]:
    """Yield the modules that a file imports and that are not here, but for those whose absence it cares for itself."""
    tree = _tree_of(source)
    if tree is None:
        return
    line = line_of(error.__traceback__)
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


def _literals(code: CodeType) -> Iterator[float]:
    waiting: list[object] = [code]
    while waiting:
        one = waiting.pop()
        if isinstance(one, CodeType | tuple):
            waiting += one.co_consts if isinstance(one, CodeType) else one
        elif isinstance(one, float):
            yield one
