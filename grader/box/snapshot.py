"""What modules of ours and torch itself are like, to be compared with what they are once somebody's code had them.

Compared are identities, and the values of plain numbers and texts: of each module its class, its place, whatever hides
an attribute of its class, and every entry of its tables, of hooks as of parts; of each parameter its class, attributes
and hooks; of each class all that it defines; of torch its settings, its tables of hooks for all modules, and the
functions in those of its namespaces that modules and training use.

Not compared: a value under a new name in a module, since many programs that draw attention keep it where it was
computed; what is inside a value, so that a cache may be filled; how tensors are printed, and random numbers, which are
seeded before every call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from operator import is_
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import backward
from torch.backends import mha
from torch.optim import optimizer  # torch takes its name out of `torch.optim`

from grader.box.pristine import pristine

_C: Any = torch._C
_SETTINGS: Mapping[str, Callable[[], Any]] = {
    "inference mode": torch.is_inference_mode_enabled,
    "default dtype": torch.get_default_dtype,
    "default device": lambda: str(torch.get_default_device()),
    "anomaly detection": torch.is_anomaly_enabled,
    "anomaly detection of NaN": torch.is_anomaly_check_nan_enabled,
    "autocast": lambda: (torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")),
    "autocast dtype": lambda: (torch.get_autocast_dtype("cpu"), torch.get_autocast_dtype("cuda")),
    "autocast cache": torch.is_autocast_cache_enabled,
    "deterministic algorithms": lambda: (torch.get_deterministic_debug_mode(), _C._get_deterministic_algorithms()),
    "filling of new memory": _C._get_deterministic_fill_uninitialized_memory,
    "number of threads": torch.get_num_threads,
    "precision of products": torch.get_float32_matmul_precision,
    "denormal numbers": lambda: bool((torch.full((8,), 1e-310, dtype=torch.float64) * 0.5).any()),
    "function modes": _C._len_torch_function_stack,
    "dispatch modes": _C._len_torch_dispatch_stack,
    "functions of subclasses": _C._is_torch_function_enabled,
    "function transforms": lambda: _C._functorch.maybe_current_level(),
    "threads of the backward pass": _C._is_multithreading_enabled,
    "replay of views": _C._is_view_replay_enabled,
    "forward-mode derivatives": _C._is_fwd_grad_enabled,
    "hooks on saved tensors": lambda: _C._autograd._top_saved_tensors_default_hooks(True),
    "layout of gradients": _C._is_grad_layout_enforcement_enabled,
    "permission of such hooks": _C._autograd._saved_tensors_hooks_is_enabled,
    "checks of sparse tensors": _C._check_sparse_tensor_invariants,
    "oneDNN": _C._get_mkldnn_enabled,
    "deterministic oneDNN": _C._get_mkldnn_deterministic,
    "NNPACK": _C._get_nnpack_enabled,
    "kinds of attention": lambda: (
        _C._get_flash_sdp_enabled(), _C._get_math_sdp_enabled(), _C._get_mem_efficient_sdp_enabled(),
        _C._get_cudnn_sdp_enabled(), _C._get_overrideable_sdp_enabled(),
    ),
    "half precision on the CPU": _C._get_cpu_allow_fp16_reduced_precision_reduction,
}  # fmt: skip
_NAMESPACES = (
    torch, nn, nn.functional, nn.init, nn.modules.module, nn.parameter, nn.modules.linear, nn.modules.normalization,
    nn.modules.sparse, torch.autograd, torch.autograd.graph, torch.autograd.grad_mode, torch.__future__,
    mha, torch.optim, optimizer,
)  # fmt: skip
_CLASSES = (Tensor, nn.Parameter, torch.UntypedStorage)
_TABLES = tuple(
    table
    for space in (nn.modules.module, optimizer)
    for name, table in vars(space).items()
    if name.startswith("_global_") and isinstance(table, dict)
)
_PLAIN = (bool, int, float, str, tuple, frozenset, torch.dtype, type(None))
# What calls set, and what torch itself leaves of a hook that was removed; it means nothing where there is no hook.
_LEFT_BY_TORCH = ("training", "_is_full_backward_hook", "_global_is_full_backward_hook")
_RATE = 0.1

_SPACES = {space.__name__: vars(space) for space in _NAMESPACES}

Facts = Mapping[Any, Any]
Tables = dict[Hashable, Facts]  # by whose they are: a module's path, a class, a namespace's name


class Snapshot:
    """What modules and torch were like when this was made.

    `owned` says that parameters must stay the very same objects.
    """

    def __init__(self, *roots: nn.Module, owned: bool = True) -> None:
        self._roots, self._owned = roots, owned
        self._modules, self._settings = self._look(), _settings()

    def in_modules(self) -> list[str]:
        """Return what is otherwise by now in the modules, in their classes and in what torch has for all modules."""
        return _differences(self._modules, self._look())

    def in_settings(self) -> list[str]:
        """Return the settings of torch that are others by now."""
        return _differences(self._settings, _settings())

    def _look(self) -> Tables:
        parts = dict(one for number, root in enumerate(self._roots) for one in _parts(root, str(number)))
        classes = (kind for part in parts.values() for kind in type(part).__mro__[:-1])
        return {
            **{path: _of_module(path, part, owned=self._owned) for path, part in parts.items()},
            **{kind: _of_class(kind) for kind in dict.fromkeys((*classes, *_CLASSES))},
            **{number: dict(table) for number, table in enumerate(_TABLES)},
            **{name: dict(names) for name, names in _SPACES.items()},
        }


def one_step(run: Callable[[], Tensor], parameters: list[nn.Parameter]) -> list[Tensor] | None:
    """Return what parameters are after a step down the sum of squares of what `run` gives; None where it fails.

    All of them have their numbers back then, and no gradient.
    """
    try:
        with torch.enable_grad():
            backward(run().square().sum())
        return [_stepped(parameter) for parameter in parameters]
    except Exception:  # noqa: BLE001  # a hook that was left behind may raise anything
        return None
    finally:
        for parameter in parameters:
            parameter.grad = None


def _stepped(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None, "nothing flows back to it"
    with torch.no_grad(), pristine():
        before = parameter.clone()
        parameter.sub_(_RATE * parameter.grad)
        after = parameter.clone()
        parameter.copy_(before)
        return after


def _parts(part: nn.Module, path: str) -> Iterator[tuple[str, nn.Module]]:
    """Yield a module and its parts with their paths, as its own tables say, each once."""
    waiting, seen = [(path, part)], set[int]()
    while waiting:
        path, part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield path, part
            waiting += [
                (f"{path}.{name}", child) for name, child in vars(part)["_modules"].items() if child is not None
            ]


def _of_module(path: str, part: nn.Module, *, owned: bool) -> Facts:
    kind, held = type(part), vars(part)
    found: dict[Any, Any] = {(path, "itself"): part, (path, "class"): kind}
    for name, value in held.items():
        if isinstance(value, dict) and hasattr(_BARE, name):
            by_name = name == "_parameters" and not owned
            found |= {(path, name, key): key if by_name else entry for key, entry in value.items()}
        elif name not in _LEFT_BY_TORCH and (hasattr(kind, name) or hasattr(_BARE, name)):
            found[path, name] = value
    for name, tensor in (held["_parameters"] | held["_buffers"]).items():
        if isinstance(tensor, Tensor):
            found |= _of_tensor(f"{path}.{name}", tensor)
    return found


_BARE = nn.Module()


def _of_tensor(path: str, tensor: Tensor) -> Facts:
    found: dict[Any, Any] = {
        (path, "class"): type(tensor),
        (path, "dtype"): tensor.dtype,
        (path, "leaf"): tensor.is_leaf,
    }
    found |= {(path, "attribute", name): value for name, value in vars(tensor).items()}
    for table in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        found |= {(path, table, key): hook for key, hook in (getattr(tensor, table) or {}).items()}
    return found | {(path, "inference"): tensor.is_inference(), (path, "kept"): tensor.retains_grad}


def _of_class(kind: type) -> Facts:
    functions = [(name, value) for name, value in vars(kind).items() if isinstance(value, FunctionType)]
    inside = ("__code__", "__defaults__", "__kwdefaults__")
    return vars(kind) | {(name, part): getattr(value, part) for name, value in functions for part in inside}


def _settings() -> Tables:
    switches = {
        f"{space}.{name}": value
        for space, names in _SPACES.items()
        for name, value in names.items()
        if isinstance(value, bool) and name not in _LEFT_BY_TORCH
    }
    return {"settings": {name: read() for name, read in _SETTINGS.items()} | switches}


def _differences(before: Tables, now: Tables) -> list[str]:
    """Return the names of what is otherwise; of torch's namespaces, the functions and classes that are others."""
    found: list[str] = []
    for owner in before | now:
        one, other = before.get(owner, {}), now.get(owner, {})
        if one.keys() == other.keys() and all(map(is_, one.values(), other.values())):
            continue  # nearly always, and soon seen
        space = owner in _SPACES
        found += [
            f"{owner} {name}"
            for name, value in one.items()
            if (callable(value) or not space) and (name not in other or not _same(value, other[name]))
        ]
        if not space:  # what a namespace has imported meanwhile is nobody's trace
            found += [f"{owner} {name}" for name in other.keys() - one.keys()]
    return found


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and isinstance(one, _PLAIN) and one == other)
