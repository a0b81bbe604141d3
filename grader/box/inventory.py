"""What a module holds, found in one walk.

A plan builds a dozen modules, and six questions are asked of each. torch's own walks, one for each question, take
longer than all that is done with their answers.
"""

from __future__ import annotations

from typing import TypeVar

from torch import Tensor, nn

_Held = TypeVar("_Held", Tensor, nn.Module)


class Inventory:
    """The parts and the parameters of a module, by their paths, in torch's order.

    Attributes:
        module: the module itself.
        parts: every part under every path; the module itself under "".
        distinct: every part once, under its first path.
        parameters: every parameter under every path.
        unique: every parameter once, under its first path.
        lazy: the paths of parameters that have no shape yet.
    """

    __slots__ = ("distinct", "lazy", "module", "parameters", "parts", "unique")

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.parts: dict[str, nn.Module] = {}
        self.parameters: dict[str, Tensor] = {}
        self._walk(module, "")
        self.distinct = _each_once(self.parts)
        self.unique = _each_once(self.parameters)
        self.lazy = [path for path, parameter in self.unique.items() if nn.parameter.is_lazy(parameter)]

    @property
    def is_on_cpu(self) -> bool:
        """Whether all parameters and buffers are on the CPU."""
        buffers = (buffer for part in self.distinct.values() for buffer in part._buffers.values())
        return all(one is None or one.is_cpu for one in (*self.unique.values(), *buffers))

    def below(self, path: str) -> Inventory:
        """Return the inventory of one part."""
        return Inventory(self.parts[path]) if path else self

    def _walk(self, module: nn.Module, path: str) -> None:
        self.parts[path] = module
        prefix = f"{path}." if path else ""
        for name, parameter in module._parameters.items():
            if parameter is not None:
                self.parameters[prefix + name] = parameter
        for name, part in module._modules.items():
            if part is not None:
                self._walk(part, prefix + name)


def _each_once(found: dict[str, _Held]) -> dict[str, _Held]:
    known: dict[int, str] = {}
    for path, one in found.items():
        known.setdefault(id(one), path)
    return found if len(known) == len(found) else {path: found[path] for path in known.values()}
