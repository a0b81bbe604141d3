"""Names that are put together: of a call, `case/variant`, and of a tensor that it gives, `output:context`.

They are strings, as they travel and as they are keys of dictionaries, and types of their own, so that nobody hands over
the one part for the whole. This module alone puts them together and takes them apart.
"""

from __future__ import annotations

from typing import NewType

CallName = NewType("CallName", str)
SlotKey = NewType("SlotKey", str)

BASE = "base"  # the variant that is the case's plain call
_OUTPUT, _INPUT, _WEIGHT = "output:", "input:", "weight:"


def call_name(case: str, variant: str = BASE) -> CallName:
    """Return the name of the call `variant` of a case."""
    return CallName(f"{case}/{variant}")


def case_of(call: str) -> str:
    """Return the case that a call is about."""
    return call.partition("/")[0]


def variant_of(call: str) -> str:
    """Return which call of its case this is."""
    return call.partition("/")[2]


def output_key(name: str) -> SlotKey:
    """Return the key of a returned tensor."""
    return SlotKey(_OUTPUT + name)


def input_key(name: str) -> SlotKey:
    """Return the key of the gradient of an argument."""
    return SlotKey(_INPUT + name)


def weight_key(name: str, leaf: str = "") -> SlotKey:
    """Return the key of the gradient of a weight, or of its `leaf`: its bias."""
    return SlotKey(f"{_WEIGHT}{name}.{leaf}" if leaf else _WEIGHT + name)


def is_output(key: str) -> bool:
    """Return whether a tensor is returned, and no gradient."""
    return key.startswith(_OUTPUT)


def is_input(key: str) -> bool:
    """Return whether a tensor is the gradient of an argument."""
    return key.startswith(_INPUT)


def name_in(key: str) -> str:
    """Return the name in the contract: `context` of `output:context`."""
    return key.partition(":")[2]
