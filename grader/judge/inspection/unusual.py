"""Recognises what no answer needs, and whoever goes round a rule does: a person should have a look."""

from __future__ import annotations

import ast
import re

from grader.judge.inspection.names import Names, text_of
from grader.judge.tokens import logical_lines

_MODULES = frozenset({"ctypes", "_ctypes", "ctypeslib", "cffi", "marshal", "pickle", "builtins", "runpy", "pkgutil"})
_TABLE = "__dict__"  # of a module; any other object may well have one
_FIRST = frozenset({"code", "codeop", "pydoc", "profile", "cProfile", "pdb", "bdb"})  # elsewhere just a word
_PATHS = (
    "gc.get_objects", "gc.get_referrers", "gc.get_referents", "gc.unfreeze", "sys._getframe", "sys.modules",
    "sys.settrace", "sys.setprofile", "sys._current_frames", "inspect.currentframe", "inspect.stack",
    "inspect.getsource", "inspect.getmembers", "tracemalloc.stop", "tracemalloc.clear_traces", "tracemalloc.reset_peak",
    "types.FunctionType", "types.CodeType", "importlib.import_module", "importlib.util", "importlib.reload",
    "stride_tricks.as_strided", "_stride_tricks_impl.as_strided",  # NumPy's, which reads and writes any address
    "typing.ForwardRef", "unittest.mock", "operator.attrgetter", "operator.methodcaller",
    "torch._C", "torch.ops", "torch.library", "torch._refs", "torch._decomp", "torch._higher_order_ops",
    "torch._inductor", "torch._dynamo", "torch._prims", "torch._VF", "torch._dispatch", "torch.fx.experimental",
    "torch.utils._python_dispatch", "torch.utils.cpp_extension", "torch.onnx", "torch.ao", "torch.distributed",
    "torch.jit.CompilationUnit", "torch.jit.enable_onednn_fusion", "torch.jit.fuser", "torch.classes", "torch.package",
)  # fmt: skip
_SETTINGS = ("torch.backends", "sys.stdout", "sys.stderr")  # their attributes are there to be set
_OWNERS = frozenset({"self", "cls"})
_BUILTINS = frozenset({"exec", "eval", "compile", "globals"})
# Names with two underscores at both ends that ordinary classes and files have; any other goes behind Python's scenes.
_ORDINARY = frozenset(
    {
        *("all", "author", "class", "dict", "doc", "file", "main", "module", "name", "qualname", "version"),
        *("init", "post_init", "init_subclass", "new", "del", "call", "repr", "str", "format", "annotations", "slots"),
        *("len", "length_hint", "iter", "next", "contains", "getitem", "setitem", "delitem", "missing", "reversed"),
        *("enter", "exit", "getattr", "setattr", "get", "set", "set_name", "class_getitem", "match_args"),
        *("bool", "int", "float", "index", "hash", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "invert"),
        *("add", "radd", "iadd", "sub", "rsub", "isub", "mul", "rmul", "imul", "matmul", "rmatmul", "imatmul"),
        *("truediv", "rtruediv", "floordiv", "mod", "pow", "neg", "pos", "abs", "copy", "deepcopy", "getstate"),
        *("setstate", "reduce", "future", "cause", "context", "traceback", "constants", "torch_function"),
    }
)
# Every text in which something unusual is named holds one of these words, or one that goes behind the scenes.
WORDS = frozenset(
    {
        *(*_MODULES, *_FIRST, *_BUILTINS, "getattr", "setattr", "delattr", "vars", "__dict__"),
        *(path.split(".")[-1] for path in _PATHS),
    }
)
_UNUSUAL = re.compile(
    rf"(?:^|\.)(?:{'|'.join(re.escape(path) for path in sorted((*_MODULES, *_PATHS, _TABLE)))})(?:\.|$)"
    rf"|^(?:{'|'.join(sorted(_FIRST))})(?:\.|$)"
)


# Words after which an attribute may be given another value, or be another one than it seems.
_BINDING = frozenset({"for", "as", "type", "del"})


def replaces(text: str) -> bool:
    """Return whether a text may give something to an attribute that is not its own, as what replaces a library's does.

    It is asked about every answer, so it looks at tokens alone, and says yes where they leave a doubt.
    """
    return "__class__" in text or any(_may_replace(line) for line in logical_lines(text))


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


def unusual(node: ast.AST, names: Names) -> str:
    """Return what a node is that no answer needs, as it is to be named; empty for anything else."""
    if isinstance(node, ast.Import):
        return next((alias.name for alias in node.names if _is_unusual(alias.name)), "")
    if isinstance(node, ast.ImportFrom):
        return next((path for alias in node.names if _is_unusual(path := f"{node.module}.{alias.name}")), "")
    if isinstance(node, ast.Call):
        return _call(node, names)
    if isinstance(node, ast.Attribute) and is_behind(node.attr):
        return node.attr
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return _replaced(node.value, node.attr, names)
    if isinstance(node, ast.Name) and _is_builtin(node, names):
        return node.id
    return _path(node, names) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else ""


def is_behind(word: str) -> bool:
    """Return whether a word is a name of Python's own that leads behind the scenes, such as `__globals__`."""
    return word.startswith("__") and word.endswith("__") and len(word) > 4 and word[2:-2] not in _ORDINARY


def _is_builtin(node: ast.Name, names: Names) -> bool:
    """Return whether a name is one of Python's that runs text or leads behind the scenes, and not the file's own."""
    if node.id in names.own or node.id in names.paths or id(node) in names.local:
        return False
    return node.id in _BUILTINS or is_behind(node.id)


def _replaced(owner: ast.expr, name: str, names: Names) -> str:
    """Return which attribute of a library, or of the class of what is not one's own, is given another value."""
    if path := names.path(owner):
        return "" if path.startswith(_SETTINGS) else f"{path}.{name}, replaced"
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
    path = names.path(node)
    if _is_unusual(path):
        return path
    if path and id(node) not in names.plain and isinstance(node.ctx, ast.Load) and names.is_module(path):
        return f"{path}, used as a value"
    return ""


def _call(node: ast.Call, names: Names) -> str:
    """Return a computed attribute of a module, or what `getattr` with a text that says it gives."""
    if _is_unusual(path := names.path(node)):
        return path
    if isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr") and len(node.args) > 1:
        return _replaced(node.args[0], text_of(node.args[1]) or "…", names)
    if not isinstance(node.func, ast.Name) or node.func.id != "getattr" or len(node.args) < 2:
        return ""
    if is_behind(name := text_of(node.args[1])):
        return name
    owner = names.path(node.args[0])
    return f"getattr({owner}, …)" if owner and not isinstance(node.args[1], ast.Constant) else ""


def _is_unusual(path: str) -> bool:
    return bool(path) and _UNUSUAL.search(path) is not None
