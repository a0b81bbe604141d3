"""Traps in torch's dispatcher: every kernel of an operation that could give numbers is covered by one that raises."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from grader.box.traps.alarm import Alarm
from grader.box.traps.groups import Group, base
from grader.box.traps.hiding import erase, found, hide

# These end at another kernel of the same operation, or give no numbers.
_HARMLESS = ("Meta", "Autocast", "ADInplaceOrView", "Functionalize", "NestedTensorHPU", "NestedTensorMeta")


class Operators:
    """The operations of one group: every overload in torch's registry that its family takes, in any namespace."""

    def __init__(self, group: Group) -> None:
        """Look up which of them there are, and which kernels they have."""
        names = registered()
        taken = group.among({base(name) for name in names})
        self._called = {name: group.public(name) for name in names if base(name) in taken}
        self._kernels = _kernels(self._called)
        self._libraries: list[int] = []

    def arm(self, alarm: Alarm) -> None:
        """Cover the kernels."""
        import torch  # here and not above: whoever reads a specification needs the names of the groups only

        libraries: dict[str, Any] = {}
        traps = {name: alarm.trap(called) for name, called in self._called.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns that a kernel is overridden: that is the point
            for name, key in self._kernels:
                space, _, operator = name.partition("::")
                if space not in libraries:
                    libraries[space] = torch._C._dispatch_library("IMPL", space, "", "", 0)
                libraries[space].impl(operator, key, traps[name])
        self._libraries += map(hide, libraries.values())

    def lift(self) -> None:
        """Uncover them."""
        for address in self._libraries:
            found(address).reset()
        self._libraries.clear()

    def settle(self) -> None:
        """Give up the registrations: no object is left whose end, or whose `reset`, would undo them.

        They are immortal, and to forget where they lie is not enough: NumPy reads and writes any address.
        """
        for address in self._libraries:
            erase(address)
        self._libraries.clear()


def registered() -> list[str]:
    """Return the names of all operators that torch has now, with namespace and overload: `aten::softmax.int_out`."""
    import torch  # as above

    return torch._C._dispatch_get_all_op_names()


def _kernels(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the operations with the dispatch keys at which they have a kernel of their own that matters."""
    import torch

    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    keys = _keys()
    return [(name, key) for name in names for key in keys if has_kernel(name, key)]


def _keys() -> list[str]:
    """Return the dispatch keys that kernels are registered at, aliases too."""
    import torch

    keys = []
    for key in torch._C.DispatchKey.__members__:
        if not key.startswith(_HARMLESS):
            try:
                torch._C._dispatch_has_kernel_for_dispatch_key("aten::relu", key)
            except RuntimeError:  # the name of a class of keys, and no key
                continue
            keys.append(key)
    return keys
