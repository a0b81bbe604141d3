"""Executes a submission's source text."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from grader.box.faults import SUBMISSION


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
