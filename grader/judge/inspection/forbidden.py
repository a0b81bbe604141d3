"""Recognises the operations of forbidden groups by the names that they have in a source text."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from grader.box.traps import registered
from grader.box.traps.groups import GROUPS, base, complete
from grader.judge.inspection.names import Names

_AMBIGUOUS = frozenset({"attention", "Attention", "experimental"})  # the name of other things, too; asked for by a path
_INNER = frozenset({"_call", "__call__", "_forward_impl"})  # their class says what they are
_THEMSELVES = frozenset({"self", "cls"})
_PLACES = (torch, torch.nn.functional, torch.sparse, torch.special)  # where torch keeps functions


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The names of forbidden operations: single ones, and paths where a single name would say too little."""

    names: frozenset[str]
    paths: frozenset[str]
    words: frozenset[str]  # one of which stands in every text that names any of them

    @classmethod
    def of(cls, groups: Sequence[str]) -> Forbidden:
        """Collect the names of all operations of `groups`."""
        return _collect(complete(groups))

    def operation(self, node: ast.AST, names: Names) -> str:
        """Return the path of the forbidden operation that an expression stands for; empty if it is none."""
        if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) and (paths := names.paths_of(node)):
            return next(filter(self._has, paths), "")
        return self._method(node, names) if isinstance(node, ast.Call) else ""

    def handed_in(self, node: ast.ImportFrom, entries: Sequence[str]) -> list[str]:
        """Return what is imported as it is, under the very name that the exercise asks for."""
        paths = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        return [path for name, path in paths.items() if name in entries and self._has(path)]

    def _has(self, path: str) -> bool:
        """Return whether any part of a path that leads through torch names a forbidden operation."""
        _, torchs, inner = f".{path}".partition(".torch.")
        parts = inner.split(".")
        begun = itertools.accumulate(parts, "{}.{}".format, initial="torch")
        return bool(torchs) and (not self.names.isdisjoint(parts) or not self.paths.isdisjoint(begun))

    def _method(self, node: ast.Call, names: Names) -> str:
        """Return what a call of a tensor's method is, as far as it cannot be a method of the file's own."""
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr not in self.names - names.methods:
            return ""
        if isinstance(func.value, ast.Name) and func.value.id in _THEMSELVES:
            return ""
        return "" if names.paths_of(func) or not hasattr(torch.Tensor, func.attr) else f"torch.Tensor.{func.attr}"


@functools.cache  # there are few combinations of groups
def _collect(groups: frozenset[str]) -> Forbidden:
    chosen = [GROUPS[name] for name in groups]
    paths = {path for group in chosen for path in (*group.functions, *group.classes)}
    modules = {path for group in chosen for path in group.modules}
    known = {base(operator) for operator in registered()}.union(*map(vars, _PLACES))
    names = {_telling(path) for path in paths}.union(*(group.among(known) for group in chosen))
    # The last part of a module's path may be a name of something else, as `special` is: it counts as a whole only.
    words = {path.rpartition(".")[2] for path in modules} - _AMBIGUOUS
    names -= _AMBIGUOUS
    return Forbidden(frozenset(names), frozenset(paths | modules), frozenset(names | words))


def _telling(path: str) -> str:
    """Return the last part of a path that says what it is."""
    *_, owner, last = path.split(".")
    return owner if last in _INNER else last
