"""Takes out of what a child has sent where the grader and its libraries lie on this machine.

A warning or a traceback names files of the grader's as soon as it was raised below them, with nobody's intent. Code
that wants to tell a place can spell it otherwise; that is no secret, and no way in.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from functools import cache
from pathlib import Path

_EVERYWHERE = frozenset({"/", "/usr", "/usr/local"})  # they say nothing of this machine
_KEPT = "…"


def without_places(text: str) -> str:
    """Return `text` with an ellipsis for each folder that holds the grader, Python or a library."""
    folders = _folders()
    return _pattern().sub(_KEPT, text) if any(folder in text for folder in folders) else text


@cache  # they stay where they are as long as this process lives
def _folders() -> tuple[str, ...]:
    """Return the folders, those that lie in others first."""
    libraries = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    named = {sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]), *libraries}
    found = named | {str(Path(folder).resolve()) for folder in named}
    return tuple(sorted(found - _EVERYWHERE, key=len, reverse=True))


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, _folders()))})(?![\w-]|\.\w)")
