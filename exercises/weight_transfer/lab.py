"""A function that copies weights from one module of ours into another.

The pair is made and given its weights like any module; at each call the function is handed fresh copies of both. What
it did shows in the target's output, in the same output after the source has been overwritten (shared memory shows),
in the source's own output, and in the gradients of whatever parameters both have by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn, softmax

from grader.box.binding.arguments import call_with
from grader.box.plan import Build, Call, Entry
from grader.box.pristine import pristine
from grader.box.snapshot import Snapshot, one_step
from grader.errors import ArgumentMismatch

_WEIGHTS = ("W_query", "W_key", "W_value")


class _Attention(nn.Module):
    """Unmasked self-attention; subclasses say how they hold their weights."""

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Map x (T, d_in) to (T, d_out)."""
        return _attend(*self.project(x))


def _attend(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    return softmax(queries @ keys.transpose(-2, -1) / keys.shape[-1] ** 0.5, dim=-1) @ values


class LinearAttention(_Attention):
    """Holds its weights in nn.Linear layers without biases."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, each (T, d_out)."""
        return self.W_query(x), self.W_key(x), self.W_value(x)


class ParameterAttention(_Attention):
    """Holds its weights in nn.Parameter objects of shape (d_in, d_out)."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, each (T, d_out)."""
        return x @ self.W_query, x @ self.W_key, x @ self.W_value


class _Pair(nn.Module):
    """A source and a target, with the function that is to carry weights from one to the other."""

    def __init__(self, source: nn.Module, target: nn.Module, transfer: Any) -> None:
        super().__init__()
        self.source, self.target = source, target
        self.transfer = transfer
        self.first: tuple[nn.Module, ...] = ()  # copies of both as they were given their weights

    def begin(self) -> None:
        """Put fresh copies in place of whatever the call before has left."""
        self.first = self.first or (deepcopy(self.source), deepcopy(self.target))
        self.source, self.target = (deepcopy(module) for module in self.first)


class Transfer:
    """Runs the function on a source with nn.Linear layers and a target with parameters.

    The outputs are the target's, the target's once more after the source was overwritten, and the source's in between.
    """

    is_class: ClassVar[bool] = False
    moves_weights: ClassVar[bool] = True

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Make the pair."""
        sizes = {name: value for name, value in build.arguments.items() if isinstance(value, int)}
        return _Pair(LinearAttention(**sizes), ParameterAttention(**sizes), found)

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Transfer, and look at both."""
        subject.begin()
        before = Snapshot(subject.source, subject.target, owned=False)
        given = {"source": subject.source, "target": subject.target}
        call_with(subject.transfer, given, order=contract.arguments, defaults={}, described=f"`{contract.name}`")
        x = handed["x"]
        _of_parameters(subject.target, x)
        _refuse_what_is_left(before, subject, x)
        output, own = _of_parameters(subject.target, x), subject.source(x)
        with torch.no_grad():
            held = [(parameter.data, parameter.data.clone()) for parameter in subject.source.parameters()]
            for memory, _ in held:
                memory.fill_(0.5)  # whoever else has it
            later = _of_parameters(subject.target, x)
            for memory, numbers in held:
                memory.copy_(numbers)  # the gradients are still to come
        return output, later, own


def _refuse_what_is_left(before: Snapshot, subject: _Pair, x: Tensor) -> None:
    """Look at both modules as they are after the transfer.

    Raises:
        ArgumentMismatch: something is otherwise than the numbers of the weights and who holds them.
    """
    if left := [*before.in_modules(), *before.in_settings()]:
        raise ArgumentMismatch(
            "after the transfer, source and target must be the same modules as before, without hooks, replaced methods "
            f"or changed settings of PyTorch; yours leaves {len(left)}"
        )
    target = subject.target
    held = [vars(target)["_parameters"][name] for name in _WEIGHTS]
    if not all(weight.requires_grad for weight in held):
        return  # the gradients say so
    fresh = deepcopy(subject.first[1])
    ours = [vars(fresh)["_parameters"][name] for name in _WEIGHTS]
    with torch.no_grad(), pristine():
        for weight, other in zip(held, ours, strict=True):
            if weight.shape != other.shape:
                return  # the outputs say so
            other.copy_(weight)
    one, other_one = one_step(partial(target, x), held), one_step(partial(fresh, x), ours)
    if one is None or other_one is None or not _alike(one, other_one):
        raise ArgumentMismatch(
            "after the transfer, one step of training must change the target's three parameters as in any module of "
            "its kind; in yours it fails or comes to something else"
        )


def _alike(one: list[Tensor], other: list[Tensor]) -> bool:
    with pristine():
        return all(torch.allclose(*pair, rtol=1e-5, atol=1e-8) for pair in zip(one, other, strict=True))


def _of_parameters(target: nn.Module, x: Tensor) -> Tensor:
    """Return what attention with the target's parameters gives, whatever class the target says it is by now.

    Raises:
        ArgumentMismatch: a weight is no parameter of the target any more.
    """
    held = [vars(target).get("_parameters", {}).get(name) for name in _WEIGHTS]
    for name, weight in zip(_WEIGHTS, held, strict=True):
        if type(weight) is not nn.Parameter:
            raise ArgumentMismatch(f"after the transfer, `target.{name}` must be an nn.Parameter; yours no longer is")
    return _attend(*(x @ weight for weight in held))
