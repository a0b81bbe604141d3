"""Executes source text: a submission's, and that of our own modules that travel with its job."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from grader.box.faults import SUBMISSION


def install(modules: Mapping[str, str]) -> None:
    """Execute modules of ours, by name and source, each after those that it imports; then they can be imported."""
    for name, text in modules.items():
        module = ModuleType(name)
        sys.modules[name] = module
        code = compile(text, f"<{name}>", "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102 - our own source; the child has no file that it could be imported from


def execute(source: str) -> Mapping[str, Any]:
    """Execute a submission as the module `submission` and return its namespace.

    Raises:
        Anything that the code raises, SyntaxError included.
    """
    module = ModuleType("submission")
    sys.modules["submission"] = module  # dataclasses and typing look a class's module up by name
    lines = source.splitlines(keepends=True)
    linecache.cache[SUBMISSION] = (len(source), None, lines, SUBMISSION)  # torch.jit reads functions from there
    code = compile(source, SUBMISSION, "exec", dont_inherit=True)
    exec(code, module.__dict__)  # noqa: S102 - running it is what the box is for
    return module.__dict__
