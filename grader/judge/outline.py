"""Finds lines in a submission's source by what they define: functions, what they return, and attributes of a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.judge.inspection.names import is_readable, tree_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definition(text: str, name: str, method: str = "") -> int | None:
    """Return the line that defines a function, or a class's method; the class itself if it has no such method."""
    found = _find(text, name, method)
    return found.lineno if found is not None else None


def returns(text: str, name: str, method: str = "") -> list[int]:
    """Return the lines of a function's or method's own `return` statements that return something."""
    found = _find(text, name, method)
    return [node.lineno for node in _own(found) if isinstance(node, ast.Return) and node.value] if found else []


def assignments(text: str, attribute: str) -> list[int]:
    """Return the lines that assign `self.<attribute>`."""
    return sorted(
        {
            target.lineno
            for node in _nodes(text)
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in _targets(node)
            if isinstance(target, ast.Attribute) and target.attr == attribute
        }
    )


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[ast.AST]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        yield from target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _nodes(text: str) -> list[ast.AST]:
    if not is_readable(text):
        return []
    try:
        tree, _ = tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # of what ran, at most the last two
        return []
    return list(ast.walk(tree))


def _find(text: str, name: str, method: str) -> _Definition | None:
    found: _Definition | None = None
    for node in _nodes(text):
        if isinstance(node, _Definition) and node.name == name:
            found = node  # the last one counts, as in Python
    if isinstance(found, ast.ClassDef):
        methods = [node for node in found.body if isinstance(node, _Function) and node.name == method]
        return methods[-1] if methods else found
    return found


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands in a function, without the functions and classes in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _Function | ast.ClassDef | ast.Lambda):
            yield child
            yield from _own(child)
