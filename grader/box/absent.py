"""Stand-ins for packages that are not here: inert objects for what a notebook imports to draw, log or show progress.

They are made without any file. Everything may be asked of a stand-in and called, and gives another one. Whoever takes
one for a value (in arithmetic, as a condition, as a tensor) is told in a sentence that the package is not here.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, FunctionType, ModuleType
from typing import Any, NoReturn

import numpy
from torch import nn

from grader.box.faults import SUBMISSION

_DRAWING = frozenset({"matplotlib", "mpl_toolkits", "seaborn", "plotly", "bokeh", "altair", "IPython", "ipywidgets"})
_PROGRESS = frozenset({"tqdm", "fastprogress"})  # called with what is to be iterated over
_OURS = frozenset({"grader", "__main__"})
_HERE = frozenset({"torch", "functorch", "numpy", "safetensors", "einops", "jaxtyping", "typing_extensions"})
_MODULES = frozenset({"Module", "LightningModule"})  # as a base class these are torch's own with something added
_VALUES = (
    "bool", "int", "float", "complex", "index", "contains", "array", "add", "radd", "sub", "rsub", "mul", "rmul",
    "matmul", "rmatmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow", "neg", "pos",
    "abs", "lt", "le", "gt", "ge", "and", "rand", "xor", "invert", "round",
)  # fmt: skip


def _refuse(stand_in: Any, *_: object) -> NoReturn:
    raise ModuleNotFoundError(_needed(stand_in._path), name=_root(stand_in._path))


# Python looks for the methods of operators in a class, and nowhere else.
_NoValue: Any = type("_NoValue", (), {f"__{name}__": _refuse for name in _VALUES})


class StandIn(_NoValue):  # type: ignore[misc]  # a base that is put together has no type of its own
    """Whatever a package that is not here would have held under `path`."""

    _path: str
    _given: Iterable[Any] | None

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
            return StandIn(self._path), _axes(self._path, *arguments, **options)
        if _root(self._path) in _PROGRESS and arguments:
            given = range(*arguments) if last == "trange" else arguments[0]
            return StandIn(self._path, given if isinstance(given, Iterable) else None)
        return StandIn(self._path)

    def __getitem__(self, key: object) -> StandIn:
        return StandIn(self._path)

    def __setitem__(self, key: object, value: object) -> None:
        """Forget it, as any other setting."""

    def __iter__(self) -> Iterator[Any]:
        if self._given is None and _root(self._path) not in _DRAWING:
            _refuse(self)
        return iter(() if self._given is None else self._given)

    def __len__(self) -> int:
        return len(tuple(iter(self))) if self._given is None else len(self._given)  # type: ignore[arg-type]  # as of what it is

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

    @classmethod
    def __torch_function__(cls, function: object, types: object, arguments: Any = (), options: Any = None) -> NoReturn:
        found = next((a for a in (*arguments, *(options or {}).values()) if isinstance(a, StandIn)), None)
        raise ModuleNotFoundError(_needed(found._path if found is not None else "a package"))


class _Shell:
    """What `get_ipython()` gives: no shell, so it is as false as None, and its commands do nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing if name != "config" else {}

    def __bool__(self) -> bool:
        return False


def _nothing(*_arguments: object, **_options: object) -> None:
    """Do nothing, whatever the command."""


DISPLAY = "display"
# nbconvert writes a notebook's commands as calls of what `get_ipython` returns
_FROM_A_NOTEBOOK = {"get_ipython": _Shell, DISPLAY: _nothing}


class _Module(ModuleType):
    """A module that is not here; it has every name, and `from … import *` brings none."""

    __all__ = ()

    def __getattr__(self, name: str) -> StandIn:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self.__name__}.{name}")


class StandIns:
    """The finder of this process that gives stand-ins for chosen modules, and for all that is below them.

    What draws and shows progress is always stood in for, and what is foreign is not here, installed or not: a file
    gets the same on its author's machine as in the service, no window opens, and no real package meets the stand-in of
    another one.
    """

    def __init__(self) -> None:
        """Stand in for what draws."""
        # torch has loaded `tqdm` itself, and what is below it (`tqdm.auto`) cannot be loaded in the sandbox
        self._names = {name for name in _DRAWING if name not in sys.modules} | _PROGRESS
        self._made: set[str] = set()
        self.names: dict[str, Any] = {}  # those that a file has without an import
        sys.meta_path.insert(0, self)

    @property
    def made(self) -> tuple[str, ...]:
        """What was asked for, each by the name that is stood in for."""
        return tuple(
            sorted({one for one in self._names for name in self._made if _is_below(name, one)} | {*self.names})
        )

    def add(self, names: Iterable[str]) -> bool:
        """Stand in for further modules that are not loaded; return whether there is one."""
        fresh = {name for name in names if _root(name) not in _OURS and name not in sys.modules} - self._names
        self._names |= fresh
        return bool(fresh)

    def add_name(self, name: str | None) -> bool:
        """Stand in for a name that a notebook has without an import; return whether it is one, and new."""
        if name not in _FROM_A_NOTEBOOK or name in self.names:
            return False
        self.names[name] = _FROM_A_NOTEBOOK[name]
        return True

    def close(self) -> None:
        """Stand in for nothing any more; what a file has of them it keeps."""
        sys.meta_path.remove(self)
        for name in self._made:
            made = sys.modules.pop(name, None)
            above = sys.modules.get(name.rpartition(".")[0])
            if above is not None and getattr(above, name.rpartition(".")[2], None) is made:
                delattr(above, name.rpartition(".")[2])  # the import system has put it there, into a real package too

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Return how to make a module that is stood in for; None for any other."""
        if not any(_is_below(name, one) for one in self._names):
            if is_foreign(name) and _asked_by_submission():
                raise ModuleNotFoundError(f"No module named {name!r}", name=_root(name))
            return None
        self._made.add(name)
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]  # it is its own loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, which needs no code."""
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is nothing in it."""


def is_foreign(name: str) -> bool:
    """Return whether a module is neither Python's own nor one of those that submissions may use."""
    root = _root(name)
    return root not in _HERE | _OURS and root not in sys.stdlib_module_names and root not in sys.modules


def is_missing(name: str) -> bool:
    """Return whether a module is not here; only its package is looked for, nothing is imported."""
    if is_foreign(name) or _root(name) in sys.modules:
        return is_foreign(name)
    try:
        return importlib.util.find_spec(_root(name)) is None
    except (ImportError, ValueError):
        return True


def _asked_by_submission() -> bool:
    """Return whether the import under way stands in the submission, and not in a package that it imports."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename == SUBMISSION


def _needed(path: str) -> str:
    return (
        f"`{_root(path)}` is not available, so `{path}` is a placeholder that accepts drawing and logging but "
        "has no value; write what your code needs from it in your own file"
    )


def _is_below(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}.")


def _root(path: str) -> str:
    return path.partition(".")[0]


def _axes(path: str, /, nrows: object = 1, ncols: object = 1, *_: Any, **__: Any) -> Any:
    """Return as many axes as were asked for, in an array like matplotlib's; one by itself."""
    rows, columns = (size if isinstance(size, int) else 1 for size in (nrows, ncols))
    if rows * columns <= 1:
        return StandIn(path)
    axes = numpy.empty(rows * columns, dtype=object)
    for place in range(rows * columns):
        axes[place] = StandIn(path)
    return axes.reshape(rows, columns).squeeze()
