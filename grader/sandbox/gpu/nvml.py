"""Asks NVIDIA's management library how much of a GPU's memory a process has; it creates no context.

By ctypes: the library comes with the driver, and two of its calls are all that is needed.
"""

from __future__ import annotations

import ctypes

_LIBRARY = "libnvidia-ml.so.1"
_MOST = 1024  # processes on one GPU
_UNKNOWN = (1 << 64) - 1


class _Process(ctypes.Structure):
    _fields_ = [
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    ]


class Gpu:
    """One GPU, by its place on the bus.

    Raises:
        OSError: there is no such library, or no such GPU.
    """

    def __init__(self, index: int = 0) -> None:
        self._library = ctypes.CDLL(_LIBRARY)
        self._handle = ctypes.c_void_p()
        self._call("nvmlInit_v2")
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(self._handle))

    def used_by(self, pid: int) -> int | None:
        """Return the bytes that process `pid` has taken, None where the driver does not say.

        It does not in a container that cannot see its host's process numbers, nor for a slice of a GPU (MIG).
        """
        count, found = ctypes.c_uint(_MOST), (_Process * _MOST)()
        self._call("nvmlDeviceGetComputeRunningProcesses_v3", self._handle, ctypes.byref(count), found)
        used = (process.used for process in found[: count.value] if process.pid == pid)
        return next((size for size in used if size != _UNKNOWN), None)

    def _call(self, name: str, *arguments: object) -> None:
        try:
            code = getattr(self._library, name)(*arguments)
        except AttributeError as error:
            raise OSError(f"{_LIBRARY} is too old: it has no {name}") from error
        if code:
            raise OSError(f"{name} failed with code {code}")
