"""Stand-ins for packages that are not here: inert objects for what a notebook imports to draw, log or show progress.

They are made without any file. Everything may be asked of a stand-in and called, and gives another one. Whoever takes
one for a value (in arithmetic, as a condition, as a tensor) is told in a sentence that the package is not here.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from torch import nn

_DRAWING = frozenset({"matplotlib", "mpl_toolkits", "seaborn", "plotly", "bokeh", "altair", "IPython", "ipywidgets"})
_PROGRESS = frozenset({"tqdm", "fastprogress"})  # called with what is to be iterated over
_OURS = frozenset({"grader", "__main__"})
_MODULES = frozenset({"Module", "LightningModule"})  # as a base class these are torch's own with something added
_ONE_OR_MORE = ("nrows", "ncols")


class StandIn:
    """Whatever a package that is not here would have held under `path`."""

    def __init__(self, path: str, given: Iterable[Any] | None = None) -> None:
        """Stand for `path`; `given` is what a progress bar was asked to go through."""
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "_given", given)

    def __getattr__(self, name: str) -> StandIn:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self._path}.{name}")

    def __setattr__(self, name: str, value: object) -> None:
        """Forget it: settings of what is not here change nothing."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Return what a decorator would, the axes of a figure, the items of a progress bar, or another stand-in."""
        if len(arguments) == 1 and not options and isinstance(arguments[0], FunctionType | type):
            return arguments[0]
        last = self._path.rpartition(".")[2]
        if last == "subplots":
            return StandIn(self._path), _axes(self._path, arguments, options)
        if _root(self._path) in _PROGRESS and arguments:
            given = range(*arguments) if last == "trange" else arguments[0]
            return StandIn(self._path, given if isinstance(given, Iterable) else None)
        return StandIn(self._path)

    def __getitem__(self, key: object) -> StandIn:
        return self

    def __setitem__(self, key: object, value: object) -> None:
        """Forget it, as any other setting."""

    def __iter__(self) -> Iterator[Any]:
        if self._given is not None:
            return iter(self._given)
        if _root(self._path) in _DRAWING:
            return iter(())
        return self._refuse()

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *_: object) -> None:
        """Let an exception pass."""

    def __or__(self, other: object) -> StandIn:
        return self

    __ror__ = __or__  # `Float | None` in an annotation

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return (nn.Module,) if self._path.rpartition(".")[2] in _MODULES else ()

    def __instancecheck__(self, instance: object) -> bool:
        return False

    def __format__(self, form: str) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return f"<stand-in for {self._path}>"

    def _refuse(self, *_: object) -> NoReturn:
        raise ModuleNotFoundError(_needed(self._path), name=_root(self._path))

    @classmethod
    def __torch_function__(cls, function: object, types: object, arguments: Any = (), options: Any = None) -> NoReturn:
        found = next((a for a in (*arguments, *(options or {}).values()) if isinstance(a, StandIn)), None)
        raise ModuleNotFoundError(_needed(found._path if found is not None else "a package"))


_VALUES = (
    "bool", "len", "int", "float", "complex", "index", "contains", "array", "add", "radd", "sub", "rsub", "mul", "rmul",
    "matmul", "rmatmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow", "neg", "pos",
    "abs", "lt", "le", "gt", "ge", "and", "rand", "xor", "invert", "round",
)  # fmt: skip
for _name in _VALUES:  # as methods of a class, which is where Python looks for them
    setattr(StandIn, f"__{_name}__", StandIn._refuse)


class _Module(ModuleType):
    """A module that is not here; it has every name, and `from … import *` brings none."""

    __all__ = ()

    def __getattr__(self, name: str) -> StandIn:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self.__name__}.{name}")


class StandIns:
    """The finder of this process that gives stand-ins for chosen modules, and for all that is below them."""

    def __init__(self) -> None:
        """Stand in for nothing yet."""
        self.names: set[str] = set()

    def add(self, names: Iterable[str]) -> bool:
        """Stand in for further modules that are not loaded; return whether there is one."""
        fresh = {name for name in names if name not in self.names and _root(name) not in _OURS | {"torch", "numpy"}}
        fresh |= {name for name in names if name.startswith("torch.") and name not in sys.modules} - self.names
        if fresh and not self.names:
            sys.meta_path.insert(0, self)  # type: ignore[arg-type]  # the protocol asks for no more than `find_spec`
        self.names |= fresh
        return bool(fresh)

    def close(self) -> None:
        """Stand in for nothing any more; what was imported stays where it is."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)  # type: ignore[arg-type]  # as above

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Return how to make a module that is stood in for; None for any other."""
        if not any(name == one or name.startswith(f"{one}.") for one in self.names):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]  # it is its own loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, which needs no code."""
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is nothing in it."""


def is_missing(name: str) -> bool:
    """Return whether no module of this name can be found; only its package is looked for, nothing is imported."""
    root = _root(name)
    if root in sys.modules:
        return False
    try:
        return importlib.util.find_spec(root) is None
    except (ImportError, ValueError):
        return True


def _needed(path: str) -> str:
    return (
        f"`{_root(path)}` is not here, so `{path}` is a stand-in, which may be drawn and logged with but has no value; "
        "write what your answer needs of it in your own file"
    )


def _root(path: str) -> str:
    return path.partition(".")[0]


def _axes(path: str, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    """Return as many axes as were asked for, in rows if there are rows; one that stands for all of it if only one."""
    sizes = dict.fromkeys(_ONE_OR_MORE, 1) | dict(zip(_ONE_OR_MORE, arguments, strict=False))
    sizes |= {name: options[name] for name in _ONE_OR_MORE if name in options}
    rows, columns = (size if isinstance(size, int) else 1 for size in sizes.values())
    return _Axes(path, rows, columns) if rows * columns > 1 else StandIn(path)


class _Axes(StandIn):
    """Several axes, which can be counted and unpacked as the array is that stands there otherwise."""

    def __init__(self, path: str, rows: int, columns: int) -> None:
        """Have `rows` x `columns`; a single row or column has one axis only, as in matplotlib."""
        super().__init__(path)
        lone = 1 in (rows, columns)
        items = [StandIn(path) if lone else _Axes(path, 1, columns) for _ in range(rows * columns if lone else rows)]
        object.__setattr__(self, "_given", items)
        object.__setattr__(self, "_all", [StandIn(path) for _ in range(rows * columns)])

    def __getattr__(self, name: str) -> StandIn:
        if name in ("flat", "ravel", "flatten", "reshape"):
            return _All(self._path, self._all)
        return super().__getattr__(name)

    def __len__(self) -> int:
        return len(self._given)  # type: ignore[arg-type]  # a list, set above


class _All(StandIn):
    """All axes in a row: an attribute, `axes.flat`, and a method, `axes.flatten()`, at once."""

    def __call__(self, *_arguments: Any, **_options: Any) -> Any:
        return self
