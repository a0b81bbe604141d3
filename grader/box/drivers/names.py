"""A function that names things: its list of names leaves the box as their places in the list of those there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from grader.box.drivers.plain import PlainFunction
from grader.box.plan import Call, Entry
from grader.errors import ArgumentMismatch

NAMES = "names"  # the argument that is not handed over: the names that there are, with spaces between


class NamesDriver(PlainFunction):
    """Calls the entry point, and turns names into numbers."""

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Call it once.

        Raises:
            ArgumentMismatch: something is returned that is no list of such names.
        """
        known = str(handed[NAMES]).split()
        given = {name: value for name, value in handed.items() if name != NAMES}
        result = super().run(subject, given, call, contract)
        if not isinstance(result, list | tuple):
            raise ArgumentMismatch(f"`{contract.name}` must return a list of names; yours returns {result!r:.80}")
        odd = [name for name in result if not isinstance(name, str) or name not in known]
        if odd:
            there = ", ".join(f"`{name}`" for name in known)
            raise ArgumentMismatch(f"`{contract.name}` must name each with one of {there}; yours says {odd[0]!r:.80}")
        return torch.tensor([known.index(name) for name in result], dtype=torch.int64)
