"""Recognises what no answer needs, and whoever goes round a rule does: a person should have a look."""

from __future__ import annotations

import ast

from grader.judge.inspection.names import Names

_MODULES = frozenset({"ctypes", "_ctypes", "cffi", "marshal", "code", "codeop"})
_PATHS = (
    "gc.get_objects", "gc.get_referrers", "gc.get_referents", "gc.unfreeze", "sys._getframe", "sys.modules",
    "sys.settrace", "sys.setprofile", "inspect.currentframe", "inspect.stack", "inspect.getsource",
    "types.FunctionType", "types.CodeType", "importlib.import_module", "importlib.util", "importlib.reload",
    "torch._C", "torch.ops", "torch.library", "torch._refs", "torch._decomp", "torch._higher_order_ops",
    "torch._inductor", "torch._dynamo", "torch._prims", "torch._VF", "torch._dispatch", "torch.fx.experimental",
    "torch.utils._python_dispatch", "torch.onnx", "torch.ao", "torch.distributed", "torch.jit.CompilationUnit",
    "torch.jit.enable_onednn_fusion",
)  # fmt: skip
_BUILTINS = frozenset({"exec", "eval", "compile", "__import__", "globals"})
_ATTRIBUTES = frozenset({"__subclasses__", "__globals__", "__code__", "__builtins__", "__closure__"})
# Every text in which something unusual is named holds one of these words.
WORDS = frozenset(
    {
        *(*_MODULES, *_BUILTINS, *_ATTRIBUTES, "getattr"),
        *(path.split(".")[-1 if path.startswith("torch") else 0] for path in _PATHS),
    }
)
_BEGINNINGS = tuple(f"{path}." for path in (*_MODULES, *_PATHS))


def unusual(node: ast.AST, names: Names) -> str:
    """Return what a node is that no answer needs, as it is to be named; empty for anything else."""
    if isinstance(node, ast.Import):
        return next((alias.name for alias in node.names if _is_unusual(alias.name)), "")
    if isinstance(node, ast.ImportFrom):
        return next((path for alias in node.names if _is_unusual(path := f"{node.module}.{alias.name}")), "")
    if isinstance(node, ast.Call):
        return _call(node, names)
    if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
        return node.attr
    path = names.path(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else ""
    return path if _is_unusual(path) else ""


def _call(node: ast.Call, names: Names) -> str:
    if not isinstance(node.func, ast.Name) or node.func.id in names.own:
        return ""
    if node.func.id in _BUILTINS:
        return node.func.id
    hidden = node.func.id == "getattr" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant)
    owner = names.path(node.args[0]) if hidden else ""
    return f"getattr({owner}, …)" if owner.split(".")[0] == "torch" else ""


def _is_unusual(path: str) -> bool:
    return f"{path}.".startswith(_BEGINNINGS)
