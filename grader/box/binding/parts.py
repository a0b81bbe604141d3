"""What a module holds, and which of its parts are those that a contract names, `encoder_attention` or `encoder_lstm`.

Where no part has the name, each module that could hold the weights is a candidate: one with exactly the parameters of
an LSTM or a norm, or with as many numbers as the projections have. Words that a path and the contract share, and the
order of construction, say which of several assignments comes first; behaviour decides (see `grader.judge.placing`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import TypeVar

from torch import Tensor, nn

from grader.box.binding.layouts import ContractWeight, Parameter
from grader.box.binding.names import exact_names
from grader.box.plan import Holding, Weight
from grader.errors import Ungradable

Members = tuple[ContractWeight, ...]  # the weights of one part

_MOST = 24  # assignments of parts, the most likely of them
_SHORTEST = 3  # letters of an abbreviation, `enc` of `encoder`
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
        self.parts = dict(_parts(module))
        self.parameters: dict[str, Tensor] = {
            f"{path}.{name}" if path else name: parameter
            for path, part in self.parts.items()
            for name, parameter in part._parameters.items()
            if parameter is not None
        }
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

    def without_numbers(self) -> tuple[Parameter, ...]:
        """Return what is known of every parameter but its values.

        Raises:
            Ungradable: one has no shape yet.
        """
        for path in self.lazy:
            raise Ungradable(f"`{path}` has no shape yet; replace the lazy layer with one that gets the input width")
        first = {id(parameter): path for path, parameter in self.unique.items()}
        owners = (
            _owner(self.parts[path.rpartition(".")[0]]) if path.endswith("weight") else "plain"
            for path in self.parameters
        )
        return tuple(
            Parameter(path, tuple(p.shape), owner, owner == "plain" and p.is_contiguous(), first[id(p)])
            for (path, p), owner in zip(self.parameters.items(), owners, strict=True)
        )


def _parts(module: nn.Module, path: str = "") -> Iterator[tuple[str, nn.Module]]:
    """Yield a module and all below it, as torch's own walk does, which a submission may replace."""
    yield path, module
    for name, part in module._modules.items():
        if part is not None:
            yield from _parts(part, f"{path}.{name}" if path else name)


def _each_once(held: dict[str, _Held]) -> dict[str, _Held]:
    known: dict[int, str] = {}
    for path, one in held.items():
        known.setdefault(id(one), path)
    return held if len(known) == len(held) else {path: held[path] for path in known.values()}


def _owner(module: nn.Module) -> str:
    if isinstance(module, nn.Linear):
        return "linear"
    if isinstance(module, nn.Embedding):
        return "table"
    return "conv" if isinstance(module, nn.Conv1d | nn.Conv2d) else "plain"


def by_part(inventory: Inventory, weights: Sequence[Weight]) -> Mapping[str, Members]:
    """Return the weights by the part that holds them.

    Those of an LSTM or a norm that has its name are found from the whole module, which is called "".
    """
    parts: dict[str, Members] = {}
    for weight in weights:
        scope, _, local = weight.name.rpartition(".")
        if weight.holding is Holding.EXACT and _is_owned(weight.name, inventory):
            scope, local = "", weight.name
        spec = ContractWeight(
            local, weight.name, tuple(weight.matrix.shape), weight.bias is not None, weight.heads, weight.holding,
            weight.either, weight.ordered, weight.biased_by,
        )  # fmt: skip
        parts[scope] = (*parts.get(scope, ()), spec)
    return parts


def paths_of_parts(inventory: Inventory, parts: Mapping[str, Members]) -> list[Mapping[str, str]]:
    """Return the ways to take modules for `parts`, the most likely first: the path of each.

    Raises:
        Ungradable: a part has no module that it could be.
    """
    named = {scope: _named(inventory.parts, scope) for scope in parts}
    lost = [scope for scope, path in named.items() if path is None]
    known: dict[str, str] = {scope: path for scope, path in named.items() if path is not None}
    if not lost:
        return [known]
    options = [_candidates(inventory, parts[scope], scope, set(known.values()) - {""}) for scope in lost]
    order = {path: rank for rank, path in enumerate(inventory.parts)}
    ways = [paths for paths in islice(product(*options), 1000) if len(set(paths)) == len(paths)]
    if not ways:
        raise Ungradable(_missing(inventory.module, lost))
    ways.sort(key=lambda paths: _cost(lost, paths, order))
    return [known | dict(zip(lost, paths, strict=True)) for paths in ways[:_MOST]]


def _is_owned(name: str, inventory: Inventory) -> bool:
    """Return whether a part, or a parameter, has the name of this weight's owner, or of the weight."""
    scope = name.rpartition(".")[0]
    owners = any(f".{path}".endswith(f".{scope}") for path in inventory.parts)
    return owners or any(f".{path}".endswith(f".{one}") for one in exact_names(name) for path in inventory.parameters)


def _named(inside: Mapping[str, nn.Module], scope: str) -> str | None:
    """Return the path of the part called `scope`: of the module itself, or else the only one further in.

    Raises:
        Ungradable: there are several.
    """
    if scope in inside:
        return scope
    called = {path: part for path, part in inside.items() if f".{path}".endswith(f".{scope}")}
    if len({id(part) for part in called.values()}) > 1:
        names = ", ".join(f"`{name}`" for name in called)
        raise Ungradable(f"`{scope}` exists more than once: {names}")
    return next(iter(called), None)


def _candidates(inventory: Inventory, members: Members, scope: str, taken: set[str]) -> list[str]:
    """Return the paths of the modules that could be the part `scope`, each module once.

    Raises:
        Ungradable: there is none.
    """
    exact = all(spec.holding is Holding.EXACT for spec in members)
    fits = _has_exactly if exact else _has_as_many
    untaken = ((path, part) for path, part in inventory.distinct.items() if path and path not in taken)
    fitting = [path for path, part in untaken if fits(part, members)]
    if not fitting:
        raise Ungradable(_missing(inventory.module, [scope]))
    return [path for path in fitting if not any(path.startswith(f"{other}.") for other in fitting)]


def _has_exactly(part: nn.Module, members: Members) -> bool:
    """Return whether a part itself holds the parameters of `members`, and no other."""
    own = {name: tuple(parameter.shape) for name, parameter in part.named_parameters(recurse=False)}
    return len(own) == len(members) and all(
        any(own.get(name) == spec.shape for name in exact_names(spec.name)) for spec in members
    )


def _has_as_many(part: nn.Module, members: Members) -> bool:
    """Return whether a part holds as many numbers in its matrices as the projections of `members` have."""
    sizes = [p.numel() for name, p in part.named_parameters() if p.dim() > 1 and name.rpartition(".")[2] != "bias"]
    return sum(sizes) == sum(prod(spec.shape) for spec in members)


def _cost(scopes: Sequence[str], paths: Sequence[str], order: Mapping[str, int]) -> tuple[int, int]:
    """Return what speaks against an assignment: words that are not shared, and another order than the contract's."""
    shared = sum(_shared(scope, path) for scope, path in zip(scopes, paths, strict=True))
    ranks = [order[path] for path in paths]
    return -shared, sum(one > other for i, one in enumerate(ranks) for other in ranks[i + 1 :])


def _shared(scope: str, path: str) -> int:
    words = list(_words(path))
    return sum(any(_alike(word, other) for other in words) for word in _words(scope))


def _words(text: str) -> Iterator[str]:
    return (word.lower() for word in re.findall(r"[A-Z]?[a-z]+", text))


def _alike(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) >= _SHORTEST and (one.startswith(other) or other.startswith(one)))


def _missing(module: nn.Module, scopes: Sequence[str]) -> str:
    names = ", ".join(f"`{name}`" for name in dict(module.named_children())) or "none"
    said = " and ".join(f"`{scope}`" for scope in scopes)
    return f"your module must have {said} among its submodules; it has: {names}"
