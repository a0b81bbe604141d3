"""How a module may lay a projection out: views of parameters as columns of the canonical matrix, and their paths.

The same view that a weight is written through reads its gradient, so a layout is said once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from torch import Tensor, nn

View = Callable[[Tensor], Tensor]

_NUMBERED = re.compile(r"(?<=_)[0-9]+$")
_HEAD = re.compile(r"((attn_|attention_)?head_?)?(?P<number>[0-9]+)")


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Columns `start` to `stop` of a canonical tensor, or its rows `above` to `below`, as a view of one parameter."""

    path: str
    parameter: Tensor
    view: View
    start: int
    stop: int
    note: str = ""
    above: int = 0
    below: int | None = None

    def of(self, canonical: Tensor) -> Tensor:
        """Return the part of a canonical tensor that this is."""
        whole = self.start == 0 and self.stop == canonical.shape[-1]
        columns = canonical if whole else canonical[..., self.start : self.stop]
        return columns if self.below is None else columns[self.above : self.below]


def as_is(parameter: Tensor) -> Tensor:
    """Show (in, out) as it lies."""
    return parameter


def transposed(parameter: Tensor) -> Tensor:
    """Show (out, in), as nn.Linear keeps it, as (in, out)."""
    return parameter.T


def column(parameter: Tensor) -> Tensor:
    """Show a vector (in,) as (in, 1)."""
    return parameter.unsqueeze(-1)


def head(index: int) -> View:
    """Show one head of (heads, in, width) as (in, width)."""
    return lambda parameter: parameter[index]


def heads_inside(parameter: Tensor) -> Tensor:
    """Show (in, heads, width) as (in, heads * width)."""
    return parameter.flatten(1)


def rows(start: int, count: int) -> View:
    """Show a part of a fused nn.Linear weight (all parts, in) as (in, count)."""
    return lambda parameter: parameter[start : start + count].T


def columns(start: int, count: int) -> View:
    """Show a part of a fused (in, all parts), or of a fused bias, as its last `count` columns."""
    return lambda parameter: parameter[..., start : start + count]


def bias_blocks(size: int, found: list[tuple[str, Tensor]]) -> tuple[Piece, ...]:
    """Return the pieces of a bias of `size` entries that is kept in equal blocks, one per head, or in one."""
    width = size // len(found)
    return tuple(
        Piece(path, parameter, lambda p: p.reshape(-1), number * width, (number + 1) * width)
        for number, (path, parameter) in enumerate(found)
    )


def entries(start: int, count: int) -> View:
    """Show `count` entries of a fused bias, however many axes it has."""
    return lambda parameter: parameter.reshape(-1)[start : start + count]


@lru_cache(maxsize=4096)  # a plan builds a dozen modules with the same paths
def stem(path: str, leaf: str, words: frozenset[str]) -> str | None:
    """Return the name that says what a parameter is: `attn.heads.0.q_proj.weight` is a `q_proj`.

    It is the last one among `words`, so that `query.linear.weight` is a `query`; else the last one. `leaf` is `weight`
    or `bias`; a path that ends in the other one has no stem. A trailing number is a head's.
    """
    parts = path.split(".")
    if parts[-1] in ("weight", "bias") and parts.pop() != leaf:
        return None
    names = [part for part in reversed(parts) if not part.isdigit()]
    return next((name for name in names if name in words), names[0] if names else None)


def is_item(path: str) -> bool:
    """Return whether the parameter, or the layer that owns it, is an item of a list: `qkv.0.weight`."""
    return path.removesuffix(".weight").rpartition(".")[2].isdigit()


def pattern(path: str) -> str:
    """Return a path without the numbers of its heads: the same for all heads of a list, and for `q_0`, `q_1`."""
    return ".".join("#" if _HEAD.fullmatch(part) else _NUMBERED.sub("#", part) for part in path.split("."))


def block_index(path: str) -> int | None:
    """Return the last number in a path, which is the head's where there is one module per head: `heads.0`, `head_0`."""
    found = (_HEAD.fullmatch(part) for part in path.split("."))
    numbers = [int(match["number"]) for match in found if match]
    return numbers[-1] if numbers else None


def bias_path(path: str) -> str:
    """Return where the bias beside the weight at `path` would be; empty where a parameter stands by itself."""
    owner, _, last = path.rpartition(".")
    return f"{owner}.bias" if owner and last == "weight" else ""


def unregistered(module: nn.Module) -> str:
    """Return a hint where layers are kept in a plain list, which hides them from PyTorch; empty otherwise."""
    for name, value in vars(module).items():
        layers = (item for item in value if isinstance(item, nn.Module)) if isinstance(value, list | tuple) else ()
        if any(layer._parameters or layer._modules for layer in layers):
            return f" `self.{name}` is a plain list of layers, which PyTorch does not register: use nn.ModuleList."
    return ""


def unregistered_tensor(parts: Iterable[nn.Module], names: Collection[str]) -> str:
    """Return a hint where a part keeps one of `names` as a tensor that is no parameter; empty otherwise."""
    for part in parts:
        for name, value in (*vars(part).items(), *part._buffers.items()):
            if name in names and isinstance(value, Tensor):
                kind = "a buffer" if name in part._buffers else "a plain tensor"
                return f" `self.{name}` is {kind}, which is not trained: wrap it in nn.Parameter."
    return ""


def axes(shape: tuple[int, ...], index: tuple[int | None, ...]) -> View:
    """Show one part of a fused axis: the first axis is cut into `shape`, and at `index` (None: all of it) is taken.

    The axes of a fused projection lie as their author liked: by parts, by heads, or by features. What is left is
    (width,) of a bias, and (in, width) of a matrix that is kept as (all parts, in).
    """
    where = tuple(slice(None) if number is None else number for number in index)

    def view(parameter: Tensor) -> Tensor:
        part = parameter.view(*shape, *parameter.shape[1:])[where]
        return part.T if part.dim() > 1 else part

    return view


def span(start: int, count: int) -> View:
    """Show `count` outputs of (all parts, in) as (in, count), or `count` entries of a bias."""

    def view(parameter: Tensor) -> Tensor:
        part = parameter[start : start + count]
        return part.T if part.dim() > 1 else part

    return view


def flat(view: View) -> View:
    """Show a bias, however many axes it has, through a view that is made for one axis."""
    return lambda parameter: view(parameter.reshape(-1))


def within(index: int, view: View) -> View:
    """Show one matrix of a stack through a view that is made for a matrix."""
    return lambda parameter: view(parameter[index])


def flipped(view: View) -> View:
    """Show (in, all parts) through a view that is made for (all parts, in)."""
    return lambda parameter: view(parameter.T)


def squeezed(view: View, shape: tuple[int, ...]) -> View:
    """Show a parameter that has axes of length one besides `shape` through a view that is made for `shape`."""
    return lambda parameter: view(parameter.view(shape))
