"""Traps in torch's dispatcher: every kernel of an operation that could give numbers is covered by one that raises."""

from __future__ import annotations

import functools
import warnings
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
        called = {name: group.public(name) for name in names if base(name) in taken}
        self._kernels = [
            (name, key, called.get(name) or f"torch.{base(name).lstrip('_')} of a sparse, nested or quantized tensor")
            for name, key in _kernels()
            if name in called or group.covers(name, key)
        ]
        self._libraries: list[int] = []

    def arm(self, alarm: Alarm) -> None:
        """Cover the kernels."""
        import torch  # here and not above: whoever reads a specification needs the names of the groups only

        libraries: dict[str, Any] = {}
        traps = {called: alarm.trap(called) for _, _, called in self._kernels}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns that a kernel is overridden: that is the point
            for name, key, called in self._kernels:
                space, _, operator = name.partition("::")
                if space not in libraries:
                    libraries[space] = torch._C._dispatch_library("IMPL", space, "", "", 0)
                libraries[space].impl(operator, key, traps[called])
        self._libraries += map(hide, libraries.values())

    def stow(self) -> None:
        """Do nothing: the kernels are machine code, which is nowhere but in torch's own files."""

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


@functools.cache
def _kernels() -> tuple[tuple[str, str], ...]:
    """Return every kernel that could give numbers: its operation, and its dispatch key, an alias of several too."""
    import torch

    kernels = []
    for key in torch._C.DispatchKey.__members__:
        if not key.startswith(_HARMLESS):
            try:
                operations = torch._C._dispatch_get_registrations_for_dispatch_key(key)
            except RuntimeError:  # the name of a class of keys, and no key
                continue
            kernels += [(operation, key) for operation in operations]
    return tuple(kernels)
