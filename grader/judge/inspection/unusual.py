"""Recognises what no answer needs, and whoever goes round a rule does: a person should have a look."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from grader.judge.inspection.names import Names, by_its_home, by_its_name, text_of
from grader.judge.tokens import is_text, logical_lines, numbered_lines

_MODULES = frozenset(
    {
        "ctypes",
        "_ctypes",
        "_pickle",
        "copyreg",
        "ctypeslib",
        "cffi",
        "_testcapi",
        "_imp",
        "faulthandler",
        "marshal",
        "pickle",
        "builtins",
        "runpy",
        "pkgutil",
    }
)
_TABLE = "__dict__"  # of a module; any other object may well have one
_FIRST = frozenset(
    {
        "code",
        "codeop",
        "pydoc",
        "profile",
        "cProfile",
        "pdb",
        "bdb",
        "rlcompleter",
        "zipimport",
        "submission",
        "__main__",
    }
)  # elsewhere just a word
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
    *(
        "timeit.main.",
        "timeit.template.",
        "doctest.",
        "typing.get_type_hints.",
        "annotationlib.",
        "inspect.get_annotations.",
    ),
    *("functools.singledispatch", "trace.Trace.", "logging.config.", "gettext.c2py.", "turtle."),
    *("numpy.testing.measure.", "numpy.testing.runstring.", "numpy.testing.rundocs."),
)
_TIMERS = (
    "timeit.timeit.",
    "timeit.repeat.",
    "timeit.Timer.",
    "torch.utils.benchmark.Timer.",
)  # run text or a function
_SETTINGS = ("torch.backends", "sys.stdout", "sys.stderr")  # their attributes are there to be set
_OWNERS = frozenset({"self", "cls"})
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
_PRIVATE = re.compile(r"(?<!\w)_[a-zA-Z]|\bas\s+(?:self|cls)\b|(?<![.\w])(?:self|cls)\s*:?=(?!=)")
_NAME = re.compile(r"[^\W\d]\w*")
# Attributes that lead from what everybody has to frames, their names, and memory.
_LEADING = frozenset(
    {
        *("tb_frame", "f_back", "f_globals", "f_locals", "f_builtins", "f_code", "gi_frame", "cr_frame", "ag_frame"),
        *("gi_code", "cr_code", "ag_code", "ctypes"),
    }
)
# Every text in which something unusual is named holds one of these words, or one that leads to Python's internals.
WORDS = frozenset(
    {
        *(*_MODULES, *_FIRST, *_BUILTINS, *_ADDRESSES, "locals", "getattr", "setattr", "delattr", "vars", "__dict__"),
        *(*_STATE, *_REDUCING),
        *(path.split(".")[-1] for path in _PATHS),
        *(path.rstrip(".").split(".")[-1] for path in (*_RUNNING_TEXT, *_TIMERS)),
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

# Words after which an attribute may be given another value, or be another one than it seems.
_BINDING = frozenset({"for", "as", "type", "del"})


def replaces(text: str) -> bool:
    """Return whether a text may give something to an attribute that is not its own, as what replaces a library's does.

    It is asked about every answer, so it looks at tokens alone, and says yes where they leave a doubt.
    """
    return "__class__" in text or any(_may_replace(line) for line in logical_lines(text))


def names_private(text: str) -> bool:
    """Return whether a text may name something that begins with one underscore, or call a module as one calls oneself.

    An attribute of `self` counts too: a module may have that name, or be handed in under it.
    """
    return _PRIVATE.search(text) is not None


def _may_replace(line: list[str]) -> bool:
    """Return whether a line has an attribute behind a word that binds, or one of a stranger's before an assignment."""
    depth, bound, owned = 0, False, False
    for before, token, after in zip(["", *line], line, [*line[1:], ""], strict=False):
        depth += (token in "([{") - (token in ")]}")
        if token == "." and after.isidentifier():
            owned = owned or before not in _OWNERS
            if bound:
                return True
        if token == "=" and owned and depth <= 0 and "=" not in (before, after):
            return True
        bound = bound or token in _BINDING
    return False


def tables(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and content of each statement with more numbers than answers have, or of a file with more in all.

    Numbers are counted, and what texts have of digits and of long runs of characters, as base64 has.
    """
    if sum(map(text.count, "0123456789")) < _NUMBERS and _RUN.search(text) is None:
        return
    found = [(line, *_data(tokens)) for line, tokens in numbered_lines(text)]
    kinds = ((1, _NUMBERS, "{} numbers"), (2, _CODED, "{} characters of data in a text"))
    for kind, most, words in kinds:
        large = [(row[0], row[kind]) for row in found if row[kind] >= most]
        total = sum(row[kind] for row in found)
        if not large and total >= _IN_ALL * most:
            large = [(max(found, key=lambda row: row[kind])[0], total)]
        yield from ((line, f"a table of {words.format(count)}") for line, count in large)


def _data(line: list[str]) -> tuple[int, int]:
    """Return how many numbers a logical line has, and how many characters of data in its texts."""
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
    return node.id in ("locals", "vars") and not names.is_bound(node.id) and id(node) not in names.asking


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
    if id(node) not in names.called and (timer := next(filter(_is_timer, paths), "")):
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
    if timer := next(filter(_is_timer, names.paths_of(node.func)), ""):
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
    """Return whether a path leads through a name of a library that begins with one underscore."""
    first, *inner = path.split(".")
    if first not in _LIBRARIES or path.startswith(_OPEN):
        return False
    return any(name.startswith("_") and not name.endswith("__") and name != "_" for name in (first, *inner))


def _is_timer(path: str) -> bool:
    return f"{path}.".startswith(_TIMERS)


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
