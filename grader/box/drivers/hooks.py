"""Hands a model of ours to a function that looks into it, and notes what is left behind in the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar

# By name, so that what is counted does not depend on what a submission puts in their place in torch.
from torch import Tensor, allclose, equal, is_grad_enabled, nn, no_grad, stack, tensor

from grader.box.binding.arguments import call_with
from grader.box.drivers import model as model_called
from grader.box.kinds import LEFT
from grader.box.plan import Build, Call, Entry
from grader.box.pristine import pristine
from grader.box.snapshot import Snapshot, one_step
from grader.errors import ArgumentMismatch


class Subject(nn.Module):
    """The model, beside the function that is to look into it."""

    def __init__(self, look: Callable[..., Any], model: nn.Module) -> None:
        """Hold both."""
        super().__init__()
        self.look, self.model = look, model


class Hooks:
    """Calls the entry point with a model and the case's other arguments; it gives back a list, one tensor a layer.

    The build's arguments name the `model` and give its sizes. What comes out are the tensors, stacked, and what the
    model says of the last argument afterwards; or else the counts `LEFT` of what was left behind: whatever a `Snapshot`
    finds in the model (or one where only a step of training shows something), parameters with other values,
    modules in another mode and settings of torch, parameters with a `.grad`, and frozen ones (one more for gradients
    that stay turned off).
    """

    is_class: ClassVar[bool] = False
    moves_weights: ClassVar[bool] = False

    def construct(self, found: Any, build: Build, contract: Entry) -> Any:
        """Build the model."""
        sizes = dict(build.arguments)
        return Subject(found, model_called(str(sizes.pop("model")))(**sizes))

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Let the function look, then look at the model; what is left behind is counted in both modes."""
        name, tokens = contract.arguments
        model, before = subject.model, _State(subject.model)
        given: dict[str, Any] = {name: model, tokens: handed[tokens]}
        look = partial(
            call_with,
            subject.look,
            given,
            order=contract.arguments,
            defaults=contract.defaults,
            described=f"`{contract.name}`",
        )
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
        """Return the counts `LEFT`."""
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
