"""The inside of a run, walled or not: prints that cannot get lost, and the child's duty to its end."""

from __future__ import annotations

import io
import os
import sys
import traceback
from typing import Any, BinaryIO, cast

from grader.box.wire import child

MOST_PRINTED = 48 << 10  # bytes; what is printed after these goes nowhere
OUT_OF_MEMORY, FELL_OUT = 70, 71  # exit codes of a child that ended by an exception outside the student's code


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
