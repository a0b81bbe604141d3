"""torch without its compiler: it would start threads and temporary files for 15 seconds to compute the same values.

torch also imports the front end, `torch._dynamo`, for decorators of its own: in optimizers, in checkpoints, in
`torch.func`. That takes a third of the time and of the modules of a warm zygote, so there a stand-in takes its place,
as of the back end, `torch._inductor`, whose settings `torch.use_deterministic_algorithms` and the profiler want.
Another takes that of `torch.distributed.tensor`, of which `torch.testing` only asks whether a tensor comes from there.
Two more answer what eager operations ask of symbolic sizes, where each size is a number: the modules for which they
stand, with symbolic algebra, are a sixth of the memory and half a second.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, Self

import torch

# Both ends of the compiler, with those parts that other code imports by name.
_ENDS = {
    "_dynamo": ("config", "decorators", "eval_frame", "external_utils", "utils"),
    "_inductor": ("config", "utils"),
}


def skip_compilation() -> None:
    """Make `torch.compile` return its argument, and `torch.jit.script`, which wants a source file."""
    for place, name in ((torch, "compile"), (torch.jit, "script")):
        setattr(place, name, _as_it_is)
    torch.nn.Module.compile = lambda self, *_arguments, **_options: None  # type: ignore[method-assign]


def replace_unused() -> None:
    """Put the stand-ins into their places, before anything imports what they stand for."""
    distributed = ModuleType("torch.distributed.tensor")
    distributed.DTensor = type("DTensor", (), {})  # type: ignore[attr-defined]  # no tensor is one
    sys.modules[distributed.__name__] = torch.distributed.tensor = distributed
    algebra = ModuleType("sympy")
    algebra.Basic = type("Basic", (), {})  # type: ignore[attr-defined]  # no number is one
    sys.modules[algebra.__name__] = algebra
    shapes = ModuleType("torch.fx.experimental.symbolic_shapes")
    vars(shapes).update(_KNOWN_SHAPES)
    sys.modules[shapes.__name__] = shapes
    for name, parts in _ENDS.items():
        _replace(name, parts)


def _replace(name: str, parts: Iterable[str]) -> None:
    """Put a stand-in into the place of a package of torch and of some of its parts."""
    whole = _End(f"torch.{name}")
    sys.modules[whole.__name__] = whole
    setattr(torch, name, whole)
    for inner in parts:
        part = _End(f"{whole.__name__}.{inner}")
        sys.modules[part.__name__] = part
        setattr(whole, inner, part)


def _as_it_is(model: Callable[..., Any] | None = None, **_options: object) -> Any:
    return model if model is not None else lambda function: function


_CONDITIONS = (
    "guard_or_false",
    "guard_or_true",
    "guard_size_oblivious",
    "statically_known_true",
    "expect_true",
)
_TAKEN_AS_THEY_ARE = ("guard_int", "guard_scalar", "guarding_hint_or_throw", "optimization_hint")
_NOTED = ("_advise_is_size", "_advise_is_bounded", "constrain_range", "_constrain_range_for_size")
_NEVER_SO = ("has_free_symbols", "has_free_unbacked_symbols", "is_nested_int", "is_symbolic")
# What eager operations ask of `torch.fx.experimental.symbolic_shapes`; every size is a plain number.
_KNOWN_SHAPES: Mapping[str, Any] = {
    **dict.fromkeys(_CONDITIONS, bool),
    **dict.fromkeys(_TAKEN_AS_THEY_ARE, lambda value: value),
    **dict.fromkeys(_NOTED, lambda *_arguments, **_options: None),
    **dict.fromkeys(_NEVER_SO, lambda _value: False),
    **dict.fromkeys(("free_symbols", "free_unbacked_symbols", "uninteresting_files"), lambda *_values: frozenset()),
    "statically_known_false": lambda value: not value,
    "has_guarding_hint": lambda _value: True,
    "sym_eq": lambda one, other: one == other,
    "sym_and": lambda *values: all(values),
    "sym_or": lambda *values: any(values),
}


class Off:
    """Whatever the compiler offers, without effect: a decorator, a setting, a context, a question answered with no."""

    def __getattr__(self, name: str) -> Self:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        """Forget it: nothing asks for it."""

    def __call__(self, *arguments: Any, **_options: Any) -> Any:
        """Return the function that is to be decorated, if there is one."""
        return next((one for one in arguments if callable(one)), self)

    def __repr__(self) -> str:
        return "(not available while your code is graded)"

    def __format__(self, form: str) -> str:
        return repr(self)

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class _End(ModuleType):
    """A module in which everything is off."""

    __path__: list[str] = []  # noqa: RUF012  # so that it may have parts

    def __getattr__(self, name: str) -> Off:
        if name.startswith("__"):
            raise AttributeError(name)
        return OFF


OFF = Off()
