"""Runs a plan and yields what it sees: the one way to observe, for reference, mistakes and students alike.

Modules are built just before the first call that needs them and every event is yielded as soon as it is known, so
what was finished survives whatever happens next.
"""

from __future__ import annotations

import difflib
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from grader.box.binding import Binding, bind, find
from grader.box.binding.parts import Inventory
from grader.box.drivers import driver
from grader.box.faults import describe
from grader.box.keys import is_input
from grader.box.measuring import Gauge
from grader.box.observations import FROZEN, BuildSeen, CallSeen, Event, Presence, Seen, Stage
from grader.box.plan import DTYPES, FLOATS, FUNCTIONS, Argument, Build, Call, Entry, Function, Plan, TensorSpec
from grader.box.pristine import pristine
from grader.box.recorder import Recorder
from grader.errors import Rejected, Ungradable

_MISSING = object()
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
Load = Callable[[], Mapping[str, Any]]  # executes the source and returns its namespace

_run_backward = torch.autograd.graph._engine_run_backward
# torch's default dtype and its generator belong to the whole process; whoever uses them for a moment holds this lock.
_DEFAULT_DTYPE = threading.RLock()


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A module that was built, with the places of its weights."""

    module: nn.Module
    binding: Binding


Instances = dict[str, Instance | None]  # by build; None where the construction raised


def observe(plan: Plan, load: Load, instances: Instances | None = None, *, whole: bool = False) -> Iterator[Event]:
    """Run every call of `plan` on the entry point that `load` provides.

    Whoever observes one class again and again may hand over the `instances` that were built before. `whole` says that
    this process does nothing else, so that all memory which it takes is taken by the code that is observed.

    Yields:
        One `BuildSeen` per construction, one `CallSeen` per call; or a single `Raised` where there is no entry point.
    """
    try:
        with default_dtype("float64"):
            namespace = load()
            entries = {part: _look_up(plan.contract(part), namespace) for part in ("", *plan.parts)}
    except BaseException as error:  # noqa: BLE001  # a submission may raise anything at all, SystemExit too
        yield describe(error, Stage.LOAD)
        return
    instances = {} if instances is None else instances
    for call in plan.calls:
        build = plan.build_of(call)
        if build is not None and build.name not in instances:
            seen, instances[build.name] = _construct(plan, build, entries[build.part], call)
            yield seen
        instance = instances[build.name] if build else None
        if build is None or instance is not None:
            yield _observe_call(plan, call, entries[call.part], instance, outside=call.max_elements if whole else None)
    for build in plan.builds:
        if build.name not in instances:
            seen, instances[build.name] = _construct(plan, build, entries[build.part])
            yield seen


@contextmanager
def alone() -> Iterator[None]:
    """Let no other thread of this process observe for a moment.

    Each operation of torch lets go of the interpreter. Two threads that work would hand it to each other thousands of
    times for one submission, and both together be slower than one after the other.
    """
    with _DEFAULT_DTYPE:
        yield


@contextmanager
def default_dtype(name: str) -> Iterator[None]:
    """Make `name` torch's default dtype for a moment, and nobody else's meanwhile; nobody else draws numbers either."""
    with _DEFAULT_DTYPE:
        before = torch.get_default_dtype()
        torch.set_default_dtype(FLOATS[name])
        try:
            yield
        finally:
            torch.set_default_dtype(before)


def _construct(plan: Plan, build: Build, entry: Any, first: Call | None = None) -> tuple[BuildSeen, Instance | None]:
    """Build a module and give it its weights; `first` is the call that comes next."""
    stage, contract = Stage.CONSTRUCT, plan.contract(build.part)
    try:
        with default_dtype(build.dtype):
            _seed(0, plan.device)  # so that what a constructor draws is the same at every grading
            module = driver(contract).construct(entry, build, contract)
        stage = Stage.TRANSFER
        if not isinstance(module, nn.Module):
            raise Ungradable(f"`{contract.name}` must be an nn.Module; yours creates a {type(module).__name__}")
        inventory = _prepared(plan, module, first, contract)
        with pristine():
            binding = bind(
                inventory.module,
                () if build.must_raise else build.weights,
                plan.initial_of,
                trains=contract.kind.trains,
                pick=build.pick,
                inventory=inventory,
            )
            seen = BuildSeen(build.name) if contract.kind.brings_a_model else _describe_build(build, inventory, binding)
        return seen, Instance(inventory.module, binding)
    except BaseException as error:  # noqa: BLE001  # as above
        return BuildSeen(build.name, raised=describe(error, stage)), None


def _prepared(plan: Plan, module: nn.Module, first: Call | None, contract: Entry) -> Inventory:
    """Return what a new module holds once every parameter has a shape and is on the plan's device."""
    inventory = Inventory(module)
    if first is not None and inventory.lazy:
        _give_shapes(plan, first, contract, module)
        inventory = Inventory(module)
    if plan.device == "cpu" and inventory.is_on_cpu:  # moving what is there already takes torch as long as building it
        return inventory
    return Inventory(module.to(plan.device))


def _give_shapes(plan: Plan, call: Call, contract: Entry, module: nn.Module) -> None:
    """Call a module once, so that lazy layers learn their shapes from its inputs; it may keep nothing else of that.

    A call that trains only looks at its losses: there are no gradients here, and no weights of the contract yet.
    """
    before = [(part, dict(vars(part))) for part in module.modules()]
    with torch.no_grad(), default_dtype(call.dtype):
        leaves = {name: _leaf(value, plan, call, wanted=False) for name, value in call.arguments.items()}
        handed = {name: _hand(value, non_contiguous=False) for name, value in leaves.items()}
        driver(contract).run(module.to(plan.device), handed, replace(call, training=False), contract)
    for part, kept in before:
        for name in _plain_tensors(part):
            vars(part).pop(name)
            vars(part).update({name: kept[name]} if name in kept else {})


def _plain_tensors(part: nn.Module) -> dict[str, Tensor]:
    return {name: value for name, value in vars(part).items() if isinstance(value, Tensor)}


def _describe_build(build: Build, inventory: Inventory, binding: Binding) -> BuildSeen:
    loose = [f"{path}.{name}".lstrip(".") for path, part in inventory.distinct.items() for name in _plain_tensors(part)]
    return BuildSeen(
        name=build.name,
        mapping=binding.describe(),
        unused=() if build.must_raise else binding.unused,  # who should have refused was given no weights at all
        zeroed=binding.zeroed,
        loose=tuple(loose),
        initial={name: pair for name, pair in binding.initial.items() if all(map(math.isfinite, pair))},
        choices=binding.choices,
        places=binding.places,
    )


@torch.enable_grad()
def _observe_call(plan: Plan, call: Call, entry: Any, instance: Instance | None, *, outside: int | None) -> CallSeen:
    leaves = {name: _leaf(value, plan, call, wanted=name in call.wants) for name, value in call.arguments.items()}
    handed = {name: _hand(value, call.non_contiguous) for name, value in leaves.items()}
    if call.one_object:
        same = _alike(call.arguments)
        handed = {name: handed[same.get(name, name)] for name in handed}
    slots: dict[str, Seen] = {}
    stage, gauge = Stage.CALL, Gauge(outside) if call.max_elements else None
    recorder = Recorder(handed.values(), gradients=bool(call.grad_outputs)) if call.traced else None
    try:
        usual = call.dtype if call.dtype in ("float64", "float32") else "float32"  # as outside of here
        with default_dtype(call.default_dtype or usual):
            with gauge or nullcontext(), recorder or nullcontext(), torch.set_grad_enabled(not call.no_grad):
                results = _run(plan, call, entry, instance=instance, handed=handed)
            slots |= {slot.key: see(value, slot) for slot, value in zip(call.outputs, results, strict=True)}
            stage = Stage.BACKWARD
            if call.grad_outputs:
                _push_back(call, slots, results)
                slots |= _gradients(plan, call, leaves, instance)
        raised = None
    except BaseException as error:  # noqa: BLE001  # as above
        raised = describe(error, stage)
    modified = tuple(name for name, value in handed.items() if _differs(value, leaves[name]))
    trace = recorder.results() if recorder else ()
    return CallSeen(call.name, slots, raised, modified, gauge.largest if gauge else None, trace)


def _leaf(value: Argument, plan: Plan, call: Call, *, wanted: bool) -> Argument:
    if not isinstance(value, Tensor):
        return value
    value = value.to(plan.device, FLOATS[call.dtype] if value.is_floating_point() else value.dtype)
    if not (wanted and call.grad_outputs):
        return value  # the plan's own tensor: `_hand` copies it
    return value.detach().clone().requires_grad_()


def _alike(arguments: Mapping[str, Argument]) -> dict[str, str]:
    """Return for each tensor the first argument that has the same numbers."""
    first: dict[str, Tensor] = {}
    same: dict[str, str] = {}
    for name, value in arguments.items():
        if isinstance(value, Tensor):
            same[name] = next((known for known, one in first.items() if torch.equal(one, value)), name)
            first.setdefault(same[name], value)
    return same


def _hand(value: Argument, non_contiguous: bool) -> Any:
    """Return a copy to hand over: not the leaf itself, so that writing into it is bad manners, not an error."""
    if isinstance(value, Function):
        return FUNCTIONS[value.name]
    if not isinstance(value, Tensor):
        return value
    if non_contiguous and value.dim() > 1:
        return value.transpose(0, -1).contiguous().transpose(0, -1)
    return value.clone()


def _run(
    plan: Plan, call: Call, entry: Any, *, instance: Instance | None, handed: Mapping[str, Any]
) -> tuple[Any, ...]:
    if call.reads_weights:
        assert instance is not None, "only a build has weights"
        return tuple(instance.binding.value(slot.name, slot.shape) for slot in call.outputs)
    subject, contract = instance.module if instance else entry, plan.contract(call.part)
    if instance is not None:
        instance.module.train(call.training)
        if call.grad_outputs or contract.kind.brings_a_model:  # nobody else asks what gradients there are
            instance.module.zero_grad(set_to_none=True)
    _seed(call.seed, plan.device)
    return _returned(driver(contract).run(subject, handed, call, contract), len(call.outputs))


def _seed(seed: int, device: str) -> None:
    # `torch.manual_seed` seeds every backend there is; in a fresh fork that alone takes milliseconds.
    torch.default_generator.manual_seed(seed)
    if device == "cuda":
        torch.cuda.manual_seed(seed)


def _push_back(call: Call, slots: Mapping[str, Seen], results: tuple[Any, ...]) -> None:
    tensors, gradients = [], []
    for slot, value, gradient in zip(call.outputs, results, call.grad_outputs, strict=True):
        if gradient is not None and slots[slot.key].presence is Presence.TENSOR and value.requires_grad:
            tensors.append(value)
            gradients.append(gradient.to(value))
    if tensors:
        # What `torch.autograd.backward` does, once it has imported half a second of symbolic algebra to compare shapes.
        _run_backward(tuple(tensors), tuple(gradients), False, False, (), allow_unreachable=True, accumulate_grad=True)


def _gradients(plan: Plan, call: Call, leaves: Mapping[str, Argument], instance: Instance | None) -> dict[str, Seen]:
    found: dict[str, Seen] = {}
    build, binding = plan.build_of(call), instance.binding if instance else None
    if build and instance and driver(plan.contract(call.part)).moves_weights:
        binding = find(instance.module, build.weights)
    for slot in plan.slots(call)[len(call.outputs) :]:
        if is_input(slot.key):
            leaf = leaves[slot.name]
            assert isinstance(leaf, Tensor)
            found[slot.key] = see_gradient(leaf.grad, slot)
        else:
            assert binding is not None
            gradient, frozen = binding.gradient(slot.name, slot.shape), binding.is_frozen(slot.name)
            found[slot.key] = see_gradient(gradient, slot, frozen=frozen)
    return found


def _differs(handed: Any, leaf: Argument) -> bool:
    return isinstance(handed, Tensor) and isinstance(leaf, Tensor) and not torch.equal(handed.detach(), leaf.detach())


def _look_up(entry: Entry, namespace: Mapping[str, Any]) -> Any:
    """Return the object called `entry.name`.

    Raises:
        Rejected: it is not there, or is not what the contract says; a near miss is named.
    """
    name = entry.name
    is_class = driver(entry).is_class or name[:1].isupper()  # a contract spells its classes so
    kind = "class" if is_class else "function"
    found = namespace.get(name)
    if found is None:
        raise Rejected(f"your file must define a {kind} called `{name}`; {_instead(name, namespace)}")
    if is_class and not isinstance(found, type):
        raise Rejected(f"`{name}` must be a class; yours is a {type(found).__name__}")
    if not callable(found):
        raise Rejected(f"`{name}` must be a function; yours is a {type(found).__name__}")
    return found


def _instead(name: str, namespace: Mapping[str, Any]) -> str:
    own = [key for key, value in namespace.items() if getattr(value, "__module__", None) == "submission"]
    lowered = {key.lower(): key for key in own}
    near = difflib.get_close_matches(name.lower(), lowered, n=1)
    if near:
        return f"it defines `{lowered[near[0]]}`; if that is it, rename it"
    return f"it defines {', '.join(f'`{key}`' for key in own[:8])}" if own else "it defines nothing"


def _returned(result: Any, count: int) -> tuple[Any, ...]:
    """Return exactly `count` values: the result itself for one, its items for several, filled up where short."""
    if count == 1:
        return (result,)
    if isinstance(result, tuple | list):
        items = tuple(result)[:count] if len(result) <= count else (result,)
        return (*items, *(_MISSING for _ in range(count - len(items))))
    return (result, *(_MISSING for _ in range(count - 1)))


def see(value: Any, slot: TensorSpec) -> Seen:
    """Return what is in the place of an output."""
    if value is _MISSING:
        return Seen(Presence.OTHER, what="nothing")
    # A subclass may lie about everything that it is asked; only the two plain types are looked into.
    if type(value) is not Tensor and type(value) is not nn.Parameter:
        return Seen(Presence.OTHER, what=_name(value))
    shape, dtype = tuple(value.shape), _NAMES.get(value.dtype) or str(value.dtype).removeprefix("torch.")
    if value.layout is not torch.strided or value.device.type == "meta":
        return Seen(Presence.OTHER, shape=shape, dtype=dtype, what=f"a {value.layout} tensor on {value.device}")
    if dtype not in slot.dtypes or shape != slot.shape:
        return Seen(Presence.MISSHAPEN, shape=shape, dtype=dtype)
    values = value.detach()
    if not values.is_cpu or values.is_neg():
        values = values.cpu().resolve_neg()
    values = values.clone(memory_format=torch.contiguous_format)
    return Seen(Presence.TENSOR, values, shape, dtype)


def see_gradient(gradient: Tensor | None, slot: TensorSpec, *, frozen: bool = False) -> Seen:
    """Return what is in the place of a gradient; `frozen` says that none was asked for."""
    return Seen(Presence.NONE, what=FROZEN if frozen else "") if gradient is None else see(gradient, slot)


def _name(value: Any) -> str:
    kind = type(value).__name__
    if value is None:
        return "None"
    if isinstance(value, tuple | list | dict):
        return f"a {kind} of {len(value)}"
    return f"a {kind}"
