"""Hands a model of ours to a function that looks into it, and notes what is left behind in the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

# By name, so that what is counted does not depend on what a submission puts in their place in torch.
from torch import Tensor, equal, is_grad_enabled, nn, no_grad, stack, tensor
from torch.nn.modules.module import (
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_forward_hooks,
    _global_forward_pre_hooks,
)

from grader.box.arguments import call_with
from grader.box.drivers import model as model_called
from grader.box.kinds import LEFT
from grader.box.plan import Build, Call, Entry
from grader.errors import ArgumentMismatch

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_FOR_ALL = (_global_forward_hooks, _global_forward_pre_hooks, _global_backward_hooks, _global_backward_pre_hooks)
_HELD = ("_buffers", "_parameters", "_modules")


class Subject(nn.Module):
    """The model, beside the function that is to look into it."""

    def __init__(self, look: Callable[..., Any], model: nn.Module) -> None:
        """Hold both."""
        super().__init__()
        self.look, self.model = look, model
        self.build = _Build(model)


class Hooks:
    """Calls the entry point with a model and the case's other arguments; it gives back a list, one tensor a layer.

    The build's arguments name the `model` and give its sizes. What comes out are the tensors, stacked, and what the
    model says of the last argument afterwards; or else the counts `LEFT` of what was left behind: hooks and whatever
    `_Build` counts, parameters with other values, modules in another mode, parameters with a `.grad`, and frozen ones
    (one more for gradients that stay turned off).
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
        model, before = subject.model, _State(subject.model, subject.build)
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
            first = before.left_behind(model)
            model.eval()  # who calls `train()` in the end leaves the first look's mode as it was, and not this one's
            before = _State(model, subject.build)
            look()
            again = before.left_behind(model)
            return tuple(tensor(max(counts)) for counts in zip(first, again, strict=True))
        with no_grad():
            return stacked(result, contract), model(handed[tokens])


class _Build:
    """How a model was built, before anybody had it."""

    def __init__(self, model: nn.Module) -> None:
        self.modules = {module: _names(module) for module in model.modules()}
        self.classes = {kind: dict(vars(kind)) for kind in {nn.Module, *map(type, self.modules)}}

    def changes(self, model: nn.Module) -> int:
        """Count the modules, names and classes that are others by now."""
        modules = self.modules.keys() ^ set(model.modules())
        names = (name for module, names in self.modules.items() for name in names ^ _names(module))
        classes = (kind for kind, held in self.classes.items() if dict(vars(kind)) != held)
        return sum(1 for _ in (*modules, *names, *classes))


class _State:
    """What a model was like before somebody looked into it."""

    def __init__(self, model: nn.Module, build: _Build) -> None:
        self.values = [parameter.detach().clone() for parameter in model.parameters()]
        self.modes = {module: module.training for module in model.modules()}
        self.hooks, self.build = _hooks(model), build

    def left_behind(self, model: nn.Module) -> list[int]:
        """Return the counts `LEFT`."""
        pairs = zip(model.parameters(), self.values, strict=True)
        return [
            _hooks(model) - self.hooks + self.build.changes(model),
            sum(not equal(parameter, value) for parameter, value in pairs),
            sum(module.training is not mode for module, mode in self.modes.items()),
            sum(parameter.grad is not None for parameter in model.parameters()),
            sum(not parameter.requires_grad for parameter in model.parameters()) + (not is_grad_enabled()),
        ]


def _hooks(model: nn.Module) -> int:
    """Count the hooks in a model, and those of all modules."""
    own = (vars(module)[kind] for module in model.modules() for kind in _HOOKS)
    return sum(len(hooks) for hooks in (*own, *_FOR_ALL))


def _names(module: nn.Module) -> set[str]:
    """Return the names of what a module holds: parameters, buffers, parts, and what hides an attribute of its class.

    A value under a new name is accepted: many programs that draw attention keep it in the module that has computed it.
    """
    held = vars(module)
    return {*(name for kind in _HELD for name in held[kind]), *(name for name in held if hasattr(type(module), name))}


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
