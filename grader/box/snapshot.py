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

Facts = dict[Hashable, Any]


class Snapshot:
    """What modules and torch were like when this was made.

    `owned` says that parameters must stay the very same objects.
    """

    def __init__(self, *roots: nn.Module, owned: bool = True) -> None:
        self._roots, self._owned = roots, owned
        self._modules, self._settings = self._look(), dict(_settings())

    def in_modules(self) -> list[str]:
        """Return what is otherwise by now in the modules, in their classes and in what torch has for all modules."""
        return _differences(self._modules, self._look())

    def in_settings(self) -> list[str]:
        """Return the settings of torch that are others by now."""
        return _differences(self._settings, dict(_settings()))

    def _look(self) -> Facts:
        found: Facts = dict(_of_torch())
        for number, root in enumerate(self._roots):
            for path, part in _parts(root, str(number)):
                found |= _of_module(path, part, owned=self._owned)
        return found


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
    found: Facts = {(path, "itself"): part, (path, "class"): kind}
    for name, value in held.items():
        if isinstance(value, dict) and hasattr(_BARE, name):
            by_name = name == "_parameters" and not owned
            found |= {(path, name, key): key if by_name else entry for key, entry in value.items()}
        elif name not in _LEFT_BY_TORCH and (hasattr(kind, name) or hasattr(_BARE, name)):
            found[path, name] = value
    for name, tensor in (held["_parameters"] | held["_buffers"]).items():
        if isinstance(tensor, Tensor):
            found |= _of_tensor(f"{path}.{name}", tensor)
    for one in kind.__mro__[:-1]:
        found |= _of_class(one)
    return found


_BARE = nn.Module()


def _of_tensor(path: str, tensor: Tensor) -> Facts:
    found: Facts = {(path, "class"): type(tensor), (path, "dtype"): tensor.dtype, (path, "leaf"): tensor.is_leaf}
    found |= {(path, "attribute", name): value for name, value in vars(tensor).items()}
    for table in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        found |= {(path, table, key): hook for key, hook in (getattr(tensor, table) or {}).items()}
    return found | {(path, "inference"): tensor.is_inference(), (path, "kept"): tensor.retains_grad}


def _of_class(kind: type) -> Facts:
    found: Facts = {}
    for name, value in vars(kind).items():
        found[kind, name] = value
        if isinstance(value, FunctionType):
            found |= {
                (kind, name, part): getattr(value, part) for part in ("__code__", "__defaults__", "__kwdefaults__")
            }
    return found


def _of_torch() -> Iterator[tuple[Hashable, Any]]:
    for number, table in enumerate(_TABLES):
        yield from (((number, key), hook) for key, hook in table.items())
    for space in _NAMESPACES:
        yield from (((space.__name__, name), value) for name, value in vars(space).items() if callable(value))
    for kind in _CLASSES:
        yield from _of_class(kind).items()


def _settings() -> Iterator[tuple[Hashable, Any]]:
    yield from ((name, read()) for name, read in _SETTINGS.items())
    for space in _NAMESPACES:
        for name, value in vars(space).items():
            if isinstance(value, bool) and name not in _LEFT_BY_TORCH:
                yield f"{space.__name__}.{name}", value


def _differences(before: Facts, now: Facts) -> list[str]:
    """Return the names of what is otherwise; what a namespace of torch has imported meanwhile is not."""
    lost = [key for key, value in before.items() if key not in now or not _same(value, now[key])]
    new = [key for key in now.keys() - before.keys() if not (isinstance(key, tuple) and key[0] in _SPACES)]
    return [str(key) for key in (*lost, *new)]


_SPACES = frozenset(space.__name__ for space in _NAMESPACES)


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and isinstance(one, _PLAIN) and one == other)
