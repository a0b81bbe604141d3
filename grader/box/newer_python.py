"""Says which newer Python an error asks for, where a submission has syntax or a name of one that does not run it."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

_LONGEST = 300  # characters of a line that are looked at
_BROKEN_TEXT = re.compile(r"f-string: (?:expecting|unmatched|unterminated)")
_BACKSLASH = "f-string expression part cannot include a backslash"
# A quote in the braces of an f-string that is the string's own, up to the end of those braces.
_SAME_QUOTES = re.compile(r"""\b[rR]?[fF][rR]?(["'])(?:(?!\1).)*\{(?:(?!\1)[^}])*\1.*\1.*\}""")
_SYNTAX = {
    re.compile(r"\s*type\s+\w+\s*(?:\[.*\]\s*)?="): (3, 12),
    re.compile(r"\s*(?:async\s+def|def|class)\s+\w+\s*\[.*\]\s*[(:]"): (3, 12),
    re.compile(r"""(?:.*[^\w"'])?[rR]?t[rR]?["']"""): (3, 14),
}
_NAMES: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "typing": {
        **dict.fromkeys(("override", "TypeAliasType"), (3, 12)),
        **dict.fromkeys(("ReadOnly", "TypeIs", "NoDefault", "get_protocol_members", "is_protocol"), (3, 13)),
        "evaluate_forward_ref": (3, 14),
    },
    "collections.abc": {"Buffer": (3, 12)},
    "itertools": {"batched": (3, 12)},
    "math": {"sumprod": (3, 12), "fma": (3, 13)},
    "warnings": {"deprecated": (3, 13)},
    "copy": {"replace": (3, 13)},
}
_WANTED = (
    re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'"),
    re.compile(r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'"),
)


def newer_python(error: BaseException, message: str) -> str:
    """Return a clause on the Python that has what `error` was raised for; empty where it is another cause."""
    own = sys.version_info[:2]
    wanted = _of_syntax(error) if isinstance(error, SyntaxError) else _of_name(error, message)
    if wanted is None or wanted <= own:
        return ""
    which, here = (".".join(map(str, version)) for version in (wanted, own))
    return f"; this is new in Python {which}, and your file is run with Python {here}; write what works there"


def _of_syntax(error: SyntaxError) -> tuple[int, int] | None:
    line, said = (error.text or "")[:_LONGEST], str(error.msg)
    if said.startswith(_BACKSLASH) or (_BROKEN_TEXT.match(said) and _SAME_QUOTES.search(line)):
        return 3, 12
    if said not in ("invalid syntax", "expected '('"):
        return None
    return next((version for pattern, version in _SYNTAX.items() if pattern.match(line)), None)


def _of_name(error: BaseException, message: str) -> tuple[int, int] | None:
    if not isinstance(error, ImportError | AttributeError):
        return None
    found = next((match for pattern in _WANTED if (match := pattern.match(message))), None)
    return _NAMES.get(found["module"], {}).get(found["name"]) if found is not None else None
