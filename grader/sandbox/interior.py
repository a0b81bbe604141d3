"""The inside of a run, walled or not: prints that cannot get lost, no compiler, and the child's duty to its end."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import torch

from grader.box import child

OUT_OF_MEMORY, FELL_OUT = 70, 71  # exit codes of a child that ended by an exception outside the student's code


def furnish(output: int) -> None:
    """Prepare this process for one submission: it prints to the descriptor `output` and runs as it is written."""
    sys.stdout = _unbuffered(output)
    sys.stderr = _unbuffered(output)
    skip_compilation()


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
