"""Recognises in a source text what an exercise forbids, and what no answer needs: a person should look at the latter.

Operations of forbidden groups are known by the names that they have, torch's own attention also by how it is written,
whatever its names were changed to.
"""

from __future__ import annotations

import ast
import functools
import itertools
import keyword
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from grader.box.traps import registered
from grader.box.traps.groups import GROUPS, base, complete
from grader.judge.inspection.names import Names, by_its_home, by_its_name, text_of
from grader.judge.source import is_name, is_text, logical_lines, tokens

# ---- forbidden operations

_AMBIGUOUS = frozenset({"attention", "Attention", "experimental"})  # the name of other things, too; asked for by a path
_INNER = frozenset({"_call", "__call__", "_forward_impl"})  # their class says what they are
_OWNERS = frozenset({"self", "cls"})
_OF_TORCH = (torch, torch.nn.functional, torch.sparse, torch.special)  # where torch keeps functions


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The names of forbidden operations: single ones, and paths where a single name would say too little."""

    names: frozenset[str]
    paths: frozenset[str]

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
        if isinstance(func.value, ast.Name) and func.value.id in _OWNERS:
            return ""
        return "" if names.paths_of(func) or not hasattr(torch.Tensor, func.attr) else f"torch.Tensor.{func.attr}"


@functools.cache  # there are few combinations of groups
def _collect(groups: frozenset[str]) -> Forbidden:
    chosen = [GROUPS[name] for name in groups]
    paths = {path for group in chosen for path in (*group.functions, *group.classes)}
    modules = {path for group in chosen for path in group.modules}
    known = {base(operator) for operator in registered()}.union(*map(vars, _OF_TORCH))
    telling = {path.split(".")[-2 if path.split(".")[-1] in _INNER else -1] for path in paths}
    names = telling.union(*(group.among(known) for group in chosen))
    # The last part of a module's path may be a name of something else, as `special` is: it counts as a whole only.
    return Forbidden(frozenset(names - _AMBIGUOUS), frozenset(paths | modules))


# ---- torch's own attention

_TOKENS = 14  # tokens that must follow each other; shorter runs are the common stock of anybody who writes Python
MANY = 60  # such runs in common: no right or wrong answer to any exercise has above 24, half of torch's function 366
_KEYWORDS = frozenset(keyword.kwlist)
_ATTENTION = (  # where torch keeps it: the file, and the beginnings of what is taken from it
    ("nn/functional.py", ("def multi_head_attention_forward(", "def _in_projection_packed(", "def _in_projection(")),
    ("nn/modules/activation.py", ("class MultiheadAttention(",)),
)


def runs_in_common(text: str) -> int:
    """Return how many different runs of `_TOKENS` tokens are torch's own source as well; names count as equal."""
    return len(_runs(text) & _torchs())


@functools.cache
def _torchs() -> frozenset[tuple[str, ...]]:
    root = Path(torch.__file__).parent
    found: frozenset[tuple[str, ...]] = frozenset()
    for file, initial_weights in _ATTENTION:
        source = (root / file).read_text(encoding="utf-8")
        for beginning in initial_weights:
            _, _, rest = source.partition(f"\n{beginning}")
            found |= _runs(beginning + re.split(r"\n(?=[^\s)#])", rest, maxsplit=1)[0])
    return found


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    kinds = [_plain(token) for token in tokens(text) if token[0] != "#"]
    return frozenset(tuple(kinds[start : start + _TOKENS]) for start in range(len(kinds) - _TOKENS + 1))


@functools.lru_cache(maxsize=1 << 12)  # a text repeats most of its tokens
def _plain(token: str) -> str:
    """Return a token as it is compared: keywords and signs as they are, names, numbers and strings by their kind."""
    if is_text(token):
        return "text"
    if token[0].isdigit():
        return "0"
    return token if token in _KEYWORDS or not is_name(token) else "name"


# ---- what no answer needs

_MODULES = frozenset(
    {
        *("ctypes", "_ctypes", "_pickle", "copyreg", "ctypeslib", "cffi", "_testcapi", "_imp", "faulthandler"),
        *("marshal", "pickle", "builtins", "runpy", "pkgutil"),
    }
)
_TABLE = "__dict__"  # of a module; any other object may well have one
_FIRST = frozenset(  # elsewhere just a word
    {
        *("code", "codeop", "pydoc", "profile", "cProfile", "pdb", "bdb", "rlcompleter", "zipimport", "submission"),
        "__main__",
    }
)
_PATHS = (
    "gc.get_objects", "gc.get_referrers", "gc.get_referents", "gc.unfreeze", "sys._getframe", "sys.modules",
    "sys.settrace", "sys.setprofile", "sys.addaudithook", "sys.meta_path", "sys.path_hooks", "sys._current_frames",
    "inspect.currentframe", "inspect.stack", "inspect.getinnerframes", "inspect.getouterframes", "inspect.trace",
    "logging.currentframe", "traceback.walk_stack", "traceback.walk_tb", "inspect.getattr_static", "inspect.getsource",
    "inspect.getmembers", "inspect.getmodule", "types.FunctionType", "types.CodeType", "importlib.import_module",
    "importlib.util", "importlib.reload",
    "stride_tricks.as_strided", "_stride_tricks_impl.as_strided",  # NumPy's, which reads and writes any address
    "typing.ForwardRef", "unittest.mock", "operator.attrgetter", "operator.methodcaller",
    "torch._C", "torch.ops", "torch.library", "torch._dispatch", "torch._higher_order_ops", "torch.fx.experimental",
    "torch.utils._python_dispatch", "torch.utils.cpp_extension", "torch.onnx", "torch.ao", "torch.distributed",
    "TorchDispatchMode", "torch.ExcludeDispatchKeyGuard",  # many modules have the first
    # These go by numbers in their arguments without a look at them, and so read or write any address.
    "torch.native_batch_norm", "rnn.PackedSequence",
    "torch.jit.CompilationUnit", "torch.jit.enable_onednn_fusion", "torch.jit.fuser", "torch.classes", "torch.package",
    "torch.frombuffer", "array.array",  # memory that its owner may give back while a tensor goes on using it
)  # fmt: skip
_ADDRESSES = frozenset({"cdata", "allocator"})  # what torch's constructors take for an address, without a look at it
# They run text as code, or evaluate it; to import them for a demonstration is common.
_RUNNING_TEXT = (
    *("timeit.main.", "timeit.template.", "doctest.", "typing.get_type_hints.", "annotationlib."),
    *("inspect.get_annotations.", "functools.singledispatch", "trace.Trace.", "logging.config.", "gettext.c2py."),
    *("turtle.", "numpy.testing.measure.", "numpy.testing.runstring.", "numpy.testing.rundocs."),
)
_TIMERS = (
    "timeit.timeit.",
    "timeit.repeat.",
    "timeit.Timer.",
    "torch.utils.benchmark.Timer.",
)  # of a text or a function
_SETTINGS = ("torch.backends", "sys.stdout", "sys.stderr")  # their attributes are there to be set
_BUILTINS = frozenset({"exec", "eval", "compile", "globals", "bytearray"})  # the last is like `array.array`
# Names with two underscores at both ends that ordinary classes and files have; any other leads to Python's internals.
_ORDINARY = frozenset(
    {
        *("all", "author", "class", "dict", "doc", "file", "main", "module", "name", "qualname", "version"),
        *("init", "post_init", "init_subclass", "new", "del", "call", "repr", "str", "format", "slots"),
        *("len", "length_hint", "iter", "next", "contains", "getitem", "setitem", "delitem", "missing", "reversed"),
        *("enter", "exit", "getattr", "setattr", "get", "set", "set_name", "class_getitem", "match_args"),
        *("bool", "int", "float", "index", "hash", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "invert"),
        *("add", "radd", "iadd", "sub", "rsub", "isub", "mul", "rmul", "imul", "matmul", "rmatmul", "imatmul"),
        *("truediv", "rtruediv", "floordiv", "mod", "pow", "neg", "pos", "abs", "copy", "deepcopy", "getstate"),
        *("setstate", "reduce", "future", "cause", "context", "traceback", "constants", "torch_function"),
    }
)
# Of those, what only Python itself asks for, but of oneself: an object takes whatever it is told for its parts.
_STATE = frozenset({"__setstate__", "__getstate__", "__reduce__"})
_REDUCING = frozenset({"__reduce__", "__reduce_ex__"})  # says by whom a copy is made, and of what
# Methods with such names that a class may well have: Python's own classes have them.
_OF_CLASSES = frozenset(name for kind in (int, float, list, dict, type, memoryview) for name in dir(kind)) - _REDUCING
# Parts of libraries whose private names published answers use.
_OPEN = ("torch.nn.", "torch.optim.")
_LIBRARIES = frozenset({*sys.stdlib_module_names, "torch", "numpy"})
_NAME = re.compile(r"[^\W\d]\w*")
# Attributes that lead from what everybody has to frames, their names, and memory.
_LEADING = frozenset(
    {
        *("tb_frame", "f_back", "f_globals", "f_locals", "f_builtins", "f_code", "gi_frame", "cr_frame", "ag_frame"),
        *("gi_code", "cr_code", "ag_code", "ctypes"),
    }
)
_UNUSUAL = re.compile(
    rf"(?:^|\.)(?:{'|'.join(re.escape(path) for path in sorted((*_MODULES, *_PATHS, _TABLE)))})(?:\.|$)"
    rf"|^(?:{'|'.join(sorted(_FIRST))})(?:\.|$)"
)
# Data that somebody brought along: of all examples none has above 18 numbers in a statement, 52 in all, 34 digits and
# 49 characters of long runs in texts.
_NUMBERS, _CODED = 100, 400
_IN_ALL = 3  # times as much, in many statements
_RUN = re.compile(
    r"[!-~]{41,}+"
)  # longer than words are; not of letters beyond ASCII, which some languages do not part
_SIGNS = 4  # a rule below a heading has fewer different ones


def tables(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and content of each statement with more numbers than answers have, or of a file with more in all.

    Numbers are counted, and what texts have of digits and of long runs of characters, as base64 has.
    """
    if sum(map(text.count, "0123456789")) < _NUMBERS and _RUN.search(text) is None:
        return
    found = [(line, *_data(tokens)) for line, tokens in logical_lines(text)]
    kinds = ((1, _NUMBERS, "{} numbers"), (2, _CODED, "{} characters of data in a text"))
    for kind, most, words in kinds:
        large = [(row[0], row[kind]) for row in found if row[kind] >= most]
        total = sum(row[kind] for row in found)
        if not large and total >= _IN_ALL * most:
            large = [(max(found, key=lambda row: row[kind])[0], total)]
        yield from ((line, f"a table of {words.format(count)}") for line, count in large)


def _data(line: list[str]) -> tuple[int, int]:
    texts = [token for token in line if is_text(token)]
    runs = [run for text in texts for run in _RUN.findall(text) if len(set(run)) > _SIGNS]
    digits = sum(map("".join(texts).count, "0123456789")) - sum(map("".join(runs).count, "0123456789"))
    return sum(token[0].isdigit() for token in line), sum(map(len, runs)) + digits


def unusual(node: ast.AST, names: Names, *, in_class: bool = False, in_file: bool = False) -> str:
    """Return what a node is that no answer needs, as it is to be named; empty for anything else.

    Args:
        node: an expression or an import.
        names: what the names of the file stand for.
        in_class: the node stands in the body of a class, where an import becomes an attribute.
        in_file: it stands in no class and no function, where all names are the file's.
    """
    if in_file and isinstance(node, ast.Name) and _gives_all_names(node, names):
        return node.id
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _import(node, names, in_class=in_class)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name if is_behind(node.name, _OF_CLASSES) or node.name in _REDUCING else ""
    if isinstance(node, ast.Constant):
        return _spelled(node)
    if isinstance(node, ast.Call):
        return _call(node, names)
    if isinstance(node, ast.Attribute):
        return _attribute(node, names)
    if isinstance(node, ast.Name) and _is_builtin(node, names):
        return node.id
    return _path(node, names) if isinstance(node, ast.Name | ast.Subscript) else ""


def _import(node: ast.Import | ast.ImportFrom, names: Names, *, in_class: bool) -> str:
    paths = [f"{node.module}.{a.name}" if isinstance(node, ast.ImportFrom) else a.name for a in node.names]
    if in_class and (module := next(filter(names.is_module, paths), "")):
        return f"{module}, used as a value"
    return next(filter(_is_unusual, paths), "")


def _attribute(node: ast.Attribute, names: Names) -> str:
    if is_behind(node.attr) or (node.attr in _STATE and _is_others(node.value)):
        return node.attr
    if not isinstance(node.ctx, ast.Load):
        return _replaced(node.value, node.attr, names)
    return _path(node, names)


def _gives_all_names(node: ast.Name, names: Names) -> bool:
    """Return whether a name is `locals`, or `vars` where it is not asked about something."""
    return node.id in ("locals", "vars") and node.id not in names.bindings and id(node) not in names.asking


def is_behind(word: str, besides: frozenset[str] = frozenset()) -> bool:
    """Return whether a word is a name of Python's own that leads to Python's internals, such as `__globals__`.

    `besides` are names that do not.
    """
    if not (word.startswith("__") and word.endswith("__") and len(word) > 4):
        return word in _LEADING
    return word[2:-2] not in _ORDINARY and word not in besides


def _spelled(node: ast.Constant) -> str:
    """Return what leads to Python's internals in a text: attributes are asked for by texts in many ways."""
    text = text_of(node)
    if "_" not in text:
        return ""
    return next((word for word in _NAME.findall(text) if "_" in word and is_behind(word)), "")


def _is_others(owner: ast.expr) -> bool:
    """Return whether an object is another one than that whose method is being written, or its base."""
    return not (isinstance(owner, ast.Name) and owner.id in _OWNERS) and not (
        isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"
    )


def _is_builtin(node: ast.Name, names: Names) -> bool:
    """Return whether a name is one of Python's that no answer needs, or of its internals, and not one's own."""
    if node.id in names.own or node.id in names.paths or id(node) in names.local:
        return False
    return node.id in _BUILTINS or is_behind(node.id)


def _replaced(owner: ast.expr, name: str, names: Names) -> str:
    """Return which attribute of a library, or of the class of what is not one's own, is given another value."""
    if paths := names.paths_of(owner):
        return next((f"{path}.{name}, replaced" for path in paths if not path.startswith(_SETTINGS)), "")
    thing = owner if name == "__class__" else _of_class(owner)
    if thing is None or (isinstance(thing, ast.Name) and thing.id in _OWNERS):
        return ""
    return "__class__, replaced" if name == "__class__" else f"{name} of a class, replaced"


def _of_class(node: ast.expr) -> ast.expr | None:
    """Return `x` of `type(x)` and of `x.__class__`."""
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        return node.value
    is_type = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"
    return node.args[0] if is_type and isinstance(node, ast.Call) and node.args else None


def _path(node: ast.Name | ast.Attribute | ast.Subscript, names: Names) -> str:
    paths = names.paths_of(node)
    if id(node) in names.searched:  # such as `"google.colab" in sys.modules`: it gives no more than yes or no
        paths = tuple(path for path in paths if by_its_name(path) != "sys.modules")
    if told := next(filter(_is_unusual_in_use, paths), ""):
        return told
    if id(node) not in names.called and (timer := next((path for path in paths if f"{path}.".startswith(_TIMERS)), "")):
        return timer
    if paths and id(node) not in names.plain and isinstance(node.ctx, ast.Load):
        return next((f"{path}, used as a value" for path in paths if names.is_module(path)), "")
    return ""


def _call(node: ast.Call, names: Names) -> str:
    """Return a computed attribute of a module, what `getattr` with a text that says it gives, or an address's name."""
    if told := next(filter(_is_unusual_in_use, names.paths_of(node)), ""):
        return told
    if address := next((one.arg for one in node.keywords if one.arg in _ADDRESSES), None):
        return address
    if told := next((keyword.arg for keyword in node.keywords if keyword.arg and is_behind(keyword.arg)), ""):
        return told
    if timer := next((path for path in names.paths_of(node.func) if f"{path}.".startswith(_TIMERS)), ""):
        return "" if _times_what_is_read(node, names) else timer
    if isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr") and len(node.args) > 1:
        return _replaced(node.args[0], text_of(node.args[1]) or "…", names)
    if not isinstance(node.func, ast.Name) or node.func.id != "getattr" or len(node.args) < 2:
        return ""
    if is_behind(name := text_of(node.args[1])):
        return name
    owners = names.paths_of(node.args[0])
    return f"getattr({owners[0]}, …)" if owners and not isinstance(node.args[1], ast.Constant) else ""


def _is_unusual(path: str) -> bool:
    return bool(path) and (_UNUSUAL.search(path) is not None or _is_private(path))


def _is_private(path: str) -> bool:
    first, *inner = path.split(".")
    if first not in _LIBRARIES or path.startswith(_OPEN):
        return False
    return any(name.startswith("_") and not name.endswith("__") and name != "_" for name in (first, *inner))


def _times_what_is_read(node: ast.Call, names: Names) -> bool:
    """Return whether all that a timer runs can be read: a lambda, which a text is by now, or one's own function."""
    given = [*node.args[:2], *(one.value for one in node.keywords if one.arg in (None, "stmt", "setup"))]
    return all(isinstance(one, ast.Lambda) or (isinstance(one, ast.Name) and one.id in names.own) for one in given)


def _is_unusual_in_use(path: str) -> bool:
    """Return whether a path is unusual wherever it is evaluated, but for imports of it."""
    home = by_its_home(path)
    if home and _UNUSUAL.search(home):
        return True
    return any(_is_unusual(one) or f"{one}.".startswith(_RUNNING_TEXT) for one in {path, by_its_name(path)})
