"""Which modules of the grader one of them needs, read off the imports without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path


def files_needed(module: str, root: Path, tables: Mapping[str, frozenset[str]]) -> dict[str, bytes]:
    """Return the files below `root` that `module` is made of, itself included, by path.

    Imports inside functions count, and names of ours in strings, which are imported later; what only a type checker
    imports does not. `tables` says which keys the dictionary
    of that name must keep, as they are written; others leave it, and take what they alone needed with them.
    """
    found: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        path = _path(waiting.pop(), root)
        if path is None or (name := path.relative_to(root).as_posix()) in found:
            continue
        found[name] = path.read_bytes()
        tree = ast.parse(found[name])
        if _cut(tree, tables):
            found[name] = f"{ast.unparse(tree)}\n".encode()
        waiting += _imports(tree)
    return found


def _path(module: str, root: Path) -> Path | None:
    """Return the file of a module, None where the name is none of ours."""
    place = root.joinpath(*module.split("."))
    paths = (place.with_suffix(".py"), place / "__init__.py")
    return next((path for path in paths if path.is_file()), None)


def _imports(node: ast.AST) -> Iterator[str]:
    """Yield every name that may be a module, with the packages around it."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("grader."):
        names = [node.value]
    for parts in (name.split(".") for name in names):
        yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def _cut(module: ast.Module, tables: Mapping[str, frozenset[str]]) -> bool:
    """Take entries out of a module's tables, and imports that nobody uses then; return whether it has such a table."""
    cut = False
    for node in module.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict):
            keep = tables.get(ast.unparse(node.target))
            cut |= keep is not None
            pairs = list(zip(node.value.keys, node.value.values, strict=True))
            pairs = [(key, value) for key, value in pairs if keep is None or (key and ast.unparse(key) in keep)]
            node.value.keys, node.value.values = [key for key, _ in pairs], [value for _, value in pairs]
    if cut:
        used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
        module.body = [node for node in module.body if _is_used(node, used)]
    return cut


def _is_used(node: ast.stmt, used: set[str]) -> bool:
    """Leave out of an import what is not used; return whether anything is left."""
    if isinstance(node, ast.ImportFrom) and node.module != "__future__":
        node.names = [alias for alias in node.names if (alias.asname or alias.name) in used]
        return bool(node.names)
    return True
