"""Holds what our code looks up in libraries and in Python, as it is before a submission is loaded.

A submission may give any name of a library another value, `os.write` or `len`, and Python looks a name up whenever it
is used. So our modules get copies of their own: of the builtin functions that their code names, and of each library
module that they refer to, with the names that they ask for.
"""

from __future__ import annotations

import builtins
import gc
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

_OURS = "grader"
_TRAPS = "grader.box.traps"  # these look up all of a module; one that springs looks up nothing


@cache  # for the life of the process; a child finds it done
def hold() -> None:
    """Hold all that the functions of ours in this process look up."""
    ours = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == _OURS}
    spaces = [vars(module) for name, module in ours.items() if not name.startswith(_TRAPS)]
    known = {id(space) for space in spaces}
    functions = (one for one in gc.get_objects() if type(one) is FunctionType and id(one.__globals__) in known)
    hold_in(spaces, (one.__code__ for one in functions))


def hold_in(spaces: Iterable[dict[str, Any]], codes: Iterable[CodeType]) -> None:
    """Hold what `codes` look up in the namespaces of modules that have them."""
    names = {name for code in codes for name in names_in(code)}
    before = {name: value for name, value in vars(builtins).items() if name in names}
    copies: dict[str, ModuleType] = {}
    for space in spaces:
        space.update({name: value for name, value in before.items() if name not in space})
        space.update({name: _copy(value, names, copies) for name, value in space.items() if _is_library(value)})


def names_in(code: CodeType) -> Iterator[str]:
    """Yield every name that code looks up, and the code in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def _is_library(value: object) -> bool:
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] != _OURS


class _Copy(ModuleType):
    """A module with names of another one. What is set in it, as `sys.stdout` is, is set in the other one.

    A name that no code of ours spells, but puts together, is looked up in the other one.
    """

    def __getattr__(self, name: str) -> object:
        return getattr(sys.modules[self.__name__], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(sys.modules[self.__name__], name, value)


def _copy(module: ModuleType, names: set[str], copies: dict[str, ModuleType]) -> ModuleType:
    """Return a module that has the `names` of another one, in the modules below it too."""
    if module.__name__ not in copies:
        copy = copies[module.__name__] = _Copy(module.__name__)
        wanted = {name: value for name, value in list(vars(module).items()) if name in names}
        vars(copy).update({n: _copy(v, names, copies) if _is_library(v) else v for n, v in wanted.items()})
    return copies[module.__name__]
