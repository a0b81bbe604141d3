"""What a function leaves behind in a model of ours or in torch: found by walking torch, each in a fork of its own."""

from __future__ import annotations

import inspect
import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
import torch
from torch import nn
from torch.backends import mha
from torch.optim import optimizer
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.box.inline import observe_all
from grader.box.observations import CallSeen
from grader.box.plan import Plan
from grader.exercise.catalog import ROOT, Exercise, read_exercise
from grader.judge.sheet import draw_up

Leave = Callable[[nn.Module], Any]  # leaves something in a module, and returns what takes it back, if anything does

_SPACES = (
    torch, torch.autograd, torch.autograd.graph, torch.autograd.grad_mode, nn.modules.module, optimizer, mha,
    torch.__future__, torch.overrides, torch.backends.cuda, torch.backends.mkldnn, torch.utils.deterministic,
)  # fmt: skip
# A function takes the first of these that it can, from either end: one turns off what is on, the other on what is off.
_ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (False,), (2,), ("high",), ("meta",), ("cpu", torch.float16), ("cpu", True), (torch.float16,), (torch.float32,),
    (lambda x: x, lambda x: x), ("no",), ("torch.HalfTensor",), ("cpu",), (), (True,),
)  # fmt: skip
# What may stay as somebody sets it, since nothing that a model computes or learns depends on it.
_MOST_SECONDS = 30  # of one fork
_HARMLESS = {
    "set_printoptions": "how tensors are printed",
    "set_rng_state": "the generator is seeded before every call",
    "set_warn_always": "how often torch warns",
    "set_num_interop_threads": "refused once anything ran",
    "set_autocast_gpu_dtype": "no graphics card takes part",
    "set_autocast_ipu_dtype": "as above",
    "set_autocast_ipu_enabled": "as above",
    "set_autocast_xla_dtype": "as above",
    "set_autocast_xla_enabled": "as above",
    "Stream": "as above",
    "Node.register_hook": "what adds up gradients hands nothing on",
    "_MultiHandle": "holds handles, and sets nothing",
    "enable_grad": "they are enabled already",
    "enable_reentrant_dispatch": "makes a manager, which sets something inside a dispatch mode only",
    "set_override_stale_capture_stream": "as above",
    "set_warn_on_accumulate_grad_stream_mismatch": "as above",
}


def nothing(*_: Any, **__: Any) -> None:
    """Be a hook that changes nothing."""


def _parameter(module: nn.Module) -> nn.Parameter:
    return next(module.parameters())


def _hooks() -> Iterator[tuple[str, Leave]]:
    """Yield a way for each method and function of torch that registers a hook."""
    for name in dir(nn.Module):
        if "register" in name and "hook" in name and callable(getattr(nn.Module, name)):
            yield f"Module.{name}", lambda module, name=name: getattr(_last(module), name)(nothing)
    for name in dir(torch.Tensor):
        if "register" in name and "hook" in name and callable(getattr(torch.Tensor, name)):
            yield f"Tensor.{name}", lambda module, name=name: getattr(_parameter(module), name)(nothing)
    for space in (nn.modules.module, optimizer, torch.autograd.graph):
        for name, made in vars(space).items():
            if name.startswith("register") and "hook" in name and name != "register_multi_grad_hook":
                yield f"{space.__name__}.{name}", lambda module, made=made: made(nothing)
    yield (
        "multi_grad_hook",
        lambda module: torch.autograd.graph.register_multi_grad_hook([*module.parameters()], nothing),
    )
    yield "Node.register_hook", lambda module: _node(module).register_hook(lambda ins, outs: None)
    yield "Node.register_prehook", lambda module: _node(module).register_prehook(lambda grads: (grads[0] * 0,))


_KEPT: list[Any] = []


def _node(module: nn.Module) -> Any:
    """Return where the gradients of a parameter are added up, which lives as long as somebody holds it."""
    parameter = _parameter(module)
    node = parameter.view_as(parameter).grad_fn.next_functions[0][0]  # type: ignore[union-attr]  # made just now
    _KEPT.append(node)
    return node


def _last(module: nn.Module) -> nn.Module:
    return [*module.modules()][-1]


def _settings() -> Iterator[tuple[str, Leave]]:
    """Yield a way for each function that sets something for all of torch, with each argument that it takes."""
    for space in _SPACES:
        for name in dir(space):
            made = getattr(space, name)
            if name.startswith(("set_", "enable_")) and not inspect.isclass(made) and callable(made):
                yield f"{name} from the left", lambda _, made=made: _first(made, _ARGUMENTS) and None
                yield f"{name} from the right", lambda _, made=made: _first(made, _ARGUMENTS[::-1]) and None


def _first(made: Callable[..., Any], arguments: tuple[tuple[Any, ...], ...]) -> Any:
    """Return what the first arguments give that `made` takes."""
    for given in arguments:
        with suppress(Exception):
            return made(*given)
    raise TypeError(f"{made} takes none of them")


def _managers() -> Iterator[tuple[str, Leave]]:
    """Yield a way for each context manager of torch that is entered and never left."""
    classes = {made for space in _SPACES for made in vars(space).values() if inspect.isclass(made)}
    for kind in sorted((one for one in classes if hasattr(one, "__enter__")), key=lambda one: one.__name__):
        yield (
            f"{kind.__name__} from the middle",
            lambda _, kind=kind: _first(lambda *given: _enter(kind(*given)), ((), *_ARGUMENTS)),
        )
        yield (
            f"{kind.__name__} from the left",
            lambda _, kind=kind: _first(lambda *given: _enter(kind(*given)), _ARGUMENTS),
        )
        yield (
            f"{kind.__name__} from the right",
            lambda _, kind=kind: _first(lambda *given: _enter(kind(*given)), _ARGUMENTS[::-1]),
        )
    yield "TorchFunctionMode", lambda _: _enter(_Passing())
    yield "TorchDispatchMode", lambda _: _enter(_Dispatching())


class _Passing(TorchFunctionMode):
    def __torch_function__(self, function: Any, _: Any, arguments: Any = (), options: Any = None) -> Any:
        return function(*arguments, **(options or {}))


class _Dispatching(TorchDispatchMode):
    def __torch_dispatch__(self, function: Any, _: Any, arguments: Any = (), options: Any = None) -> Any:
        return function(*arguments, **(options or {}))


def _enter(manager: Any) -> Any:
    _KEPT.append(manager)  # some end when nobody holds them any more
    manager.__enter__()
    return lambda: manager.__exit__(None, None, None)


class _Own(nn.Parameter):
    """A parameter of another class."""


def _objects() -> Iterator[tuple[str, Leave]]:
    """Yield ways to change the objects themselves."""
    part = _last

    def method_of_the_class(module: nn.Module) -> None:
        kind: Any = type(module)
        before = kind.forward
        kind.forward = lambda self, *given: before(self, *given)

    def code_of_the_method(module: nn.Module) -> None:
        kind: Any = type(module)
        kind.forward.__code__ = kind.forward.__code__.replace(co_name="other")

    def defaults_of_a_method(module: nn.Module) -> None:
        nn.Module.train.__defaults__ = (False,)

    def function_of_torch(module: nn.Module) -> None:
        before = nn.functional.linear
        nn.functional.linear = lambda *given: before(*given)

    def method_of_tensors(module: nn.Module) -> None:
        before: Any = torch.Tensor.clone
        torch.Tensor.clone = lambda self, **options: before(self, **options)  # type: ignore[method-assign]

    yield "forward", lambda module: setattr(module, "forward", lambda *given: given[0] * 0)
    yield "call", lambda module: setattr(part(module), "_call_impl", lambda *given: given[0] * 0)
    yield "class", lambda module: setattr(module, "__class__", type("Other", (type(module),), {}))
    yield "class of a part", lambda module: setattr(part(module), "__class__", type("Other", (type(part(module)),), {}))
    yield "method of the class", method_of_the_class
    yield "code of the method", code_of_the_method
    yield "defaults of a method", defaults_of_a_method
    yield "function of torch", function_of_torch
    yield "method of tensors", method_of_tensors
    yield "a buffer", lambda module: part(module).register_buffer("kept", torch.ones(1))
    yield "a parameter", lambda module: part(module).register_parameter("kept", nn.Parameter(torch.ones(1)))
    yield "a module", lambda module: part(module).add_module("kept", nn.Identity())
    yield "class of a parameter", lambda module: setattr(_parameter(module), "__class__", _Own)
    yield "attribute of a parameter", lambda module: setattr(_parameter(module), "kept", 1)
    yield "table of hooks", lambda module: vars(part(module)).update(_forward_hooks={1: nothing})


def _every() -> dict[str, Leave]:
    return dict((*_hooks(), *_settings(), *_managers(), *_objects()))


@cache
def _lab(name: str) -> tuple[Exercise, Plan]:
    exercise = read_exercise(ROOT / "exercises" / name)
    plan = draw_up(exercise, 3).plan
    wanted = {"attention_patterns": "deep/untouched", "weight_transfer": "wide/base"}[name]
    return exercise, plan.only(frozenset({wanted}))


@cache
def _wanted(name: str) -> CallSeen:
    exercise, plan = _lab(name)
    return observe_all(plan, exercise.reference()).calls[plan.calls[0].name]


def _answer(name: str, leave: Leave, *, undo: bool) -> dict[str, Any]:
    """Return a right answer that leaves something in the module that it is given, or takes it back."""
    namespace = dict(_lab(name)[0].reference()())
    entry = _lab(name)[0].spec.entry.name
    right, count = namespace[entry], [0]

    def looks(model: Any, tokens: Any) -> Any:
        found = right(model, tokens)
        _leave(leave, model, undo=undo, count=count)
        return found

    def transfers(source: Any, target: Any) -> None:
        right(source, target)
        _leave(leave, target, undo=undo, count=count)

    return {**namespace, entry: {"attention_patterns": looks, "weight_transfer": transfers}[name]}


def _leave(leave: Leave, module: nn.Module, *, undo: bool, count: list[int]) -> None:
    count[0] += 1
    if count[0] > 1 and not undo:
        return
    try:
        back = leave(module)
        if undo:
            (back.remove if hasattr(back, "remove") else back)()
    except Exception:  # noqa: BLE001  # it takes none of the arguments, or is none that can be entered
        raise SystemExit from None


def _outcome(name: str, leave: Leave, *, undo: bool = False) -> str:
    """Return what a lab says of a right answer that leaves something: `clean`, `left`, or `refused` by torch itself."""
    plan = _lab(name)[1]
    ends = os.pipe()
    wanted = _wanted(name)
    if not (child := os.fork()):
        signal.alarm(_MOST_SECONDS)
        said = "died"
        with suppress(BaseException):
            said = _judge(observe_all(plan, lambda: _answer(name, leave, undo=undo)).calls[wanted.name], wanted)
        os.write(ends[1], json.dumps(said).encode())
        os._exit(0)
    os.close(ends[1])
    with os.fdopen(ends[0], "rb") as told:
        said = json.loads(told.read() or b'"died"')
    os.waitpid(child, 0)
    return str(said)


def _judge(seen: CallSeen, wanted: CallSeen) -> str:
    if seen.raised is not None:
        return "refused" if seen.raised.type == "SystemExit" else "left"
    same = seen.slots.keys() == wanted.slots.keys()
    pairs = [(seen.slots[key].tensor, wanted.slots[key].tensor) for key in wanted.slots] if same else []
    return "clean" if same and all(a is not None and torch.allclose(a, b) for a, b in pairs) else "left"


def _name(way: str) -> str:
    return way.partition(" from the ")[0]


_OF_MODULES = dict((*_hooks(), *_objects()))
_EVERY = {**_OF_MODULES, **dict((*_settings(), *_managers()))}


# Both labs compare with the same snapshot, so that one is enough for the settings of torch.
@pytest.mark.parametrize(
    ("lab", "ways", "least"), [("attention_patterns", _EVERY, 80), ("weight_transfer", _OF_MODULES, 30)]
)
def test_whatever_is_left_behind_costs_points(lab: str, ways: dict[str, Leave], least: int) -> None:
    """Of every hook, setting, manager and object at least one way is seen, or it is listed as doing no harm."""
    outcomes = {way: _outcome(lab, leave) for way, leave in ways.items()}
    tried = {_name(way) for way, said in outcomes.items() if said != "refused"}
    seen = {_name(way) for way, said in outcomes.items() if said in ("left", "died")}

    assert tried - seen - _HARMLESS.keys() == set()
    assert len(tried) >= least


def test_what_is_taken_back_costs_nothing() -> None:
    """A right answer that removes its hooks, and leaves the managers that it entered, stays right."""
    ways = {way: leave for way, leave in (*_hooks(), *_managers()) if " from the right" not in way}
    outcomes = {way: _outcome("attention_patterns", leave, undo=True) for way, leave in ways.items()}

    assert {way for way, said in outcomes.items() if said == "left"} == set()
    assert sum(said == "clean" for said in outcomes.values()) > 20
