"""What of a file Python evaluates: all that importing it evaluates, and what the answer reaches from there by name.

Importing a file evaluates every expression in it but the bodies of its functions, and what stands under
`if __name__ == "__main__":`. That holds for classes and functions that nothing names, too: their bases, keywords,
decorators, defaults and annotations, and the bodies of classes. A function's body is read once something evaluated
names the function, or hands it to somebody who may call it; a class brings what Python or a library calls by itself.
Reaching goes by names alone, and so reaches rather too much: attributes and strings count as names. Whatever is left,
but for demonstrations, follows last: a library may call what nobody names.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from grader.box.loading import is_main
from grader.judge.inspection.names import Names, text_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LEAVES = frozenset({ast.Name, ast.Constant, ast.alias})  # most nodes; there is none below them that holds anything
_RUN = (ast.expr, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef)
_TYPE = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.Tuple, ast.List, ast.Constant)
# Methods that are called by others, of whatever object they are given; and every name with two underscores.
_OTHERS_CALL = frozenset(
    {
        *("forward", "backward", "write", "writelines", "flush", "read", "readline", "readlines", "readinto", "seek"),
        *("tell", "close", "fileno", "isatty", "keys", "items", "send", "throw", "run", "acquire", "release"),
    }
)
_ASKED_OF_A_MODULE = ("__getattr__", "__dir__")  # by whoever looks for what is not in it
_WORD = re.compile(r"[^\W\d]\w*")
_COMPUTED = frozenset({"getattr", "vars", "locals", "__dict__"})  # they give an attribute by a computed name
# What a decorator or a base may be without anybody calling the function or the class's methods meanwhile.
_KEEPING = (
    *("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.set_grad_enabled", "torch.compile"),
    *("torch.jit.export", "torch.jit.ignore", "torch.jit.unused", "functools.wraps", "functools.lru_cache"),
    *("functools.cache", "functools.cached_property", "contextlib.contextmanager", "dataclasses.dataclass"),
    *("abc.abstractmethod", "typing.overload", "typing.final", "typing.override", "unittest", "pytest"),
)
_KEEPING_BUILTINS = frozenset({"property", "staticmethod", "classmethod"})
_BASES = ("torch", "unittest", "pytest")
_HERE = frozenset({*sys.stdlib_module_names, "torch", "numpy"})  # of any other module the box has a placeholder


class Evaluated(NamedTuple):
    """An expression or import that is evaluated, with the function it stands in, empty for none.

    `is_type` says of a name or path that it stands in an annotation, where nothing is called; `in_class`, that it
    stands in the body of a class; `is_idle`, that nothing that is read leads to it.
    """

    node: ast.expr | ast.stmt
    function: str
    is_type: bool = False
    in_class: bool = False
    is_idle: bool = False


@dataclass(slots=True, eq=False)
class _Class:
    """A class whose statement is evaluated; its methods wait until somebody has the class."""

    reached: bool = False
    methods: list[tuple[_Function, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a node stands: the path of names around it, and the class whose body it is."""

    path: str = ""
    owner: _Class | None = None
    in_function: bool = False

    def within(self, name: str) -> str:
        return f"{self.path}.{name}".lstrip(".")


def reached(tree: ast.Module, entries: Sequence[str], names: Names) -> Iterator[Evaluated]:
    """Yield every expression, import and function that importing a file evaluates, or `entries` and what they name.

    The idle rest comes last.
    """
    walk = _Walk(names)
    yield from walk.evaluated([(statement, _Scope()) for statement in tree.body])
    known = walk.functions.keys() | walk.classes.keys()
    walk.mention(set(entries) & walk.outer or known)
    while walk.waiting or walk.mention_the_rest():
        waiting, walk.waiting = walk.waiting, []
        yield from walk.evaluated([(part, scope) for body, scope in waiting for part in body])


class _Walk:
    """What is known so far of a file's definitions, and of the names that were mentioned."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self.functions: dict[str, list[tuple[_Function, str]]] = defaultdict(list)
        self.classes: dict[str, list[_Class]] = defaultdict(list)
        self.outer: set[str] = set()  # what the file itself defines, and no class or function in it
        self.waiting: list[tuple[list[ast.stmt], _Scope]] = []  # bodies that are reached
        self._methods: dict[str, list[tuple[_Function, str]]] = defaultdict(list)  # of classes that are reached
        self._hidden: dict[str, list[tuple[_Function, str]]] = defaultdict(list)  # methods, for the body of their class
        self._mentioned: set[str] = set()
        self._plainly: set[str] = set()  # mentioned by a name of its own, and not as an attribute or in a text
        self._done: set[int] = set()  # functions that were read
        self._libraries: set[object] = set()  # classes that a class of the file inherits from
        self._has_hooks = False  # a class may make something of its subclasses
        self._by_any_name = False  # methods may be called by a name that is put together
        self._harmless: set[int] = set()
        self._is_idle = False

    def evaluated(self, parts: list[tuple[ast.AST, _Scope]]) -> Iterator[Evaluated]:
        """Yield what is evaluated when Python comes by `parts`; bodies of functions are put aside."""
        waiting = [(part, scope, False) for part, scope in reversed(parts)]
        while waiting:
            node, scope, is_type = waiting.pop()
            is_type = is_type and isinstance(node, _TYPE)
            self._note(node)
            if isinstance(node, _RUN):
                yield Evaluated(node, scope.path, is_type, scope.owner is not None, self._is_idle)
            if type(node) in _LEAVES or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                continue  # a text by itself is a docstring
            head = body = scope
            if isinstance(node, _Function | ast.ClassDef):
                body = self._defined(node, scope)
                head = _Scope(body.path, scope.owner, scope.in_function)
            for name in reversed(node._fields):
                value = getattr(node, name, None)
                if not value or (name == "body" and self._is_left(node, scope)):
                    continue
                typed = is_type or name in ("annotation", "returns")
                within = body if name == "body" else head
                if type(value) is list:
                    waiting += [(one, within, typed) for one in reversed(value) if isinstance(one, ast.AST)]
                elif isinstance(value, ast.AST) and value._fields:
                    waiting.append((value, within, typed))

    def mention(self, names: set[str]) -> None:
        """Have the functions and classes of these names read, and the methods of reached classes."""
        self._mentioned |= names
        for name in sorted(names):
            for function, path in (*self.functions.pop(name, ()), *self._methods.pop(name, ())):
                self._read(function, path)
            for owner in self.classes.pop(name, ()):
                self._reach(owner)

    def mention_the_rest(self) -> bool:
        """Have all be read that nothing has led to, and return whether there is anything."""
        self._is_idle = True
        left = {*self.functions, *self.classes, *self._methods, *self._hidden} - self._mentioned
        self.mention(left)
        return bool(left)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            if node.func.id == "getattr" and text_of(node.args[1]):
                self._harmless.add(id(node.func))
        elif isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in _COMPUTED and id(node) not in self._harmless:
                self._reach_by_any_name()
            if name not in self._mentioned:
                self.mention({name})
            if isinstance(node, ast.Name) and name not in self._plainly:
                self._plainly.add(name)
                for function, path in self._hidden.pop(name, ()):
                    self._read(function, path)
        elif isinstance(node, ast.MatchClass):
            self.mention(set(node.kwd_attrs))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = _WORD.findall(node.value) if "{" in node.value else (node.value,)  # str.format asks for attributes
            self.mention({word for word in words if word not in self._mentioned})

    def _defined(self, node: _Function | ast.ClassDef, scope: _Scope) -> _Scope:
        """Put a function or class aside until it is named, and return the scope of its body."""
        path = scope.within(node.name)
        if not scope.path:
            self.outer.add(node.name)
        if isinstance(node, ast.ClassDef):
            owner = _Class()
            if node.name in self._mentioned or not self._is_kept(node):
                self._reach(owner)
            else:
                self.classes[node.name].append(owner)
            return _Scope(path, owner, scope.in_function)
        if not scope.in_function:
            self._put_aside(node, path, scope)
        return _Scope(path, None, in_function=True)

    def _put_aside(self, node: _Function, path: str, scope: _Scope) -> None:
        called = not all(self._keeps(one, _KEEPING, _KEEPING_BUILTINS) for one in node.decorator_list)
        if scope.owner is None:
            if called or node.name in self._mentioned or node.name in _ASKED_OF_A_MODULE:
                self._read(node, path)
            else:
                self.functions[node.name].append((node, path))
        elif called or node.name in self._plainly:
            self._read(node, path)
        else:
            self._hidden[node.name].append((node, path))
            scope.owner.methods.append((node, path))
            if scope.owner.reached:
                self._offer(node, path)

    def _reach(self, owner: _Class) -> None:
        owner.reached = True
        for function, path in owner.methods:
            self._offer(function, path)

    def _offer(self, function: _Function, path: str) -> None:
        """Have a method of a reached class read if it is called already; else it waits for its name."""
        name = function.name
        special = name in _OTHERS_CALL or (name.startswith("__") and name.endswith("__"))
        inherited = special or any(hasattr(library, name) for library in self._libraries)
        if inherited or self._by_any_name or name in self._mentioned:
            self._read(function, path)
        else:
            self._methods[name].append((function, path))

    def _reach_by_any_name(self) -> None:
        if not self._by_any_name:
            self._by_any_name = True
            for name in list(self._methods):
                for function, path in self._methods.pop(name):
                    self._read(function, path)

    def _read(self, function: _Function, path: str) -> None:
        if id(function) not in self._done:
            self._done.add(id(function))
            self.waiting.append((function.body, _Scope(path, None, in_function=True)))

    def _is_left(self, node: ast.AST, scope: _Scope) -> bool:
        """Return whether Python leaves the body of a node when it comes by: a function's, and a demonstration."""
        if isinstance(node, _Function):
            return not scope.in_function
        is_demonstration = isinstance(node, ast.If) and scope.owner is None and is_main(node.test)
        return is_demonstration and "__name__" not in self._names.bindings  # the box leaves the same out

    def _is_kept(self, node: ast.ClassDef) -> bool:
        """Return whether a class statement hands the class to nobody who could call its methods."""
        self._has_hooks = self._has_hooks or bool(node.keywords) or "__init_subclass__" in self._names.bindings
        bases = [self._is_plain_base(base) for base in node.bases]
        return (
            not node.keywords
            and all(bases)
            and all(self._keeps(one, _KEEPING, frozenset()) for one in node.decorator_list)
        )

    def _is_plain_base(self, base: ast.expr) -> bool:
        """Note which class of a library a base is, and return whether it makes nothing of its subclasses."""
        if isinstance(base, ast.Name) and hasattr(builtins, base.id) and base.id not in self._names.bindings:
            self._libraries.add(getattr(builtins, base.id))
            return True
        paths = self._names.paths_of(base)
        self._libraries.update(found for path in paths if isinstance(found := self._names.found(path), type))
        if self._keeps(base, _BASES, frozenset()):
            return True
        own = isinstance(base, ast.Name) and not paths and base.id in self._names.bindings
        if not own:  # such as `ast.NodeVisitor`, which puts names together
            self._reach_by_any_name()
        return own and not self._has_hooks

    def _keeps(self, node: ast.expr, keeping: Sequence[str], of_builtins: frozenset[str]) -> bool:
        """Return whether a decorator or base is one of those that keep what they are given, or a placeholder."""
        node = node.func if isinstance(node, ast.Call) else node
        if isinstance(node, ast.Name) and node.id in of_builtins:
            return node.id not in self._names.bindings
        paths = self._names.paths_of(node)
        known = [
            path.split(".")[0] not in _HERE or f"{path}.".startswith(tuple(f"{k}." for k in keeping)) for path in paths
        ]
        return bool(known) and all(known)
