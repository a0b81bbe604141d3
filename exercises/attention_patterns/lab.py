"""Hands a small model to a function that looks into it, and notes what is left behind in the model.

The function that names what it finds is driven here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar

from torch import Tensor, allclose, equal, int64, is_grad_enabled, nn, no_grad, relu, softmax, stack, tensor

from grader.box.binding.arguments import call_with
from grader.box.drivers import PlainFunction
from grader.box.plan import Build, Call, Entry
from grader.box.pristine import pristine
from grader.box.snapshot import Snapshot, one_step
from grader.errors import ArgumentMismatch

# What torch gives is imported by name, so that what is counted does not depend on what a submission puts in its place.
LEFT = ("hooks", "parameters", "modes", "gradients", "frozen")  # counts of what was left behind in the model
NAMES = "names"  # the argument that is not handed over: the names that there are, with spaces between


class Subject(nn.Module):
    """The model, beside the function that is to look into it."""

    def __init__(self, look: Callable[..., Any], model: nn.Module) -> None:
        super().__init__()
        self.look, self.model = look, model


class Hooks:
    """Calls the entry point with a model and the case's other arguments; it gives back a list, one tensor a layer.

    The build's arguments give the model's sizes. What comes out are the tensors, stacked, and what the
    model says of the last argument afterwards; or else the counts `LEFT` of what was left behind: whatever a `Snapshot`
    finds in the model (or one where only a step of training shows something), parameters with other values,
    modules in another mode and settings of torch, parameters with a `.grad`, and frozen ones (one more for gradients
    that stay turned off).
    """

    is_class: ClassVar[bool] = False
    moves_weights: ClassVar[bool] = False

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Build the model."""
        sizes: dict[str, Any] = {**build.arguments}
        return Subject(found, Reader(**sizes))

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Let the function look, then look at the model; what is left behind is counted in both modes."""
        name, tokens = contract.arguments
        model, before = subject.model, _State(subject.model)
        given: dict[str, Any] = {name: model, tokens: handed[tokens]}
        order, defaults, named = contract.arguments, contract.defaults, f"`{contract.name}`"
        look = partial(call_with, subject.look, given, order=order, defaults=defaults, described=named)
        result = look()
        if call.outputs[0].name in LEFT:
            first = before.left_behind()
            model.eval()  # who calls `train()` in the end leaves the first look's mode as it was, and not this one's
            again = _State(model)
            look()
            second = again.left_behind()
            counts = [max(pair) for pair in zip(first, second, strict=True)]
            counts[0] = counts[0] or int(not before.trains_alike(handed[tokens]))
            return tuple(tensor(count) for count in counts)
        with no_grad():
            return stacked(result, contract), model(handed[tokens])


class _State:
    """What a model was like before somebody looked into it."""

    def __init__(self, model: nn.Module) -> None:
        self.model, self.copy, self.snapshot = model, deepcopy(model), Snapshot(model)
        with pristine():
            self.values = [parameter.detach().clone() for parameter in model.parameters()]
            self.modes = {module: module.training for module in model.modules()}

    def left_behind(self) -> list[int]:
        hooks, settings, off = self.snapshot.in_modules(), self.snapshot.in_settings(), not is_grad_enabled()
        with pristine():
            parameters = [*self.model.parameters()]
            pairs = zip(parameters, self.values, strict=False)
            return [
                len(hooks),
                sum(not equal(parameter, value) for parameter, value in pairs),
                sum(module.training is not mode for module, mode in self.modes.items()) + len(settings),
                sum(parameter.grad is not None for parameter in parameters),
                sum(not parameter.requires_grad for parameter in parameters) + off,
            ]

    def trains_alike(self, tokens: Tensor) -> bool:
        """Return whether a step of training comes to what it comes to in a copy that nobody had.

        The copy gets the numbers by now and is frozen where the model is, since both are counted by themselves.
        """
        pairs = [*zip(self.model.parameters(), self.copy.parameters(), strict=True)]
        with no_grad(), pristine():
            if any(parameter.shape != as_before.shape for parameter, as_before in pairs):
                return True  # the count of parameters with other values says so
            for parameter, as_before in pairs:
                as_before.copy_(parameter)
                as_before.requires_grad_(parameter.requires_grad)
                parameter.grad = None
        one, other = (_trained(module, tokens) for module in (self.model, self.copy))
        if one is None or other is None:
            return one is other
        with pristine():
            return all(allclose(*pair, rtol=1e-5, atol=1e-8) for pair in zip(one, other, strict=True))


def _trained(module: nn.Module, tokens: Tensor) -> list[Tensor] | None:
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    return one_step(partial(module, tokens), parameters)


def stacked(result: Any, contract: Entry) -> Tensor:
    """Return a list of tensors of one shape as one tensor.

    Raises:
        ArgumentMismatch: it is no such list.
    """
    wanted = f"`{contract.name}` must return a list with one tensor per layer"
    if not isinstance(result, list | tuple):
        raise ArgumentMismatch(f"{wanted}; yours returns a {type(result).__name__}")
    if odd := [type(item).__name__ for item in result if type(item) is not Tensor]:
        raise ArgumentMismatch(f"{wanted}; yours holds a {odd[0]}")
    shapes = sorted({tuple(item.shape) for item in result})
    if len(shapes) != 1:
        seen = f"tensors of the shapes {', '.join(map(str, shapes))}" if shapes else "nothing"
        raise ArgumentMismatch(f"{wanted}, all of one shape; yours holds {seen}")
    return stack(tuple(result))


class Names(PlainFunction):
    """Calls the entry point, and turns names into numbers."""

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Call it once.

        Raises:
            ArgumentMismatch: something is returned that is no list of such names.
        """
        known = str(handed[NAMES]).split()
        given = {name: value for name, value in handed.items() if name != NAMES}
        result = super().run(subject, given, call, contract)
        if not isinstance(result, list | tuple):
            raise ArgumentMismatch(f"`{contract.name}` must return a list of names; yours returns {result!r:.80}")
        odd = [name for name in result if not isinstance(name, str) or name not in known]
        if odd:
            there = ", ".join(f"`{name}`" for name in known)
            raise ArgumentMismatch(f"`{contract.name}` must name each with one of {there}; yours says {odd[0]!r:.80}")
        return tensor([known.index(name) for name in result], dtype=int64)


class ReaderAttention(nn.Module):
    """Self-attention of a `Reader`; it shows its weights beside its output."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.W_query, self.W_key, self.W_value, self.W_out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output (B, T, width) and the weights (B, h, T, T) of `x`, (B, T, width)."""
        query, key, value = (self.split(project(x)) for project in (self.W_query, self.W_key, self.W_value))
        weights = softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
        return self.W_out((weights @ value).transpose(1, 2).flatten(-2)), weights

    def split(self, x: Tensor) -> Tensor:
        """Return (B, T, width) as heads, (B, h, T, width / h)."""
        return x.view(*x.shape[:-1], self.num_heads, -1).transpose(1, 2)


class ReaderLayer(nn.Module):
    """One layer of a `Reader`: its `attention`, then two linear layers, each with a residual connection and a norm."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.attention = ReaderAttention(width, num_heads)
        self.attention_norm, self.norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inner, self.outer = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, T, width)."""
        x = self.attention_norm(x + self.attention(x)[0])
        out: Tensor = self.norm(x + self.outer(relu(self.inner(x))))
        return out


class Reader(nn.Module):
    """A small encoder that is there to be looked into: `layers[i].attention` returns (output, weights)."""

    def __init__(self, *, vocab_size: int, width: int, num_heads: int, num_layers: int, time: int) -> None:
        super().__init__()
        self.embedding, self.position = nn.Embedding(vocab_size, width), nn.Embedding(time, width)
        self.layers = nn.ModuleList(ReaderLayer(width, num_heads) for _ in range(num_layers))
        self.output = nn.Linear(width, vocab_size)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return a logit for every word at every position of `tokens`, (B, T): (B, T, vocab_size)."""
        x = self.embedding(tokens) + self.position.weight[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        logits: Tensor = self.output(x)
        return logits
