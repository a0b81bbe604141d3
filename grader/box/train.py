"""Trains a model of ours around what the submission defines, and asks it afterwards; it decides nothing.

The models are their labs'. They are made of plain torch and hold no attention of their own: each is built around what
the submission defines, and begins with the weights that the plan brings along. Tokens: 0 pads, 1 begins a sequence, the
words follow.

The functions of torch are those that this module held before the submission was loaded, so that a submission which puts
others in their place in torch changes nothing here. What comes out is a claim all the same: a submission shares this
process, and `grader.checks.learning` says how claims are held against the weights that the training leaves.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from time import perf_counter
from typing import Any, ClassVar, Protocol

from torch import Tensor, nn, no_grad, stack, tensor
from torch.autograd import backward
from torch.optim import Adam

from grader.box.binding.arguments import call_with
from grader.box.plan import Build, Call, Entry
from grader.errors import ArgumentMismatch

PAD, BEGIN = 0, 1
FIRST_WORD = 2
_clear, _step = Adam.zero_grad, Adam.step  # as they are before a submission is loaded


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


class Learner(nn.Module):
    """A model with its optimiser, which goes on where the last call left it."""

    model: Model

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model
        self._optimiser: Adam | None = None
        self._spoke = False

    def learn(self, source: Tensor, target: Tensor, learning_rate: float) -> tuple[Tensor, Tensor]:
        """Take one step for each batch of `source` and `target`, (steps, B, T).

        Returns:
            The loss before each step, (steps,), and the seconds that all of them took, ().
        """
        if self._optimiser is None:
            self._optimiser = Adam(self.model.parameters(), lr=learning_rate)
        losses, start = [], perf_counter()
        for inputs, wanted in zip(source, target, strict=True):
            with self._hushed():
                loss = self.model.loss(inputs, wanted)
                _clear(self._optimiser)
                backward(loss)
            _step(self._optimiser)
            losses.append(loss.detach())
        return stack(losses), tensor(perf_counter() - start)

    @no_grad()
    def examine(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the losses of batches as for `learn`, (steps,), and learn nothing."""
        losses = []
        for inputs, wanted in zip(source, target, strict=True):
            with self._hushed():
                losses.append(self.model.loss(inputs, wanted))
        return stack(losses)

    def answer(self, source: Tensor) -> tuple[Tensor, ...]:
        """Return what the model makes of sequences that it has not seen."""
        with self._hushed():
            return self.model.answer(source)

    @contextmanager
    def _hushed(self) -> Iterator[None]:
        """Let the submission print during the very first step only; whoever prints a tensor would fill a book."""
        with contextlib.redirect_stdout(_Nowhere()) if self._spoke else nullcontext():
            yield
        self._spoke = True


class _Nowhere(io.TextIOBase):
    """Takes what is printed and forgets it."""

    def write(self, text: str) -> int:
        return len(text)


class Train:
    """In training mode a call trains; otherwise it asks for the losses of a `target`, or for answers.

    A lab says which `model` is built around the entry point; the build's arguments give its sizes.
    """

    is_class: ClassVar[bool] = False
    moves_weights: ClassVar[bool] = False
    model: ClassVar[Callable[..., Model]]

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Build the model around the entry point."""
        return Learner(self.model(found, contract, **build.arguments))

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Train on the batches handed over, look at their losses, or answer."""
        if call.training:
            return subject.learn(**handed)
        if "target" in handed:
            return subject.examine(handed["source"], handed["target"])
        return subject.answer(**handed)


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
