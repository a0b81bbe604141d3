"""Copies of an answer as somebody makes them who does not want to be seen: `disguise(text, Disguise.SPLIT, kept)`.

Each kind does what the one before does, and more. What comes out is Python; whether it still earns points is not asked.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Collection, Iterator
from enum import IntEnum
from itertools import count

import torch


class Disguise(IntEnum):
    """How far somebody goes."""

    RENAMED = 1
    """Other names, no annotations, other comments, laid out anew."""
    REORDERED = 2
    """Statements that do not need each other, functions, methods and keyword arguments in another order."""
    SPLIT = 3
    """The inner part of each expression in a statement of its own; `for` over a range written with `while`."""
    PADDED = 4
    """Operands and comparisons turned round; three statements without effect in each function."""
    REWRITTEN = 5
    """Methods of tensors called as functions of torch, and `@` as `matmul`."""


def disguise(text: str, how: Disguise, kept: Collection[str], seed: int = 1) -> str:
    """Return a copy of an answer, in which the names in `kept` stay.

    Raises:
        SyntaxError: the answer is no Python.
    """
    chance = random.Random(seed)
    tree = ast.parse(text)
    _strip_docstrings(tree)
    if how >= Disguise.REORDERED:
        _reorder(tree, chance)
    if how >= Disguise.SPLIT:
        _write_while(tree)
        _split(tree)
    if how >= Disguise.PADDED:
        tree = _Turned().visit(tree)
        _pad(tree, chance)
    if how >= Disguise.REWRITTEN:
        tree = _AsFunctions().visit(tree)
    tree = _Renamed(tree, kept).visit(tree)
    lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    return "".join(f"{line}\n" if chance.random() > 0.3 else f"{line}  # as I see it\n" for line in lines)


def _bodies(tree: ast.AST) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list):
                yield node, body


def _strip_docstrings(tree: ast.Module) -> None:
    for _, body in _bodies(tree):
        told = [one for one in body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)]
        body[:] = [one for one in body if one not in told] or ([ast.Pass()] if told else [])


class _Renamed(ast.NodeTransformer):
    """Gives each name of the author's another one, but for those that are keywords somewhere."""

    def __init__(self, tree: ast.Module, kept: Collection[str]) -> None:
        names: set[str] = set()
        attributes: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
                attributes.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                attributes.add(node.attr)
        keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
        stay = keywords | {*kept, "self", "cls", "forward"}
        own = sorted(name for name in names | attributes if name not in stay and not name.startswith("__"))
        self._new = {name: f"item_{number}" for number, name in enumerate(own)}
        self._attributes = attributes

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._new.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg, node.annotation = self._new.get(node.arg, node.arg), None
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr in self._attributes:
            node.attr = self._new.get(node.attr, node.attr)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name, node.returns = self._new.get(node.name, node.name), None
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self._new.get(node.name, node.name)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return node if node.value is None else ast.Assign([node.target], node.value)


def _uses(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Return what a statement reads, and what it sets."""
    read: set[str] = set()
    written: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else f".{node.attr}"
            (written if isinstance(node.ctx, ast.Store) else read).add(name)
    return read, written


def _may_swap(first: ast.stmt, second: ast.stmt) -> bool:
    if not (isinstance(first, ast.Assign) and isinstance(second, ast.Assign)):
        return False
    (reads, writes), (then_reads, then_writes) = _uses(first), _uses(second)
    return not (writes & (then_reads | then_writes) or then_writes & reads)


def _reorder(tree: ast.Module, chance: random.Random) -> None:
    for node, body in _bodies(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            places = [at for at, one in enumerate(body) if isinstance(one, ast.FunctionDef)]
            moved = [body[at] for at in reversed(places)]
            for at, one in zip(places, moved, strict=True):
                body[at] = one
        for at in [*range(len(body) - 1)] * 3:
            if _may_swap(body[at], body[at + 1]) and chance.random() < 0.6:
                body[at], body[at + 1] = body[at + 1], body[at]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords.reverse()


def _write_while(tree: ast.Module) -> None:
    for _, body in _bodies(tree):
        for at in reversed(range(len(body))):
            match body[at]:
                case (
                    ast.For(
                        target=ast.Name(id=name),
                        iter=ast.Call(func=ast.Name(id="range"), args=[end]),
                        body=inner,
                        orelse=[],
                    ) as loop
                ) if not any(isinstance(node, ast.Continue) for node in ast.walk(loop)):
                    step = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), ast.Constant(1))
                    test = ast.Compare(ast.Name(name, ast.Load()), [ast.Lt()], [end])
                    start = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(0))
                    body[at : at + 1] = [start, ast.While(test, [*inner, step], [])]


def _split(tree: ast.Module) -> None:
    numbers = count()
    for _, body in _bodies(tree):
        at = 0
        while at < len(body):
            statement = body[at]
            inner = _take_innermost(statement, name := f"part_{next(numbers)}")
            if inner is None:
                at += 1
            else:
                body.insert(at, ast.Assign([ast.Name(name, ast.Store())], inner))


def _take_innermost(statement: ast.stmt, name: str) -> ast.expr | None:
    """Replace by `name` what is computed first in a statement, and return it; None where that is all of it."""
    if not isinstance(statement, ast.Assign | ast.Return) or statement.value is None:
        return None
    node, found = statement.value, None
    while (place := _first_part(node)) is not None:
        holder, field = place
        node = getattr(holder, field)
        if isinstance(node, ast.BinOp) or (isinstance(node, ast.Call) and getattr(node.func, "id", "") != "super"):
            found = holder, field, node
    if found is None:
        return None
    setattr(found[0], found[1], ast.Name(name, ast.Load()))
    return found[2]


def _first_part(node: ast.expr) -> tuple[ast.AST, str] | None:
    match node:
        case ast.BinOp():
            return node, "left"
        case ast.Call(func=ast.Attribute() as method):
            return method, "value"
        case ast.Attribute() | ast.Subscript():
            return node, "value"
    return None


class _Turned(ast.NodeTransformer):
    _OTHER = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}  # noqa: RUF012 - nobody changes it

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult | ast.Add):
            node.left, node.right = node.right, node.left
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and (other := self._OTHER.get(type(node.ops[0]))):
            node.left, node.comparators, node.ops = node.comparators[0], [node.left], [other()]
        return node


class _AsFunctions(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _torchs("matmul", [node.left, node.right], []) if isinstance(node.op, ast.MatMult) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(
                value=ast.Name(id="torch" | "F" | "nn" | "math" | "np" | "self") | ast.Call(func=ast.Name("super"))
            ):
                return node
            case ast.Attribute(value=tensor, attr=name) if hasattr(torch, name):
                return _torchs(name, [tensor, *node.args], node.keywords)
        return node


def _torchs(name: str, arguments: list[ast.expr], keywords: list[ast.keyword]) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load()), arguments, keywords)


def _pad(tree: ast.Module, chance: random.Random) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for number in range(3):
                said = chance.choice(("extra_{} = {}", "debug_{} = dict(step={})", "if {} < 0: print({})"))
                padding = ast.parse(said.format(number, chance.randrange(9)))
                node.body[(at := chance.randrange(len(node.body))) : at] = padding.body
