"""What the names in a source text stand for: `F.softmax` is `torch.nn.functional.softmax`, if `F` was imported so."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from grader.judge.inspection.scopes import parameters_of, shadowed
from grader.judge.inspection.tree import children

_IMPORTING = ("importlib.import_module", "__import__")
_DEEPEST = 12  # attributes of attributes
_LONGEST = 200  # characters of a path; the longest of torch has 70, and each use of a name looks at its path
_TABLES = ("__dict__", "modules")
_ASKING = frozenset({"getattr", "hasattr"})


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a file.

    Attributes:
        paths: local name to dotted path, for what is imported, and for what such a name is assigned to.
        stars: modules of torch from which everything was imported.
        own: names of functions and classes of its own.
        methods: names of methods and attributes of its own classes.
        bound: every name that the file binds by itself.
        local: name nodes (by identity) that stand for a parameter, whatever else has that name.
        plain: nodes (by identity) at which a module does nothing but lead to one of its attributes or to another name.
    """

    paths: Mapping[str, str]
    stars: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    local: frozenset[int] = frozenset()
    plain: frozenset[int] = frozenset()

    @classmethod
    def of(cls, tree: ast.Module) -> Names:
        """Collect the names of a file, wherever in it they are given."""
        nodes: list[ast.AST] = [tree]  # all of them, once: walking takes longer than whatever is looked for
        for node in nodes:
            nodes += children(node)
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        paths = {name: path for node in imports for name, path in _imported(node)}
        own = _own(tree, imports)
        bound = own | {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        names = cls(
            {name: path for name, path in paths.items() if name not in own and len(path) <= _LONGEST},
            tuple(path for node in imports for path in _stars(node)),
            own,
            frozenset(_methods(nodes)),
            frozenset(bound),
        )
        given = list(_given(nodes))
        for _ in range(2):  # the second time for names of names
            names = replace(names, paths={**names._resolved(given), **names.paths})
        names = replace(names, local=shadowed(tree, lambda name, default: names._is_kept(name, default)))
        return replace(names, plain=frozenset(names._plain(nodes, given)))

    def path(self, node: ast.AST) -> str:
        """Return the dotted path that an expression stands for, empty for anything that was not imported."""
        if isinstance(node, ast.Name):
            return "" if id(node) in self.local else self._named(node.id)
        if isinstance(node, ast.Attribute):
            return self._inside(node)
        if isinstance(node, ast.Subscript):
            return self._looked_up(node)
        if isinstance(node, ast.NamedExpr):
            return self.path(node.value)
        return self._called(node) if isinstance(node, ast.Call) else ""

    def is_module(self, path: str) -> bool:
        """Return whether a path is that of a module that is loaded here, torch's own for one."""
        first, *inner = path.split(".")
        found: object = sys.modules.get(first)
        for name in inner:
            found = vars(found).get(name) if isinstance(found, ModuleType) else None
        return isinstance(found, ModuleType)

    def _named(self, name: str) -> str:
        if name in self.paths:
            return self.paths[name]
        if name in self.bound:
            return ""
        if name in _IMPORTING:
            return name
        return _joined(self.stars[0], name) if self.stars else ""

    def _inside(self, node: ast.Attribute) -> str:
        """Return the path of `a.b.c`, if it is no longer than paths are: each part of a chain is asked for in turn."""
        owner: ast.expr = node
        inner: list[str] = []
        while isinstance(owner, ast.Attribute) and len(inner) <= _DEEPEST:
            inner.append(owner.attr)
            owner = owner.value
        if isinstance(owner, ast.Attribute):
            return ""
        return _joined(self.path(owner), ".".join(reversed(inner)))

    def _called(self, node: ast.Call) -> str:
        """Return what `getattr(torch, "softmax")` and the like give."""
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1:
            return _joined(self.path(node.args[0]), text_of(node.args[1]))
        if node.args and self.path(node.func) in _IMPORTING:
            return text_of(node.args[0])
        if isinstance(node.func, ast.Name) and node.func.id == "vars" and node.args:
            return _joined(self.path(node.args[0]), "__dict__")
        return ""

    def _looked_up(self, node: ast.Subscript) -> str:
        """Return what `vars(F)["softmax"]` and `sys.modules["torch"]` give."""
        table, key = self.path(node.value), text_of(node.slice)
        if not key or table.rpartition(".")[2] not in _TABLES:
            return ""
        return key if table.endswith("sys.modules") else f"{table.rpartition('.')[0]}.{key}"

    def _resolved(self, given: Iterable[tuple[str, ast.expr]]) -> dict[str, str]:
        """Return the paths of names that are given to something imported: `fused = F.softmax`."""
        return {name: path for name, value in given if name not in self.own and (path := self.path(value))}

    def _is_kept(self, name: str, default: ast.expr | None) -> bool:
        """Return whether a parameter is what its name stands for elsewhere: its default says so."""
        return default is not None and bool(path := self.path(default)) and self.paths.get(name) == path

    def _plain(self, nodes: Sequence[ast.AST], given: Iterable[tuple[str, ast.expr]]) -> Iterator[int]:
        """Yield the nodes whose value leads to an attribute or to a name with the same path, and nowhere else."""
        yield from (id(value) for name, value in given if self.paths.get(name) == self.path(value))
        for node in nodes:
            if isinstance(node, ast.Attribute):
                yield id(node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ASKING:
                yield from (id(part) for part in node.args[:1] if text_of(node.args[-1]) or len(node.args) > 2)


def text_of(node: ast.AST) -> str:
    """Return the value of a literal string, empty for anything else, and for what is too long to be a name."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and len(value) <= _LONGEST else ""


def _imported(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield the names that a statement imports, with what they stand for."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.split(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _stars(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
        yield from (node.module or "" for alias in node.names if alias.name == "*")


def _given(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that are given to one expression, by assignment or as a parameter with a default."""
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value
        elif isinstance(node, ast.arguments):
            yield from ((name, default) for name, default in parameters_of(node) if default is not None)


def _own(tree: ast.Module, imports: Iterable[ast.stmt]) -> frozenset[str]:
    """Return the functions and classes of a file whose name is imported neither further down nor inside of one."""
    last: dict[str, float] = {}
    outside = {id(node) for node in tree.body}
    for node in imports:
        for name, _ in _imported(node):
            line = node.lineno if id(node) in outside else float("inf")
            last[name] = max(last.get(name, 0), line)
    defined = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
    return frozenset(node.name for node in defined if node.lineno > last.get(node.name, 0))


def _methods(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that objects of the file's own classes answer to."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from (part.name for part in node.body if isinstance(part, ast.FunctionDef))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name and len(path) + len(name) < _LONGEST else ""
