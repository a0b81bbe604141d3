"""Runs a plan and yields what it sees: the one way to observe, for reference, mistakes and students alike.

Modules are built just before the first call that needs them and every event is yielded as soon as it is known, so
what was finished survives whatever happens next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from grader.box.arguments import call_with
from grader.box.entry import look_up
from grader.box.faults import describe
from grader.box.observations import BuildSeen, CallSeen, Event, Presence, Seen, Stage
from grader.box.plan import DTYPES, Argument, Build, Call, Plan
from grader.box.seeing import returned, see, see_gradient
from grader.box.weights import Binding, bind
from grader.errors import Ungradable

Load = Callable[[], Mapping[str, Any]]  # executes the source and returns its namespace

# torch's default dtype belongs to the whole process; whoever changes it for a moment holds this lock.
_DEFAULT_DTYPE = threading.RLock()


@dataclass(frozen=True, slots=True, eq=False)
class _Instance:
    """A module that was built, with the places of its weights."""

    module: nn.Module
    binding: Binding


def observe(plan: Plan, load: Load) -> Iterator[Event]:
    """Run every call of `plan` on the entry point that `load` provides.

    Yields:
        One `BuildSeen` per construction, one `CallSeen` per call; or a single `Raised` where there is no entry point.
    """
    try:
        with default_dtype("float64"):
            entry = look_up(plan.entry, load())
    except BaseException as error:  # noqa: BLE001  # a submission may raise anything at all, SystemExit too
        yield describe(error, Stage.LOAD)
        return
    instances: dict[str, _Instance | None] = {}
    for call in plan.calls:
        build = plan.build_of(call)
        if build is not None and build.name not in instances:
            seen, instances[build.name] = _construct(plan, build, entry)
            yield seen
        instance = instances[build.name] if build else None
        if build is None or instance is not None:
            yield _observe_call(plan, call, entry, instance)
    for build in plan.builds:
        if build.name not in instances:
            yield _construct(plan, build, entry)[0]


@contextmanager
def default_dtype(name: str) -> Iterator[None]:
    """Make `name` torch's default dtype for a moment, and nobody else's meanwhile."""
    with _DEFAULT_DTYPE:
        before = torch.get_default_dtype()
        torch.set_default_dtype(DTYPES[name])
        try:
            yield
        finally:
            torch.set_default_dtype(before)


def _construct(plan: Plan, build: Build, entry: Any) -> tuple[BuildSeen, _Instance | None]:
    stage = Stage.CONSTRUCT
    try:
        with default_dtype(build.dtype):
            module = call_with(
                entry,
                build.arguments,
                order=plan.entry.constructor,
                defaults=plan.entry.defaults,
                described=f"`{plan.entry.name}`",
            )
        if build.refused:
            return BuildSeen(build.name), None
        stage = Stage.TRANSFER
        if not isinstance(module, nn.Module):
            raise Ungradable(f"`{plan.entry.name}` must be an nn.Module; yours makes a {type(module).__name__}")
        binding = bind(module.to(plan.device), build.weights)
        return _describe_build(build, module, binding), _Instance(module, binding)
    except BaseException as error:  # noqa: BLE001  # as above
        return BuildSeen(build.name, raised=describe(error, stage)), None


def _describe_build(build: Build, module: nn.Module, binding: Binding) -> BuildSeen:
    loose = [
        f"{path}.{name}".lstrip(".")
        for path, part in module.named_modules()
        for name, value in vars(part).items()
        if isinstance(value, Tensor)
    ]
    return BuildSeen(
        name=build.name,
        mapping=binding.describe(),
        unused=binding.unused,
        zeroed=binding.zeroed,
        loose=tuple(loose),
    )


@torch.enable_grad()
def _observe_call(plan: Plan, call: Call, entry: Any, instance: _Instance | None) -> CallSeen:
    leaves = {name: _leaf(value, plan, call, wanted=name in call.wants) for name, value in call.arguments.items()}
    handed = {name: _hand(value, call.strided) for name, value in leaves.items()}
    slots: dict[str, Seen] = {}
    stage = Stage.CALL
    try:
        with default_dtype(call.dtype):
            results = _run(plan, call, entry, instance=instance, handed=handed)
            slots |= {slot.key: see(value, slot) for slot, value in zip(call.outputs, results, strict=True)}
            stage = Stage.BACKWARD
            if call.upstream:
                _push_back(call, slots, results)
                slots |= _gradients(plan, call, leaves, instance)
        raised = None
    except BaseException as error:  # noqa: BLE001  # as above
        raised = describe(error, stage)
    modified = tuple(name for name, value in handed.items() if _differs(value, leaves[name]))
    return CallSeen(call.name, slots, raised, modified)


def _leaf(value: Argument, plan: Plan, call: Call, *, wanted: bool) -> Argument:
    if not isinstance(value, Tensor):
        return value
    value = value.to(plan.device, DTYPES[call.dtype] if value.is_floating_point() else value.dtype)
    return value.detach().clone().requires_grad_(wanted and bool(call.upstream))


def _hand(value: Argument, strided: bool) -> Argument:
    """Return a copy to hand over: not the leaf itself, so that writing into it is bad manners, not an error."""
    if not isinstance(value, Tensor):
        return value
    if strided and value.dim() > 1:
        return value.transpose(0, -1).contiguous().transpose(0, -1)
    return value.clone()


def _run(
    plan: Plan, call: Call, entry: Any, *, instance: _Instance | None, handed: Mapping[str, Argument]
) -> tuple[Any, ...]:
    target: Callable[..., Any] = entry
    if instance is not None:
        target = _forward_of(instance.module)
        instance.module.train(call.training)
        instance.module.zero_grad(set_to_none=True)
    _seed(call.seed, plan.device)
    result = call_with(
        target,
        handed,
        order=plan.entry.arguments,
        defaults=plan.entry.defaults,
        described="`forward`" if instance else f"`{plan.entry.name}`",
    )
    return returned(result, len(call.outputs))


def _seed(seed: int, device: str) -> None:
    # `torch.manual_seed` seeds every backend there is; in a fresh fork that alone takes milliseconds.
    torch.default_generator.manual_seed(seed)
    if device == "cuda":
        torch.cuda.manual_seed(seed)


def _forward_of(module: nn.Module) -> Callable[..., Any]:
    """Return the module's call with the signature of its `forward`, so that hooks run and names are seen."""

    def run(*positional: Any, **named: Any) -> Any:
        return module(*positional, **named)

    run.__wrapped__ = module.forward  # type: ignore[attr-defined]  # where inspect.signature looks
    return run


def _push_back(call: Call, slots: Mapping[str, Seen], results: tuple[Any, ...]) -> None:
    tensors, gradients = [], []
    for slot, value, gradient in zip(call.outputs, results, call.upstream, strict=True):
        if gradient is not None and slots[slot.key].presence is Presence.TENSOR and value.requires_grad:
            tensors.append(value)
            gradients.append(gradient.to(value))
    if tensors:
        torch.autograd.backward(tensors, gradients)


def _gradients(plan: Plan, call: Call, leaves: Mapping[str, Argument], instance: _Instance | None) -> dict[str, Seen]:
    found: dict[str, Seen] = {}
    for slot in plan.slots(call)[len(call.outputs) :]:
        kind, _, name = slot.key.partition(":")
        if kind == "input":
            leaf = leaves[name]
            assert isinstance(leaf, Tensor)
            found[slot.key] = see_gradient(leaf.grad, slot)
        else:
            assert instance is not None
            found[slot.key] = see_gradient(instance.binding.gradient(name, slot.shape), slot)
    return found


def _differs(handed: Argument, leaf: Argument) -> bool:
    return isinstance(handed, Tensor) and isinstance(leaf, Tensor) and not torch.equal(handed.detach(), leaf.detach())
