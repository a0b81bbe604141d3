"""Builds the syntax tree of a student's text, if that takes time and depth within bounds.

The box has compiled the text before, under its limits; here nothing stops Python's parser, and no other thread runs
beside it. It needs the square of the length for a row of accents (65 000 of them: 13 s), for the dots in an import and
for the fields of an f-string. So what it gets is counted first, by tokens, and a tree that is too deep is cut.
"""

from __future__ import annotations

import ast
import re
import threading
import unicodedata
from functools import lru_cache
from itertools import chain, groupby

from grader.judge.tokens import is_text, tokens

LONGEST = 64 << 10  # characters
_MOST_TOKENS = 20_000  # a file of 64 KiB as people write it has 12 000, our examples have at most 1300
_FIELD = 10  # tokens that a text counts for, and a field of an f-string: each may start a parser of its own
_TIMERS = frozenset({"timeit", "repeat", "Timer"})
_QUOTED = 3  # texts within texts that are followed in an annotation
_MOST_ACCENTS = 30  # in a row; to put them in order takes the square of their number
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_DEEPEST = 100  # nodes within nodes; Python's own library goes to 32, our examples to 19
# Python 3.11 counts how deep it is in a tree for all threads together, and raises where two of them build one.
_PARSING = threading.Lock()
LEAVES = frozenset({ast.Name, ast.Constant, ast.alias})  # most nodes; there is none below them that holds anything


def is_readable(text: str) -> bool:
    """Return whether a tree of `text` is built in a time that nobody else would notice."""
    return len(text) <= LONGEST and _most_accents(text) <= _MOST_ACCENTS and _is_short(text)


def tree_of(text: str) -> tuple[ast.Module, bool]:
    """Return the tree of a readable text, and whether it is the whole one.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: Python cannot parse it.
    """
    with _PARSING:
        tree = ast.parse(text)
    return tree, _cut(tree)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below `node`, but for those that hold nothing: operators, and contexts of names.

    It takes a third of the time of `ast.iter_child_nodes`.
    """
    found: list[ast.AST] = []
    if type(node) in LEAVES:
        return found
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [child for child in value if isinstance(child, ast.AST) and child._fields]
        elif isinstance(value, ast.AST) and value._fields:
            found.append(value)
    return found


def unquote(tree: ast.Module) -> None:
    """Replace each text that somebody evaluates by its expression: in annotations, and what a timer is given."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        if isinstance(node, ast.Call):
            _unquote_timed(node)
        for name in ("annotation", "returns"):
            if (value := getattr(node, name, None)) is not None:
                setattr(node, name, _unquoted(value, _QUOTED))


def _unquoted(node: ast.expr, deepest: int) -> ast.expr:
    """Return an annotation without quotes, as far as texts within texts are followed."""
    if isinstance(node, ast.Constant) and deepest:
        return _unquoted(found, deepest - 1) if (found := _expression(node)) is not None else node
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(node, name, [_unquoted(one, deepest) if isinstance(one, ast.expr) else one for one in value])
        elif isinstance(value, ast.expr):
            setattr(node, name, _unquoted(value, deepest))
    return node


def _unquote_timed(node: ast.Call) -> None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _TIMERS:
        node.args[:] = [_timed(one) for one in node.args]
        for keyword in node.keywords:
            keyword.value = _timed(keyword.value)


def _timed(node: ast.expr) -> ast.expr:
    """Return the function that a timer makes of a text."""
    found = _expression(node) if isinstance(node, ast.Constant) else None
    if found is None:
        return node
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(nothing, found), node)


def _expression(text: ast.Constant) -> ast.expr | None:
    """Return what a text in an annotation says, in the line where it stands."""
    if not isinstance(text.value, str) or not is_readable(text.value):
        return None
    try:
        with _PARSING:
            found = ast.parse(text.value.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(found):
        if isinstance(node, ast.expr):
            node.lineno = text.lineno
    return found


def _is_short(text: str) -> bool:
    if len(text) + _FIELD * sum(map(text.count, "{'\"")) <= _MOST_TOKENS:
        return True
    left = _MOST_TOKENS
    for token in tokens(text):
        left -= 1 + (_FIELD * (1 + token.count("{")) if is_text(token) else 0)
        if left < 0:
            return False
    return True


def _most_accents(text: str) -> int:
    """Return the length of the longest row of accents once Python has taken names apart, as it does to compare them."""
    rows = chain.from_iterable(groupby(chain.from_iterable(map(_accents, run))) for run in _NOT_ASCII.findall(text))
    return max((sum(1 for _ in row) for is_accent, row in rows if is_accent), default=0)


@lru_cache(maxsize=1 << 10)
def _accents(character: str) -> tuple[bool, ...]:
    """Return for each part of a character whether it is an accent: a few that are none consist of them."""
    return tuple(unicodedata.combining(part) > 0 for part in unicodedata.normalize("NFKD", character))


def _cut(tree: ast.Module) -> bool:
    """Empty the nodes at the deepest level that is read, and return whether there was nothing in them."""
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = list(chain.from_iterable(map(children, level)))
    whole = True
    for node in level:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value:
                setattr(node, name, [])
                whole = False
            elif isinstance(value, ast.expr | ast.stmt):
                setattr(node, name, ast.copy_location(ast.Constant(None), value))
                whole = False
    return whole
