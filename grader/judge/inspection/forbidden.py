"""Recognises the operations of forbidden groups by the names that they have in a source text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from grader.box.traps.groups import GROUPS, complete
from grader.judge.inspection.names import Names

_AMBIGUOUS = frozenset({"attention"})  # the name of modules, too; asked for by its whole path
_INNER = frozenset({"_call", "__call__", "_forward_impl"})  # their class says what they are
_METHODS = frozenset({"softmax", "log_softmax", "logsumexp", "logcumsumexp"})  # of any tensor
_THEMSELVES = frozenset({"self", "cls"})


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The names of forbidden operations: single ones, and whole paths where a single name would say too little."""

    names: frozenset[str]
    paths: frozenset[str]

    @classmethod
    def of(cls, groups: Sequence[str]) -> Forbidden:
        """Collect the names of all operations of `groups`."""
        chosen = [GROUPS[name] for name in complete(groups)]
        paths = {path for group in chosen for path in (*group.functions, *group.classes)}
        operators = {name.partition("::")[2] or name for group in chosen for name in group.operators}
        names = {_telling(path) for path in paths} | {operator.partition(".")[0] for operator in operators}
        return cls(frozenset(names - _AMBIGUOUS), frozenset(paths))

    def operation(self, node: ast.AST, names: Names) -> str:
        """Return the path of the forbidden operation that an expression stands for; empty if it is none."""
        if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) and (path := names.path(node)):
            return path if self._has(path) else ""
        if isinstance(node, ast.Name) and node.id in self.names and node.id not in names.own:
            return f"{names.stars[0]}.{node.id}" if any(star.startswith("torch") for star in names.stars) else ""
        return self._method(node, names) if isinstance(node, ast.Call) else ""

    def handed_in(self, node: ast.ImportFrom, entries: Sequence[str]) -> list[str]:
        """Return what is imported as it is, under the very name that the exercise asks for."""
        paths = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        return [path for name, path in paths.items() if name in entries and self._has(path)]

    def _has(self, path: str) -> bool:
        first, *inner = path.split(".")
        if first != "torch" or not inner:
            return False
        near = inner if inner[0] == "ops" else inner[-2:]
        return path in self.paths or any(name in self.names for name in near)

    def _method(self, node: ast.Call, names: Names) -> str:
        """Return what a call of a tensor's method is, as far as it cannot be a method of the file's own."""
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr not in self.names & _METHODS - names.methods:
            return ""
        if isinstance(func.value, ast.Name) and func.value.id in _THEMSELVES:
            return ""
        return "" if names.path(func) else f"torch.Tensor.{func.attr}"


def _telling(path: str) -> str:
    """Return the last part of a path that says what it is."""
    *_, owner, last = path.split(".")
    return owner if last in _INNER else last
