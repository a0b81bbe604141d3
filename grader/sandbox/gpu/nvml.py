"""Asks NVIDIA's management library how much of a GPU's memory a process has; it creates no context."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pynvml  # type: ignore[import-untyped]

from grader.sandbox.gpu.watch import Meter


def memory_meter() -> Meter | None:
    """Return what says how many bytes of the first GPU's memory a process has; None without such a GPU or library."""
    try:
        pynvml.nvmlInit()
        return partial(_used_by, pynvml.nvmlDeviceGetHandleByIndex(0))
    except pynvml.NVMLError:
        return None


def _used_by(gpu: Any, pid: int) -> int | None:
    """Return the bytes that process `pid` has taken, None where the driver does not say.

    It does not in a container that cannot see its host's process numbers, nor for a slice of a GPU (MIG).
    """
    found = pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)
    used: Iterator[int | None] = (process.usedGpuMemory for process in found if process.pid == pid)
    return next((size for size in used if size is not None), None)
