"""The inside of a run: prints that cannot get lost, the child's duty to its end, and what torch is without a compiler.

The compiler would start threads and temporary files for 15 seconds to compute the same values. torch also imports the
front end, `torch._dynamo`, for decorators of its own: in optimizers, in checkpoints, in `torch.func`. That takes a
third of the time and of the modules of a warm zygote, so there a stand-in takes its place, as of the back end,
`torch._inductor`, whose settings `torch.use_deterministic_algorithms` and the profiler want. Another takes that of
`torch.distributed.tensor`, of which `torch.testing` only asks whether a tensor comes from there. Two more answer what
eager operations ask of symbolic sizes, where each size is a number: the modules for which they stand, with symbolic
algebra, are a sixth of the memory and half a second.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, BinaryIO, Self, cast

import torch

from grader.box.wire import child

MOST_PRINTED = 48 << 10  # bytes; what is printed after these goes nowhere
OUT_OF_MEMORY, FELL_OUT = 70, 71  # exit codes of a child that ended by an exception outside the student's code
FOLDER = "/"  # where a child is; nothing in it can be opened
# Both ends of the compiler, with those parts that other code imports by name.
_ENDS = {
    "_dynamo": ("config", "decorators", "eval_frame", "external_utils", "utils"),
    "_inductor": ("config", "utils"),
}


def furnish(output: int) -> None:
    """Prepare this process for one submission: it prints to the descriptor `output`."""
    prints = _Prints(output)
    sys.stdout = _unbuffered(prints)
    sys.stderr = _unbuffered(prints)


def perform(job: int, result: int) -> int:
    """Do the child's duty between two descriptors; return the exit code to end with."""
    try:
        child.main(job, result)
    except MemoryError:
        return OUT_OF_MEMORY
    except BaseException:  # noqa: BLE001  # nothing may get past here into the code that started this process
        os.write(2, traceback.format_exc().encode(errors="replace"))
        return FELL_OUT
    return 0


class _Prints(io.RawIOBase):
    """Writes to a descriptor, up to a bound; who prints too much is graded all the same.

    Whoever goes round it, to the descriptor itself, meets the bound of whoever reads there.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._left = descriptor, MOST_PRINTED

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any, /) -> int:
        piece = memoryview(data)[: self._left]
        self._left -= len(piece)
        while piece:
            piece = piece[os.write(self._descriptor, piece) :]
        return len(data)


def _unbuffered(raw: io.RawIOBase) -> io.TextIOWrapper:
    """Return a text file that writes through, since a run may end without flushing anything."""
    return io.TextIOWrapper(cast(BinaryIO, raw), encoding="utf-8", errors="backslashreplace", write_through=True)


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
        whole = _End(f"torch.{name}")
        sys.modules[whole.__name__] = whole
        setattr(torch, name, whole)
        for inner in parts:
            part = _End(f"{whole.__name__}.{inner}")
            sys.modules[part.__name__] = part
            setattr(whole, inner, part)


def _as_it_is(model: Callable[..., Any] | None = None, **_options: object) -> Any:
    return model if model is not None else lambda function: function


def replace_denied() -> None:
    """Replace the few functions that ask the system for what a child is denied, and whose values no answer needs.

    A file that seeds everything, measures itself or finds its own folder at its top is then graded like any other. To
    be called after all that imports these functions.
    """
    torch.seed = torch.random.seed = _seed
    for place in (torch.profiler, torch.autograd.profiler):
        vars(place)["profile"] = OFF  # it wants counters of the processor
    os.getcwd = lambda: FOLDER


def _seed() -> int:
    """Seed from the generator itself, not from `/dev/urandom`: the same at every grading. Return the seed."""
    seed = int(torch.empty((), dtype=torch.int64).random_())
    torch.manual_seed(seed)
    return seed


# What eager operations ask of `torch.fx.experimental.symbolic_shapes`; every size is a plain number.
_KNOWN_SHAPES: Mapping[str, Any] = {
    **dict.fromkeys(
        ("guard_or_false", "guard_or_true", "guard_size_oblivious", "statically_known_true", "expect_true"), bool
    ),
    **dict.fromkeys(("guard_int", "guard_scalar", "guarding_hint_or_throw", "optimization_hint"), lambda value: value),
    **dict.fromkeys(
        ("_advise_is_size", "_advise_is_bounded", "constrain_range", "_constrain_range_for_size"), lambda *_, **__: None
    ),
    **dict.fromkeys(
        ("has_free_symbols", "has_free_unbacked_symbols", "is_nested_int", "is_symbolic"), lambda _value: False
    ),
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
