"""How the interpreter inside a run is furnished: prints that cannot get lost, and no compiler."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import torch


def furnish(output: int) -> None:
    """Prepare this process for one submission: it prints to the descriptor `output` and runs as it is written."""
    sys.stdout = _unbuffered(output)
    sys.stderr = _unbuffered(output)
    skip_compilation()


def skip_compilation() -> None:
    """Make `torch.compile` return its argument.

    It would start a compiler, threads and temporary files for 15 seconds to compute the same values.
    """
    torch.compile = _as_it_is
    torch.nn.Module.compile = lambda self, *_arguments, **_options: None  # type: ignore[method-assign]


def _as_it_is(model: Callable[..., Any] | None = None, **_options: object) -> Any:
    return model if model is not None else lambda function: function


def _unbuffered(descriptor: int) -> io.TextIOWrapper:
    """Return a text file that writes through, since a run may end without flushing anything."""
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
