"""The inside of a run, walled or not: prints that cannot get lost, no compiler, and the child's duty to its end."""

from __future__ import annotations

import io
import os
import sys
import traceback

from grader.box import child
from grader.sandbox.no_compiler import skip_compilation

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


def _unbuffered(descriptor: int) -> io.TextIOWrapper:
    """Return a text file that writes through, since a run may end without flushing anything."""
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
