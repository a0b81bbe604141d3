"""Which names in a source text stand for a parameter, so that an import of the same name is not meant."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator

from grader.judge.inspection.tree import children

_Kept = Callable[[str, ast.expr | None], bool]
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def shadowed(tree: ast.Module, kept: _Kept) -> frozenset[int]:
    """Return the name nodes, by identity, that stand for a parameter or an inner function.

    Args:
        tree: the file.
        kept: says of a parameter, by its name and default, whether it is what the name stands for outside as well.
    """
    found: set[int] = set()
    around: Counter[str] = Counter()  # names of the functions around, and how many of them have each
    waiting: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while waiting:
        node, left = waiting.pop()
        if left:
            around.subtract(left)
            continue
        if isinstance(node, ast.Name) and around[node.id] > 0:
            found.add(id(node))
        inside = children(node)
        if isinstance(node, _Function):
            inner = tuple(_names(node, kept))
            outside = [*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)]
            outside += [] if isinstance(node, ast.Lambda) else node.decorator_list
            beyond = {id(one) for one in outside}
            waiting += ((one, ()) for one in outside)
            if inner:
                around.update(inner)
                waiting.append((node, inner))
            inside = [part for part in _parts(node) if id(part) not in beyond]
        waiting += ((part, ()) for part in inside)
    return frozenset(found)


def parameters_of(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the parameters of a function, each with its default, None where it has none."""
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = len(positional) - len(arguments.defaults)
    yield from zip((one.arg for one in positional), [*[None] * missing, *arguments.defaults], strict=True)
    yield from zip((one.arg for one in arguments.kwonlyargs), arguments.kw_defaults, strict=True)
    yield from ((one.arg, None) for one in (arguments.vararg, arguments.kwarg) if one is not None)


def _names(function: _Function, kept: _Kept) -> Iterator[str]:
    """Yield what the body of a function calls by a name of its own."""
    yield from (name for name, default in parameters_of(function.args) if not kept(name, default))
    if not isinstance(function, ast.Lambda):
        inner = (part.name for part in function.body if isinstance(part, ast.FunctionDef | ast.ClassDef))
        yield from (name for name in inner if not kept(name, None))


def _parts(function: _Function) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else list(function.body)
