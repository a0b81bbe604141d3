"""Executes source text: a submission's, and that of our own modules that travel with its job."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Mapping
from types import CodeType, ModuleType
from typing import Any

from grader.box.faults import SUBMISSION
from grader.box.held import hold_in

NAME = "submission"


def install(modules: Mapping[str, str]) -> None:
    """Execute modules of ours, by name and source, each after those that it imports; then they can be imported."""
    for name, text in modules.items():
        module = ModuleType(name)
        sys.modules[name] = module
        code = compile(text, f"<{name}>", "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102 - our own source; the child has no file that it could be imported from
        hold_in([module.__dict__], [code])


def execute(source: str) -> Mapping[str, Any]:
    """Execute code of ours as the module `submission` and return its namespace; `loading` does so for a student's.

    Raises:
        Anything that the code raises, SyntaxError included.
    """
    module = as_submission(ModuleType(NAME))
    exec(compiled(source), module.__dict__)  # noqa: S102 - running it is what the box is for
    return module.__dict__


def compiled(source: str) -> CodeType:
    """Return the code of a file.

    Raises:
        SyntaxError: and whatever else the compiler raises.
    """
    lines = source.splitlines(keepends=True)
    linecache.cache[SUBMISSION] = (len(source), None, lines, SUBMISSION)  # torch.jit reads functions from there
    return compile(source, SUBMISSION, "exec", dont_inherit=True)


def as_submission(module: ModuleType) -> ModuleType:
    """Make `module` the one that dataclasses and typing find when they look a class's module up by name."""
    sys.modules[NAME] = module
    module.__file__ = f"/{NAME}.py"  # a script looks for the folder that it is in; there is no such file
    return module
