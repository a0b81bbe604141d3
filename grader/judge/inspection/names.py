"""What the names in a source text stand for: `F.softmax` is `torch.nn.functional.softmax`, if `F` was imported so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

_IMPORTING = ("importlib.import_module", "__import__")
_DEEPEST = 12  # attributes of attributes
_LONGEST = 200  # characters of a path; the longest of torch has 70, and each use of a name looks at its path
_TABLES = ("__dict__", "modules")


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a file.

    Attributes:
        paths: local name to dotted path, for what is imported, and for what such a name is assigned to.
        stars: modules of torch from which everything was imported.
        own: names of functions, classes and arguments of its own.
        methods: names of methods and attributes of its own classes.
    """

    paths: Mapping[str, str]
    stars: tuple[str, ...]
    own: frozenset[str]
    methods: frozenset[str]

    @classmethod
    def of(cls, tree: ast.Module) -> Names:
        """Collect the names of a file, wherever in it they are given."""
        paths: dict[str, str] = {}
        stars: list[str] = []
        nodes = list(ast.walk(tree))  # once: walking takes longer than whatever is looked for
        for node in nodes:
            if isinstance(node, ast.Import):
                paths |= {
                    a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names
                }
            elif isinstance(node, ast.ImportFrom) and node.module:
                stars += [node.module for a in node.names if a.name == "*" and node.module.split(".")[0] == "torch"]
                paths |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        own, methods = frozenset(_own(nodes)), frozenset(_methods(nodes))
        known = {name: path for name, path in paths.items() if name not in own and len(path) <= _LONGEST}
        names = cls(known, tuple(stars), own, methods)
        return replace(names, paths={**names._assigned(nodes), **names.paths})

    def path(self, node: ast.AST) -> str:
        """Return the dotted path that an expression stands for, empty for anything that was not imported."""
        if isinstance(node, ast.Name):
            return self.paths.get(node.id, "" if node.id in self.own else node.id if node.id in _IMPORTING else "")
        if isinstance(node, ast.Attribute):
            return self._inside(node)
        if isinstance(node, ast.Subscript):
            return self._looked_up(node)
        return self._called(node) if isinstance(node, ast.Call) else ""

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
        return key if table == "sys.modules" else f"{table.rpartition('.')[0]}.{key}"

    def _assigned(self, nodes: Iterable[ast.AST]) -> dict[str, str]:
        """Return the names that are given to something imported: `fused = F.softmax`."""
        found: dict[str, str] = {}
        for node in nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                path = self.path(node.value)
                if path:
                    found[node.targets[0].id] = path
        return found


def text_of(node: ast.AST) -> str:
    """Return the value of a literal string, empty for anything else, and for what is too long to be a name."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and len(value) <= _LONGEST else ""


def _own(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield what the file defines, or takes as an argument."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg


def _methods(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that objects of the file's own classes answer to."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from (part.name for part in node.body if isinstance(part, ast.FunctionDef))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name and len(path) + len(name) < _LONGEST else ""
