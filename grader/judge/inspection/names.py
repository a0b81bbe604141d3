"""A student's text as a syntax tree, and what its names stand for: `F.softmax` may be `torch.nn.functional.softmax`.

The box has compiled the text before, under its limits; here nothing stops Python's parser, and no other thread runs
beside it. It needs the square of the length for a row of accents (65 000 of them: 13 s), for the dots in an import and
for the fields of an f-string. So what it gets is counted first, by tokens, and a tree that is too deep is cut.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, groupby
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import TypeGuard

from grader.judge.source import is_text, tokens

LONGEST = 64 << 10  # characters
_MOST_TOKENS = 20_000  # a file of 64 KiB as people write it has 12 000, our examples have at most 1300
_FIELD = 10  # tokens that a text counts for, and a field of an f-string: each may start a parser of its own
_TIMERS = frozenset({"timeit", "repeat", "Timer"})
_QUOTED = 3  # texts within texts that are followed in an annotation
_MOST_ACCENTS = 30  # in a row; to put them in order takes the square of their number
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_DEEPEST_NODE = 100  # nodes within nodes; Python's own library goes to 32, our examples to 19
# Python 3.11 counts how deep it is in a tree for all threads together, and raises where two of them build one.
_PARSING = threading.Lock()
_IMPORTING = ("importlib.import_module", "__import__")
_DEEPEST_PATH = 12  # attributes of attributes
_MEANINGS = 4  # that a name may have; who gives it more of them, of torch's modules, say, is worth a look
_LONGEST_PATH = 200  # characters of a path; the longest of torch has 70, and each use of a name looks at its path
_TABLES = ("__dict__", "modules")
_RUNNING = ("exec", "eval", "compile", "__import__")
_HANDED_OUT = frozenset({"torch", "sys", "builtins", "ctypes"})  # modules that objects of libraries have as attributes
_ASKING = frozenset({"getattr", "hasattr"})
_NAMING = (  # nodes with a name that is bound
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
)
_Callable = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


# ---- the tree


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


def unquote(tree: ast.Module) -> None:
    """Replace each text that somebody evaluates by its expression: in annotations, and what a timer is given."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        waiting += ast.iter_child_nodes(node)
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
    """Have what a timer is given as a text be a function, as the timer makes one of it."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _TIMERS:
        node.args[:] = [_timed(one) for one in node.args]
        for keyword in node.keywords:
            keyword.value = _timed(keyword.value)


def _timed(node: ast.expr) -> ast.expr:
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
    for _ in range(_DEEPEST_NODE):
        level = list(chain.from_iterable(map(ast.iter_child_nodes, level)))
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


# ---- what names stand for


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a file.

    Attributes:
        paths: local name to the dotted paths that it may stand for, for what is imported, and for what such a name is
            assigned to.
        stars: modules from which everything was imported.
        own: functions and classes of its own, with the line from which on the name means nothing else.
        methods: names of methods and attributes of its own classes.
        bound: every name to which the file's own statements, and no functions, give a value.
        ambiguous: the lines of imports that give a name a meaning too many.
        bindings: every name that the file binds in any way, by itself or as an attribute.
        local: name nodes (by identity) that stand for a parameter, whatever else has that name.
        called: nodes (by identity) that are called.
        asking: those of them that are given something.
        plain: nodes (by identity) at which a module does nothing but lead to one of its attributes or to another name.
        searched: nodes (by identity) of which is only asked whether something is in them.
    """

    paths: Mapping[str, tuple[str, ...]]
    stars: tuple[str, ...] = ()
    own: Mapping[str, int] = field(default_factory=dict)
    methods: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    ambiguous: tuple[int, ...] = ()
    bindings: frozenset[str] = frozenset()
    local: frozenset[int] = frozenset()
    called: frozenset[int] = frozenset()
    asking: frozenset[int] = frozenset()
    plain: frozenset[int] = frozenset()
    searched: frozenset[int] = frozenset()

    @classmethod
    def of(cls, tree: ast.Module) -> Names:
        """Collect the names of a file, wherever in it they are given."""
        nodes: list[ast.AST] = [tree]  # all of them, once: walking takes longer than whatever is looked for
        for node in nodes:
            nodes += ast.iter_child_nodes(node)
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        given = list(_given(nodes))
        paths, ambiguous = _meanings(imports)
        all_of = (one for one in imports if isinstance(one, ast.ImportFrom) and one.module)
        stars = tuple(dict.fromkeys(one.module or "" for one in all_of if any(a.name == "*" for a in one.names)))
        stored = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        own = {name: line for name, line in _own(tree, imports).items() if name not in stored}
        names = cls(
            paths,
            stars[:_MEANINGS],
            own,
            frozenset(_methods(nodes)),
            frozenset({*own, *(_stored_outside(tree) if stars else ())}),
            tuple(ambiguous) + tuple(node.lineno for node in imports[:1] if len(stars) > _MEANINGS),
            frozenset(name for node in nodes for name in _bindings(node)),
        )
        for _ in range(2):  # the second time for names that are given further down
            for name, value in given:
                if found := names.paths_of(value):
                    paths[name] = tuple(dict.fromkeys((*paths.get(name, ()), *found)))[:_MEANINGS]
        outside = {id(node) for node in tree.body}
        again = {name for node in imports if id(node) not in outside for name, _ in _imported(node)}
        again |= {name for name, value in given if name in stored and names.paths_of(value)}
        # A parameter is what its name stands for elsewhere where its default says so.
        kept = names._leads_to
        local = shadowed(tree, lambda name, value: name in again or (value is not None and kept(name, value)))
        names = replace(names, local=local)
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        return replace(
            names,
            called=frozenset(id(node.func) for node in calls),
            asking=frozenset(id(node.func) for node in calls if node.args),
            plain=frozenset(names._plain(nodes, given)),
            searched=frozenset(_searched(nodes)),
        )

    def paths_of(self, node: ast.AST) -> tuple[str, ...]:
        """Return the dotted paths that an expression may stand for; none for anything that was not imported."""
        if isinstance(node, ast.Name):
            return () if id(node) in self.local else self._named(node)
        if isinstance(node, ast.Attribute):
            return self._inside(node)
        if isinstance(node, ast.Subscript):
            return self._looked_up(node)
        if isinstance(node, ast.NamedExpr):
            return self.paths_of(node.value)
        return self._called(node) if isinstance(node, ast.Call) else ()

    def found(self, path: str) -> object:
        """Return what a path leads to through modules that are loaded here, torch's own for one; None for nothing."""
        first, *inner = path.split(".")
        found: object = sys.modules.get(first)
        for name in inner:
            found = vars(found).get(name) if _is_module(found) else None
        return found

    def is_module(self, path: str) -> bool:
        """Return whether a path is that of a module that is loaded here."""
        return isinstance(self.found(path), ModuleType)

    def _named(self, node: ast.Name) -> tuple[str, ...]:
        name = node.id
        if name in self.own and node.lineno >= self.own[name]:
            return ()
        if name in self.paths:
            return self.paths[name]
        if name in self.bound:
            return ()
        if name in _IMPORTING:
            return (name,)
        modules = ((star, self.found(star)) for star in self.stars)
        return tuple(_joined(star, name) for star, it in modules if not _is_module(it) or name in vars(it))

    def _inside(self, node: ast.Attribute) -> tuple[str, ...]:
        """Return the paths of `a.b.c`, if it is no longer than paths are: each part of a chain is asked for in turn."""
        owner: ast.expr = node
        inner: list[str] = []
        while isinstance(owner, ast.Attribute) and len(inner) <= _DEEPEST_PATH:
            inner.append(owner.attr)
            owner = owner.value
        if isinstance(owner, ast.Attribute):
            return ()
        inner.reverse()
        return _all_joined(self.paths_of(owner), ".".join(inner)) or _handed_out(inner)

    def _called(self, node: ast.Call) -> tuple[str, ...]:
        """Return what `getattr(torch, "softmax")` and the like give."""
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1:
            return _all_joined(self.paths_of(node.args[0]), text_of(node.args[1]))
        if node.args and any(path in _IMPORTING for path in self.paths_of(node.func)):
            return tuple(filter(None, [text_of(node.args[0])]))
        if isinstance(node.func, ast.Name) and node.func.id == "vars" and node.args:
            return _all_joined(self.paths_of(node.args[0]), "__dict__")
        return ()

    def _looked_up(self, node: ast.Subscript) -> tuple[str, ...]:
        """Return what `vars(F)["softmax"]` and `sys.modules["torch"]` give."""
        key = text_of(node.slice)
        tables = [path for path in self.paths_of(node.value) if path.rpartition(".")[2] in _TABLES] if key else []
        return tuple(key if t.endswith("sys.modules") else f"{t.rpartition('.')[0]}.{key}" for t in tables)

    def _leads_to(self, name: str, value: ast.expr) -> bool:
        """Return whether a name stands, among others, for what a value leads to."""
        paths = self.paths_of(value)
        return bool(paths) and set(paths) <= set(self.paths.get(name, ()))

    def _plain(self, nodes: Sequence[ast.AST], given: Iterable[tuple[str, ast.expr]]) -> Iterator[int]:
        """Yield the nodes whose value leads to an attribute or to a name with the same path, and nowhere else."""
        yield from (id(value) for name, value in given if self._leads_to(name, value))
        for node in nodes:
            if isinstance(node, ast.Attribute):
                yield id(node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ASKING:
                yield from (id(part) for part in node.args[:1] if text_of(node.args[-1]) or len(node.args) > 2)


def _handed_out(inner: Sequence[str]) -> tuple[str, ...]:
    """Return the path of a module that some object has as an attribute, such as `torch` of einops' backends."""
    begins = next((at for at, name in enumerate(inner) if name in _HANDED_OUT), len(inner))
    path = ".".join(inner[begins:])
    return (path,) if path and path != "sys" else ()  # which may be anybody's system


def _searched(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Yield the nodes that stand right of an `in`, and of no other sign that follows it."""
    for node in nodes:
        if isinstance(node, ast.Compare) and isinstance(node.ops[-1], ast.In | ast.NotIn):
            yield id(node.comparators[-1])


@lru_cache(maxsize=1 << 12)
def by_its_name(path: str) -> str:
    """Return a path that begins with a module's own name: `threading._sys.modules` is `sys.modules`."""
    first, *inner = path.split(".")
    found: object = sys.modules.get(first)
    for count, name in enumerate(inner):
        following = vars(found).get(name) if _is_module(found) else None
        if not _is_module(following):
            return ".".join([found.__name__, *inner[count:]]) if _is_module(found) else path
        found = following
    return found.__name__ if _is_module(found) else path


@lru_cache(maxsize=1 << 12)
def by_its_home(path: str) -> str:
    """Return the path by which a class or function of Python's was defined, whatever module it is taken from.

    Empty for anything else: what is written in C does not say so.
    """
    first, *inner = path.split(".")
    found: object = sys.modules.get(first)
    for name in inner:
        found = vars(found).get(name) if _is_module(found) else None
    # Any other object of a library is not even compared: that would run code of its own, which may raise.
    if found is FunctionType or found is CodeType:
        return f"types.{'FunctionType' if found is FunctionType else 'CodeType'}"
    if type(found) is BuiltinFunctionType:
        return f"builtins.{found.__name__}" if found.__module__ == "builtins" and found.__name__ in _RUNNING else ""
    if type(found) is not FunctionType and not issubclass(type(found), type):
        return ""
    module: object = found.__module__
    is_loaded = isinstance(module, str) and (type(found) is FunctionType or module in sys.modules)
    home = f"{module}.{found.__qualname__}" if is_loaded else ""  # type: ignore[attr-defined]  # it has one
    return "" if home.startswith(("builtins.", "torch._C.")) else home


def _is_module(thing: object) -> TypeGuard[ModuleType]:
    """Return whether it is one, without asking it: an object of a library may answer with code of its own."""
    return issubclass(type(thing), ModuleType)


def text_of(node: ast.AST) -> str:
    """Return the value of a literal string, empty for anything else, and for what is too long to be a name."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and len(value) <= _LONGEST_PATH else ""


def _imported(node: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.split(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _given(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that are given to one expression, by assignment or as a parameter with a default."""
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value
        elif isinstance(node, ast.arguments):
            yield from ((name, default) for name, default in parameters_of(node) if default is not None)


def _meanings(imports: Iterable[ast.stmt]) -> tuple[dict[str, tuple[str, ...]], list[int]]:
    """Return what each imported name may stand for, and the lines in which one gets a meaning too many."""
    found: dict[str, tuple[str, ...]] = {}
    ambiguous = []
    for node in imports:
        for name, path in _imported(node):
            known = found.get(name, ())
            if path in known or len(path) > _LONGEST_PATH:
                continue
            if len(known) < _MEANINGS:
                found[name] = (*known, path)
            else:
                ambiguous.append(node.lineno)
    return found, ambiguous


def _bindings(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
    elif isinstance(node, ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            yield node.attr
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, _NAMING) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _stored_outside(tree: ast.Module) -> Iterator[str]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _own(tree: ast.Module, imports: Iterable[ast.stmt]) -> dict[str, int]:
    """Return the functions and classes of a file, and the line from which on the name stands for nothing else.

    Left out is what is imported further down, or inside of a function.
    """
    last: dict[str, float] = {}
    outside = {id(node) for node in tree.body}
    for node in imports:
        for name, _ in _imported(node):
            line = node.lineno if id(node) in outside else float("inf")
            last[name] = max(last.get(name, 0), line)
    defined = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
    own: dict[str, int] = {}
    for node in defined:
        if node.lineno > last.get(node.name, 0):
            own.setdefault(node.name, node.lineno if node.name in last else 0)
    return own


def _methods(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from (part.name for part in node.body if isinstance(part, ast.FunctionDef))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _all_joined(paths: Iterable[str], name: str) -> tuple[str, ...]:
    return tuple(joined for path in paths if (joined := _joined(path, name)))


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name and len(path) + len(name) < _LONGEST_PATH else ""


def shadowed(tree: ast.Module, kept: Callable[[str, ast.expr | None], bool]) -> frozenset[int]:
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
        inside: Iterable[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, _Callable):
            outside = [*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)]
            body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
            outside += [] if isinstance(node, ast.Lambda) else node.decorator_list
            own = [*parameters_of(node.args)]
            if not isinstance(node, ast.Lambda):
                own += [(one.name, None) for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef)]
            inner = tuple(name for name, default in own if not kept(name, default))
            beyond = {id(one) for one in outside}
            waiting += ((one, ()) for one in outside)
            if inner:
                around.update(inner)
                waiting.append((node, inner))
            inside = [part for part in body if id(part) not in beyond]
        waiting += ((part, ()) for part in inside)
    return frozenset(found)


def parameters_of(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the parameters of a function, each with its default, None where it has none."""
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = len(positional) - len(arguments.defaults)
    yield from zip((one.arg for one in positional), [*[None] * missing, *arguments.defaults], strict=True)
    yield from zip((one.arg for one in arguments.kwonlyargs), arguments.kw_defaults, strict=True)
    yield from ((one.arg, None) for one in (arguments.vararg, arguments.kwarg) if one is not None)
