"""Trains a model of ours around what the submission defines, and asks it afterwards; it decides nothing."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from grader.box.models import Copier, Model
from grader.box.plan import Build, Call, Entry
from grader.box.translator import Translator

MODELS: Mapping[str, Callable[..., Model]] = {"copier": Copier, "translator": Translator}


class Learner(nn.Module):
    """A model with its optimiser, which goes on where the last call left it."""

    model: Model

    def __init__(self, model: Model) -> None:
        """Begin with `model` as it is."""
        super().__init__()
        self.model = model
        self._optimiser: torch.optim.Optimizer | None = None
        self._spoke = False

    def learn(self, source: Tensor, target: Tensor, learning_rate: float) -> tuple[Tensor, Tensor]:
        """Take one step for each batch of `source` and `target`, (steps, B, T).

        Returns:
            The loss before each step, (steps,), and the seconds that all of them took, ().
        """
        if self._optimiser is None:
            self._optimiser = torch.optim.Adam(self.model.parameters(), lr=learning_rate)
        losses, start = [], time.perf_counter()
        for inputs, wanted in zip(source, target, strict=True):
            with self._hushed():
                loss = self.model.loss(inputs, wanted)
                self._optimiser.zero_grad()
                torch.autograd.backward(loss)
            self._optimiser.step()
            losses.append(loss.detach())
        return torch.stack(losses), torch.tensor(time.perf_counter() - start)

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
        """Forget `text`."""
        return len(text)


class Train:
    """In training mode a call trains; otherwise it asks for answers.

    The build's arguments name the `model` and give its sizes.
    """

    is_class: ClassVar[bool] = False
    moves_weights: ClassVar[bool] = False

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Build the model around the entry point."""
        sizes = dict(build.arguments)
        return Learner(MODELS[str(sizes.pop("model"))](found, contract, **sizes))

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Train on the batches handed over, or answer."""
        return subject.learn(**handed) if call.training else subject.answer(**handed)
