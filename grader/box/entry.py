"""Finds the entry point in a submission's namespace."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from grader.box.drivers import driver
from grader.box.plan import Entry
from grader.errors import Rejected


def look_up(entry: Entry, namespace: Mapping[str, Any]) -> Any:
    """Return the object called `entry.name`.

    Raises:
        Rejected: it is not there, or is not what the contract says; a near miss is named.
    """
    name = entry.name
    is_class = driver(entry.kind).is_class or name[:1].isupper()  # a contract spells its classes so
    kind = "class" if is_class else "function"
    found = namespace.get(name)
    if found is None:
        raise Rejected(f"your file must define a {kind} called `{name}`; {_instead(name, namespace)}")
    if is_class and not isinstance(found, type):
        raise Rejected(f"`{name}` must be a class; yours is a {type(found).__name__}")
    if not callable(found):
        raise Rejected(f"`{name}` must be a function; yours is a {type(found).__name__}")
    return found


def _instead(name: str, namespace: Mapping[str, Any]) -> str:
    own = [key for key, value in namespace.items() if getattr(value, "__module__", None) == "submission"]
    lowered = {key.lower(): key for key in own}
    near = difflib.get_close_matches(name.lower(), lowered, n=1)
    if near:
        return f"it defines `{lowered[near[0]]}`; if that is it, rename it"
    return f"it defines {', '.join(f'`{key}`' for key in own[:8])}" if own else "it defines nothing"
