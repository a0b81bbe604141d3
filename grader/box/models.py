"""What the small models have in common that train what a submission wrote.

They are made of plain torch and hold no attention of their own: each is built around what the submission defines, and
begins with the weights that the plan brings along. Tokens: 0 pads, 1 begins a sequence, the words follow. Each model is
a module of its own, and reaches the sandbox with the jobs that need it only; see `grader.box.drivers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from torch import Tensor, nn

from grader.box.binding.arguments import call_with
from grader.box.plan import Entry
from grader.errors import ArgumentMismatch

PAD, BEGIN = 0, 1
FIRST_WORD = 2


class Model(Protocol):
    """What can be trained and asked; it is a module."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return what is trained."""
        ...

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """Return what one batch, (B, T) each, costs."""
        ...

    def answer(self, source: Tensor) -> tuple[Tensor, ...]:
        """Return what the model makes of sequences it has not seen."""
        ...


Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]


def attending(found: Callable[..., Any], contract: Entry) -> Attend:
    """Return the submission's attention, (query, key, value, mask) to (output, weights), with its output looked at.

    Raises, when called:
        ArgumentMismatch: it does not return two things, or the first one does not fit the queries and values.
    """

    def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        given = dict(zip(contract.arguments, (query, key, value, mask), strict=True))
        result = call_with(
            found, given, order=contract.arguments, defaults=contract.defaults, described=f"`{contract.name}`"
        )
        output, weights = two(result, contract, ("output", "weights"))
        fitting(output, (*query.shape[:-1], value.shape[-1]), contract, "output")
        return output, weights

    return attend


def two(result: Any, contract: Entry, names: tuple[str, str]) -> tuple[Any, Any]:
    """Return the two things that an attention must return.

    Raises:
        ArgumentMismatch: they are not two.
    """
    if not isinstance(result, tuple | list) or len(result) != 2:
        wanted = ", ".join(names)
        raise ArgumentMismatch(f"`{contract.name}` must return ({wanted}); yours returns a {type(result).__name__}")
    return result[0], result[1]


def fitting(value: Any, shape: tuple[int, ...], contract: Entry, name: str) -> None:
    """Refuse what the model cannot go on with.

    Raises:
        ArgumentMismatch: `value` is no tensor of `shape`.
    """
    if not isinstance(value, Tensor) or tuple(value.shape) != shape:
        seen = tuple(value.shape) if isinstance(value, Tensor) else f"a {type(value).__name__}, not a tensor"
        raise ArgumentMismatch(
            f"inside the model, the {name} of `{contract.name}` must have shape {shape}; yours is {seen}"
        )
