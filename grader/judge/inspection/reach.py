"""What of a file its answer can reach, by name: helpers and their helpers, but no tests and no demonstrations."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from grader.judge.inspection.tree import LEAVES

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Named = _Function | ast.ClassDef
_RUN = (ast.expr, ast.Import, ast.ImportFrom)


def reached(tree: ast.Module, entries: Sequence[str]) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield every expression and import that is run at import, or by `entries` and whatever they name.

    Each comes with the function that it stands in, empty for none. Reaching goes by names alone, and so reaches rather
    too much: attributes and strings count as names, and a class brings its special methods and `forward`.
    """
    waiting = deque((statement, "") for statement in tree.body if not isinstance(statement, _Named))
    defined = {node.name: node for node in tree.body if isinstance(node, _Named)}
    methods: dict[str, list[tuple[_Named, str]]] = {}
    fresh = set(entries) & set(defined) or set(defined)  # named since the last look
    seen: set[str] = set()
    while waiting or fresh:
        for name in sorted(fresh - seen):
            seen.add(name)
            waiting += methods.pop(name, [])
            if name in defined:
                waiting.append((defined.pop(name), ""))
        fresh = set()
        if waiting:
            node, inside = waiting.popleft()
            for found, function in _parts(node, inside, methods, seen):
                fresh.add(_mentioned(found))
                yield found, function


def _parts(
    node: ast.stmt, inside: str, methods: dict[str, list[tuple[_Named, str]]], seen: set[str]
) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield the expressions of a statement; methods that nobody has named yet are put aside in `methods`."""
    if isinstance(node, ast.ClassDef):
        path = f"{inside}.{node.name}".lstrip(".")
        yield from ((part, path) for base in (*node.bases, *node.decorator_list) for part in _expressions(base))
        for statement in node.body:
            if isinstance(statement, _Named) and not _is_special(statement.name) and statement.name not in seen:
                methods.setdefault(statement.name, []).append((statement, path))
            else:
                yield from _parts(statement, path, methods, seen)
    elif isinstance(node, _Function):
        path = f"{inside}.{node.name}".lstrip(".")
        yield from ((part, path) for part in _expressions(node))
    elif not _is_demonstration(node):
        yield from ((part, inside) for part in _expressions(node))


def _expressions(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield the expressions and imports below a node, without annotations, docstrings and demonstrations."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _RUN):
            yield node
        if type(node) in LEAVES:
            continue
        values = [getattr(node, name, None) for name in node._fields if name not in ("annotation", "returns")]
        for value in values:
            if type(value) is list:
                waiting += [child for child in value if _is_read(child)]
            elif isinstance(value, ast.AST) and value._fields:
                waiting.append(value)


def _mentioned(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_special(name: str) -> bool:
    return name in ("forward", "backward") or (name.startswith("__") and name.endswith("__"))


def _is_demonstration(node: ast.AST) -> bool:
    """Return whether it is `if __name__ == "__main__":`."""
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))


def _is_read(value: object) -> TypeGuard[ast.AST]:
    """Return whether an item of a list is code to be read; what has no fields itself, as the operators, is none."""
    return isinstance(value, ast.AST) and bool(value._fields) and not _is_demonstration(value) and not _is_text(value)


def _is_text(node: ast.AST) -> bool:
    """Return whether it is a docstring, or any other text by itself."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
