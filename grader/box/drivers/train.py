"""Trains a model of ours around what the submission defines, and asks it afterwards; it decides nothing.

It calls the functions of torch that it held before the submission was loaded, so that a submission which puts others in
their place in torch changes nothing here. What comes out is a claim all the same: a submission shares this process, and
`grader.checks.learning` says how claims are held against the weights that the training leaves.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from time import perf_counter
from typing import Any, ClassVar

from torch import Tensor, nn, no_grad, stack, tensor
from torch.autograd import backward
from torch.optim import Adam

from grader.box.drivers import model
from grader.box.models import Model
from grader.box.plan import Build, Call, Entry

_clear, _step = Adam.zero_grad, Adam.step  # as they are before a submission is loaded


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

    The build's arguments name the `model` and give its sizes.
    """

    is_class: ClassVar[bool] = False
    moves_weights: ClassVar[bool] = False

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Build the model around the entry point."""
        sizes = dict(build.arguments)
        return Learner(model(str(sizes.pop("model")))(found, contract, **sizes))

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Train on the batches handed over, look at their losses, or answer."""
        if call.training:
            return subject.learn(**handed)
        if "target" in handed:
            return subject.examine(handed["source"], handed["target"])
        return subject.answer(**handed)
