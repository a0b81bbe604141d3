"""Goes through torch's registry and through its functions in a process with all traps; prints JSON.

`python -m tests.box.operator_walk --write` writes `tests/golden/operators.txt` anew: read what changed in it.
"""

from __future__ import annotations

import _ctypes
import ctypes
import gc
import importlib
import json
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor

from grader.box import traps
from grader.box.traps import _gives_numbers
from grader.box.traps.groups import Group, base
from grader.sandbox.warmup import _MODULES

_TOLD: list[str] = []  # every trap that sprang
GOLDEN = Path(__file__).parents[1] / "golden" / "operators.txt"


def classified() -> dict[str, str]:
    """Return every operator with its overloads, and the families that take it: `aten::softmax` to `softmax: int`."""
    overloads: dict[str, set[str]] = {}
    for name in every():
        plain, _, overload = name.partition(".")
        overloads.setdefault(plain, set()).add(overload or "default")
    return {name: f"{_families(name)}: {' '.join(sorted(found))}" for name, found in sorted(overloads.items())}


def takes(group: Group, name: str) -> bool:
    """Return whether a group has an operator or function of that name, such as `aten::softmax.int_out`."""
    return bool(group.among([base(name)]))


def _families(name: str) -> str:
    return "+".join(group for group in traps.GROUPS if takes(traps.GROUPS[group], name)) or "plain"


def every() -> set[str]:
    """Return the names of all operators: those of the dispatcher, and those that only TorchScript has."""
    return set(torch._C._dispatch_get_all_op_names()) | set(_scripted())


def _scripted() -> Iterator[str]:
    for schema in torch._C._jit_get_all_schemas():
        yield f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name


def _tensors() -> dict[str, Any]:
    """Return tensors of many kinds: each kind has kernels of its own."""
    plain = torch.ones(2, 3)
    return {
        "plain": plain,
        "with gradient": torch.ones(2, 3, requires_grad=True),
        "three axes": torch.ones(2, 3, 4),
        "four axes": torch.ones(1, 2, 3, 4),
        "quantised": torch.quantize_per_tensor(plain, 0.1, 0, torch.quint8),
        "sparse": plain.to_sparse(),
        "compressed": plain.to_sparse_csr(),
        "nested": torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)]),
        "mkldnn": plain.to_mkldnn(),
    }


def _value(argument: Any, tensor: Any) -> Any:
    kind = str(argument.type)
    values = {
        "Tensor": tensor,
        "Optional[Tensor]": tensor,
        "List[Tensor]": [tensor],
        "int": 1,
        "Optional[int]": None,
        "float": 0.5,
        "Optional[float]": None,
        "number": 1,
        "bool": True,
        "Optional[bool]": None,
        "List[int]": [1],
        "List[bool]": [True] * 4,
        "Optional[List[int]]": None,
        "str": "",
    }
    return values.get(kind)


def _outcome(call: Any) -> str:
    before = len(_TOLD)
    try:
        call()
    except NotImplementedError:
        return "no kernel"
    except BaseException as error:  # noqa: BLE001  # which one is what is asked
        if len(_TOLD) > before:
            return "trapped"
        return "no kernel" if "Could not run" in str(error) else f"{type(error).__name__}: {str(error)[:200]}"
    return "ran"


def _call(name: str) -> list[str]:
    """Call one overload by tensors of all kinds; return how each call ended."""
    space, _, rest = name.partition("::")
    operator, _, overload = rest.partition(".")
    found = getattr(getattr(getattr(torch.ops, space), operator), overload or "default")
    schema = found._schema.arguments
    ends = []
    for tensor in _TENSORS.values():
        given = [_value(one, tensor) for one in schema if not one.kwarg_only]
        named = {one.name: _value(one, tensor) for one in schema if one.kwarg_only}
        ends.append(_outcome(lambda given=given, named=named: found(*given, **named)))
    return sorted(set(ends))


def _functions() -> dict[str, types.FunctionType]:
    """Return every Python function of torch whose name belongs to a family and that could give numbers."""
    return {
        f"{thing.__module__}.{thing.__qualname__}#{id(thing)}": thing
        for thing in gc.get_objects()
        if type(thing) is types.FunctionType
        and _gives_numbers(thing.__module__ or "")
        and "backward" not in thing.__qualname__
        and any(takes(group, thing.__name__) for group in traps.GROUPS.values())
    }


def _compilers() -> dict[str, Any]:
    return {
        f"{name}.{key}": thing
        for name in ("_te", "_nativert")
        for key, thing in vars(getattr(torch._C, name)).items()
        if callable(thing)
    }


_LAYOUTS = (
    "sparse.to_dense()", "sparse.add(sparse)", "sparse.mul(2)", "sparse.sum()", "sparse.neg()",
    "plain.add(sparse)", "plain.add_(sparse)", "plain.sparse_mask(sparse)", "torch.sparse.mm(sparse, plain.mT)",
    "rows.to_dense()", "rows.mul(2)", "rows.neg()", "plain.add_(rows)", "rows.matmul(plain.mT)",
    "nested.add(nested)", "nested.mul(2)", "nested.relu()", "torch.nested.to_padded_tensor(nested, 0.0)",
    "quantised.dequantize()", "quantised.int_repr()", "quantised.relu()", "quantised.clamp(0)", "quantised.flip(0)",
)  # fmt: skip


def _layouts() -> dict[str, str]:
    """Do what students might do with tensors of layouts whose kernels are trapped; of each, say how it ended."""
    tensors = {name: _TENSORS[name] for name in ("plain", "sparse", "nested", "quantised")}
    scope = {"torch": torch, **tensors, "rows": _TENSORS["compressed"]}
    return {name: _outcome(lambda name=name: eval(name, scope)) for name in _LAYOUTS}


def _foreign() -> dict[str, str]:
    """Call everything in `_ctypes` with arguments that suit it, and what else goes by addresses; say how each ended."""
    calls: dict[str, Any] = {
        name: (lambda thing=thing: thing(0, ())) for name, thing in vars(_ctypes).items() if callable(thing)
    }
    calls |= {
        "dlopen": lambda: _ctypes.dlopen(None, 0),
        "dlsym": lambda: _ctypes.dlsym(_HANDLE, "getpid"),
        "call_function": lambda: _ctypes.call_function(_ADDRESS, ()),
        "call_cdeclfunction": lambda: _ctypes.call_cdeclfunction(_ADDRESS, ()),
        "PyObj_FromPtr": lambda: _ctypes.PyObj_FromPtr(id(GOLDEN)),
        "addressof": lambda: _ctypes.addressof(_NUMBER),
        "a function kept from before": lambda: _KEPT(),
        "memmove": lambda: ctypes.memmove(_NUMBER, _NUMBER, 1),
        "cast": lambda: ctypes.cast(_NUMBER, ctypes.c_void_p),
        "string_at": lambda: ctypes.string_at(b"a", 1),
        "CDLL": lambda: ctypes.CDLL(None),
        "pythonapi": lambda: ctypes.pythonapi.Py_IncRef(ctypes.py_object(GOLDEN)),
        "by an address": lambda: ctypes.CFUNCTYPE(ctypes.c_int)(_ADDRESS)(),
        "by torch": lambda: torch.ctypes.CDLL(None),
        "memory at an address": lambda: ctypes.c_int.from_address(_ADDRESS),
        "a library of operators": lambda: torch.ops.load_library("/nowhere.so"),
        "a library of classes": lambda: torch.classes.load_library("/nowhere.so"),
    }
    calls |= _memory()
    return {name: _outcome(call) for name, call in calls.items()}


class _Wrapper(Tensor):
    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _memory() -> dict[str, Any]:
    """Return calls that give a tensor memory at any address, or take memory from one that goes on using it."""
    plain, far, numbers = torch.ones(4), (_ADDRESS or 0) // 4, numpy.ones(4)
    address = _ADDRESS or 0
    return {
        "a storage at an address": lambda: torch._C._construct_storage_from_data_pointer(
            address, torch.device("cpu"), 8
        ),
        "a weak reference": lambda: torch.UntypedStorage._new_with_weak_ptr(address),
        "a wrapper": lambda: Tensor._make_wrapper_subclass(_Wrapper, (1,), storage_offset=far, storage_size=1 << 60),
        "a view that ends nowhere": lambda: torch._C._dynamo.guards._reinterpret_tensor(plain, (1,), (1,), far),
        "another one": lambda: torch.ops.inductor._reinterpret_tensor(plain, (1,), (1,), far),
        "a storage made small": lambda: plain.untyped_storage().resize_(1),
        "a typed storage made small": lambda: plain.storage().resize_(1),
        "a storage made small by an operator": lambda: torch.ops.inductor.resize_storage_bytes_(plain, 1),
        "an array made small": lambda: numbers.resize(1, refcheck=False),
        "an array put in the place of another": lambda: numbers.__setstate__((1, (1,), numbers.dtype, False, bytes(8))),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for module in _MODULES:
        importlib.import_module(module)
    registry = classified()
    if sys.argv[1:] == ["--write"]:
        lines = (f"{name} {found}\n" for name, found in registry.items())
        GOLDEN.write_text(f"# torch {torch.__version__}\n{''.join(lines)}", encoding="utf-8")
        sys.exit()
    _TENSORS = _tensors()
    library = ctypes.CDLL(None)
    _HANDLE, _KEPT, _NUMBER = library._handle, library.getpid, ctypes.c_int(3)
    _ADDRESS = ctypes.cast(_KEPT, ctypes.c_void_p).value
    functions = _functions()
    taken = [name for name in sorted(every()) if any(takes(group, name) for group in traps.GROUPS.values())]
    traps.install(tuple(traps.GROUPS), _TOLD.append)
    print(
        json.dumps(
            {
                "version": torch.__version__,
                "registry": registry,
                "scripted": sorted(set(_scripted()) - set(torch._C._dispatch_get_all_op_names())),
                "operators": {name: _call(name) for name in taken},
                "functions": {name: _outcome(function) for name, function in functions.items()},
                "layouts": _layouts(),
                "foreign": _foreign(),
                "compilers": {name: _outcome(thing) for name, thing in _compilers().items()},
            }
        )
    )
