"""Imports what torch has of forbidden names after the traps were set, as the plain subprocess allows; prints JSON.

Every module of torch whose source defines a function of a forbidden family is imported. Of those functions that give
numbers, it says which are not trapped.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import torch

from grader.box import traps
from grader.box.traps import _gives_numbers
from grader.errors import ForbiddenCall
from tests.box.operator_walk import takes

_ROOT = Path(torch.__file__).parent
_DEFINED = re.compile(r"^[ \t]*(?:async )?def (\w+)", re.MULTILINE)


def _is_taken(name: str) -> bool:
    return any(takes(group, name) for group in traps.GROUPS.values())


def named() -> list[str]:
    """Return the modules of torch that define a function of a forbidden name."""
    found = []
    for path in sorted(_ROOT.rglob("*.py")):
        if any(map(_is_taken, set(_DEFINED.findall(path.read_text(encoding="utf-8", errors="replace"))))):
            parts = path.relative_to(_ROOT.parent).with_suffix("").parts
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def _outcome(function: types.FunctionType) -> str:
    try:
        function(*[torch.ones(2, 3)] * function.__code__.co_argcount)
    except ForbiddenCall:
        return "trapped"
    except BaseException as error:  # noqa: BLE001  # most want other arguments
        return type(error).__name__
    return "ran"


def _inside(module: Any) -> dict[str, types.FunctionType]:
    holders = [module, *(one for one in vars(module).values() if isinstance(one, type))]
    functions = [one for holder in holders for one in list(vars(holder).values()) if type(one) is types.FunctionType]
    return {f"{one.__module__}.{one.__qualname__}": one for one in functions}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    modules = [name for name in named() if name not in sys.modules]
    traps.install(tuple(traps.GROUPS))
    output, late = os.dup(1), 0
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    through: dict[str, str] = {}
    for name in modules:
        try:
            module = importlib.import_module(name)
        except BaseException:  # noqa: BLE001  # it needs what is not here, or what is trapped
            continue
        late += 1
        for path, function in _inside(module).items() if type(module) is types.ModuleType else ():
            own = path.startswith(f"{name}.") and "backward" not in path and _gives_numbers(name)
            if own and _is_taken(function.__name__) and (ended := _outcome(function)) != "trapped":
                through[path] = ended
    os.write(output, json.dumps({"modules": modules, "late": late, "through": through}).encode())
